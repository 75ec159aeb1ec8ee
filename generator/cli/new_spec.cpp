#include "cli/new_spec.h"

#include "diag/failure.h"
#include "base/text.h"
#include "edit/style.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

std::vector<std::string> to_lines(const std::string& text) {
  const auto lines = lines_with_ends(text);
  return {lines.begin(), lines.end()};
}

bool plain(const std::string& value) {
  return !value.empty() && std::ranges::all_of(value, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

/// As YAML and JSON both read it; a name that is wrong must reach the parser as it is.
std::string scalar(const std::string& value, bool quoted) {
  return plain(value) && !quoted ? value : in_quotes(value, '"');
}

[[noreturn]] void cannot(const std::string& what) {
  throw Failure(Exit::BadInput, "E0509", "cannot put " + what + " into the spec", "write it into the spec by hand");
}

/// Replaces the scalar at `where`; a comment behind it keeps its column.
void replace_scalar(std::vector<std::string>& lines, const Location& where, const std::string& value) {
  if (where.line < 1 || where.line > std::ssize(lines)) cannot("'" + value + "'");
  std::string& line = lines[static_cast<std::size_t>(where.line - 1)];
  const std::size_t begin = column_offset(line, 0, where.column);
  if (begin >= line.size()) cannot("'" + value + "'");
  const char quote = line[begin];
  std::size_t end = begin;
  if (quote == '"' || quote == '\'') {
    end = line.find(quote, begin + 1);
    if (end == std::string::npos) cannot("'" + value + "'");
    ++end;
  } else {
    end = std::min(line.find_first_of(" \t\r\n,}#", begin), line.size());
  }
  const std::string text = scalar(value, quote == '"');
  const std::size_t gap = std::min(line.find_first_not_of(' ', end), line.size()) - end;
  const bool comment = end + gap < line.size() && line[end + gap] == '#' && gap > 0;
  const std::size_t column = end + gap;
  line.replace(begin, end - begin, text);
  if (!comment) return;
  const std::size_t now = begin + text.size();
  line.replace(now, gap, std::string(column > now + 2 ? column - now : 2, ' '));
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

std::string_view key_of(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  const std::size_t colon = line.find(':');
  if (begin == 0 || begin == std::string_view::npos || colon == std::string_view::npos) return {};
  return line.substr(begin, colon - begin);
}

/// What a port's Gemm serves besides mm.out, which the shipped spec has. Their sums are in another order than the
/// CPU's.
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

}  // namespace

std::string adapt_shipped_spec(const std::string& text, const std::string& name, const DeviceKind* device) {
  constexpr std::string_view kOfItsOwn[] = {"class_prefix", "api_prefix", "vendor", "description"};
  const std::string own = own_name(text);
  const DeviceKind& simulated = *find_device_kind("emulator");
  std::string out, section;
  for (const std::string_view whole : lines_with_ends(text)) {
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

std::string with_name(const std::string& text, const Spec& spec, const std::string& name) {
  if (spec.backend.name.value == name) return text;
  if (!spec.backend.name.given()) cannot("the name");
  auto lines = to_lines(text);
  replace_scalar(lines, spec.backend.name.at, name);
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string with_device(const std::string& text, const Spec& spec, const std::string& api) {
  if ((*spec.device.api)->word == api) return text;
  auto lines = to_lines(text);
  if (spec.device.api.given()) {
    replace_scalar(lines, spec.device.api.at, api);
    return fmt::format("{}", fmt::join(lines, ""));
  }
  const auto device = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("device:"); });
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (device != lines.end() && device->find_first_not_of(" \t\r\n", 7) == std::string::npos) {
    // The indentation is that of the block's first line, which need not be ours.
    const auto next =
        std::find_if(device + 1, lines.end(), [](const std::string& line) { return !key_of(line).empty(); });
    const std::string indent(next == lines.end() ? 2 : next->find_first_not_of(' '), ' ');
    lines.insert(device + 1, indent + "api: " + api + "\n");
  } else if (device == lines.end() && first != std::string::npos && text[first] != '{') {
    if (!lines.back().ends_with('\n')) lines.back() += '\n';
    lines.push_back("\ndevice:\n  api: " + api + "\n");
  } else {
    cannot("device.api");
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace openreg_gen
