#include "spec/document.h"

#include "base/text.h"
#include "spec/readers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace openreg_gen {
namespace {

/// Offset of the first byte that is not part of well-formed UTF-8; npos if all is well.
std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const unsigned lead = byte(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0) return i;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) return i;
    const unsigned second = byte(i + 1);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second >= 0xA0;
    const bool beyond = lead == 0xF4 && second >= 0x90;
    if (overlong || surrogate || beyond) return i;
    i += length;
  }
  return std::string_view::npos;
}

bool looks_like_json(const std::string& text, const fs::path& path) {
  const auto extension = path.extension();
  if (extension == ".json") return true;
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return false;
  const bool yaml = extension == ".yaml" || extension == ".yml";
  return !yaml || nlohmann::json::accept(text);
}

/// The text, if it is one.
std::optional<std::string> plain_text(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  const Location whole{file, 0, 0};
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return diagnostics.fail("E0105", whole, "the file is UTF-16, not UTF-8", "save it as UTF-8");
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return diagnostics.fail("E0106", location_at(text, nul, file), fmt::format("a NUL byte at offset {}", nul),
                            "a spec is plain text");
  if (const auto bad = invalid_utf8(text); bad != std::string_view::npos) {
    const auto byte = static_cast<unsigned char>(text[bad]);
    return diagnostics.fail("E0105", location_at(text, bad, file),
                            fmt::format("byte 0x{:02X} at offset {} is not UTF-8", byte, bad),
                            "save the file as UTF-8");
  }
  return std::string(text);
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto found = std::ranges::find_if(entries, [&](const auto& entry) { return entry.first.text == key; });
  return found == entries.end() ? nullptr : &found->second;
}

std::string_view describe(Node::Kind kind) {
  constexpr std::string_view kWords[] = {"nothing", "a boolean", "an integer", "a number", "text", "a list", "a map"};
  return kWords[static_cast<std::size_t>(kind)];
}

Location location_at(std::string_view text, std::size_t offset, const std::string& file) {
  const auto starts = line_starts(text);
  const auto line = std::ranges::upper_bound(starts, offset) - 1;
  return {file, static_cast<int>(line - starts.begin()) + 1,
          static_cast<int>(count_characters(text.substr(*line, offset - *line))) + 1};
}

std::optional<std::string> read_spec_file(const fs::path& path, Diagnostics& diagnostics) {
  const Location whole{path.string(), 0, 0};
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status))
    return diagnostics.fail("E0101", whole,
                            error && error != std::errc::no_such_file_or_directory
                                ? "cannot be read: " + error.message()
                                : "there is no such file");
  if (!fs::is_regular_file(status)) {
    const bool folder = fs::is_directory(status);
    return diagnostics.fail("E0102", whole, folder ? "is a directory, not a spec" : "is not a regular file",
                            folder ? "name the spec in it, such as NAME.yaml" : "a spec is a YAML or JSON file");
  }
  auto text = try_read_file(path, kMaxBytes + 1);
  if (!text) return diagnostics.fail("E0101", whole, "cannot be read: permission denied or an input error");
  if (text->size() > kMaxBytes) {
    const auto size = fs::file_size(path, error);
    const std::string found = error ? "more than 1 MiB" : fmt::format("{} bytes", size);
    return diagnostics.fail("E0103", whole, "is too large for a spec: " + found, "a spec holds at most 1 MiB");
  }
  return text;
}

std::optional<Node> read_document(std::string_view text, const fs::path& path, Diagnostics& diagnostics) {
  const std::string file = path.string();
  if (text.size() > kMaxBytes)
    return diagnostics.fail("E0103", {file, 0, 0}, fmt::format("is too large for a spec: {} bytes", text.size()),
                            "a spec holds at most 1 MiB");
  const auto plain = plain_text(without_byte_order_mark(text), file, diagnostics);
  if (!plain) return std::nullopt;
  return looks_like_json(*plain, path) ? read_json(*plain, file, diagnostics) : read_yaml(*plain, file, diagnostics);
}

Location place_inside(const Node& scalar, std::size_t offset, std::string_view text) {
  if (scalar.at.line == 0) return scalar.at;
  text = without_byte_order_mark(text);
  const auto starts = line_starts(text);
  const auto line = static_cast<std::size_t>(scalar.at.line) - 1;
  if (line >= starts.size()) return scalar.at;
  const std::size_t start = column_offset(text, starts[line], scalar.at.column);
  if (start >= text.size()) return scalar.at;
  const bool quoted = text[start] == '"' || text[start] == '\'';
  const std::string_view before = std::string_view(scalar.text).substr(0, offset);
  if (text.substr(start + (quoted ? 1 : 0), before.size()) != before) return scalar.at;
  Location at = scalar.at;
  at.column += (quoted ? 1 : 0) + static_cast<int>(count_characters(before));
  return at;
}

bool TreeBuilder::fail(std::string code, Location at, std::string message, std::string hint) {
  if (!stopped_) diagnostics_.error(std::move(code), std::move(at), std::move(message), std::move(hint));
  stopped_ = true;
  return false;
}

bool TreeBuilder::count(const Node& node) {
  return ++count_ <= kMaxNodes || fail("E0109", node.at, fmt::format("the spec holds more than {} values", kMaxNodes));
}

bool TreeBuilder::open(Node container) {
  if (stopped_) return false;
  if (static_cast<int>(open_.size()) >= kMaxDepth)
    return fail("E0110", container.at, fmt::format("nested more than {} levels deep", kMaxDepth));
  if (!count(container)) return false;
  open_.push_back({std::move(container), std::nullopt});
  return true;
}

bool TreeBuilder::close() {
  if (stopped_ || open_.empty()) return false;
  Node done = std::move(open_.back().node);
  open_.pop_back();
  --count_;  // add() counts it again
  return add(std::move(done));
}

bool TreeBuilder::add(Node node) {
  if (stopped_) return false;
  if (!count(node)) return false;
  if (open_.empty()) {
    root = std::move(node);
    return true;
  }
  auto& [parent, key] = open_.back();
  if (parent.kind == Node::Kind::List) {
    parent.items.push_back(std::move(node));
  } else if (!key) {
    if (!node.is_scalar())
      return fail("E0107", node.at, fmt::format("a key must be a word, not {}", describe(node.kind)));
    key = std::move(node);
  } else {
    if (node.at.line == 0 || node.kind == Node::Kind::Null) node.at = key->at;
    parent.entries.emplace_back(std::move(*key), std::move(node));
    key.reset();
  }
  return true;
}

}  // namespace openreg_gen
