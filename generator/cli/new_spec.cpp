#include "cli/new_spec.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

bool plain(const std::string& value) {
  return !value.empty() && std::ranges::all_of(value, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

bool in_word(char c) { return is_word(c) || c == '-'; }

/// Replaces `from` where it is a word of its own ("openreg-gen" is another word).
void replace_word(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const std::size_t end = at + from.size();
    if ((at > 0 && in_word(text[at - 1])) || (end < text.size() && in_word(text[end]))) {
      at = end;
      continue;
    }
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

std::string_view key_of(BorrowedText line) {
  const std::size_t begin = line.find_first_not_of(' ');
  const std::size_t colon = line.find(':');
  if (begin == 0 || begin == std::string_view::npos || colon == std::string_view::npos) return {};
  return line.substr(begin, colon - begin);
}

/// Operators of a port's Gemm besides mm.out, which the shipped spec has. They sum in another order than the CPU.
constexpr std::string_view kMoreProducts =
    "  addmm.out: matmul\n"
    "  bmm.out: {strategy: matmul, tests: {rtol: 1.6e-2, atol: 8.0e-3}}\n"
    "  baddbmm.out: {strategy: matmul, tests: {rtol: 1.6e-2, atol: 8.0e-3}}\n";

/// Of a shipped spec: "  name: openreg  # what torch.device() parses".
std::string own_name(const std::string& text) {
  constexpr std::string_view kKey = "\n  name: ";
  const std::size_t begin = text.find(kKey) + kKey.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

/// What a shipped spec has to show how it is done, and not every backend has.
bool is_example(std::string_view section, std::string_view key) {
  return section == "custom_ops" || (section == "ops" && key.starts_with("_scaled_dot_product_fused_attention"));
}

/// Comments and blank lines go with the line after them.
std::string without_examples(const std::string& text) {
  std::string out, notes, section;
  for (const std::string_view line : lines_with_ends(text)) {
    const std::size_t begin = line.find_first_not_of(" \n");
    if (begin == std::string_view::npos || line[begin] == '#') {
      notes += line;
      continue;
    }
    if (is_letter(line[0])) section = line.substr(0, line.find(':'));
    if (!is_example(section, key_of(line))) out.append(notes).append(line);
    notes.clear();
  }
  return out + notes;
}

}  // namespace

std::string adapt_shipped_spec(const std::string& text, const std::string& name, const DeviceKind* device, bool full) {
  constexpr std::string_view kOfItsOwn[] = {"class_prefix", "api_prefix", "vendor", "description"};
  const std::string own = own_name(text);
  const DeviceKind& simulated = *find_device_kind("emulator");
  const std::string kept = full ? text : without_examples(text);
  std::string out, section;
  for (const std::string_view whole : lines_with_ends(kept)) {
    std::string line(whole);
    if (is_letter(line[0])) section = line.substr(0, line.find(':'));
    const std::string_view key = key_of(line);
    if (section == "backend" && name != own && contains(kOfItsOwn, key)) continue;
    if (section == "device" && device != nullptr && !device->simulated && simulated.has_key(key)) continue;
    if (!(section == "backend" && key == "name") && plain(name)) {
      replace_word(line, "The spec of the OpenReg reference backend.", "The spec of the " + name + " backend.");
      replace_word(line, own, name);
      replace_word(line, "torch_" + own, "torch_" + name);
    }
    out += line;
    if (section == "ops" && key == "mm.out" && device != nullptr && device->word == "external") out += kMoreProducts;
  }
  return out;
}

}  // namespace openreg_gen
