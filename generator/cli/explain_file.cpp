// What a file of a tree says about itself and about its lines.
#include "cli/explain_view.h"
#include "diag/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

/// The text of a comment line; none if it is no comment.
std::optional<std::string_view> comment(std::string_view line) {
  for (const std::string_view mark : {"///", "//", "#"}) {
    if (!line.starts_with(mark) || line.starts_with("#pragma") || line.starts_with("#include")) continue;
    line.remove_prefix(mark.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  return std::nullopt;
}

std::string comment_from(const std::vector<std::string_view>& lines, std::size_t first) {
  std::string out;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const auto text = comment(lines[i]);
    if (!text) break;
    out += std::string(*text) + "\n";
  }
  return out;
}

bool name_char(char c) { return is_word(c) || c == '.'; }

std::string_view name_after(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return {};
  std::size_t end = at + mark.size();
  while (end < line.size() && name_char(line[end])) ++end;
  std::string_view name = line.substr(at + mark.size(), end - at - mark.size());
  while (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

class LineIndex {
 public:
  LineIndex(const std::vector<std::string>& ids, const Catalog& catalog) : catalog_(catalog) {
    for (const std::string& op : ids) {
      std::string id = op;
      std::ranges::replace(id, '.', '_');
      ids_[id] = op;
      names_[op] = op;
    }
  }

  std::string find(std::string_view line) {
    if (const Op* op = catalog_.find(name_after(line, "aten::"))) return op->name;
    if (const auto name = name_after(line, "at::_ops::"); !name.empty()) {
      if (structs_.empty()) {
        for (const Op& op : catalog_.all()) structs_[op.ops_struct().substr(10)] = &op;
      }
      const std::string symbol(name.substr(0, name.find('.')));
      if (const auto found = structs_.find(symbol); found != structs_.end()) return found->second->name;
    }
    for (std::size_t at = 0; at < line.size();) {  // words, and words in quotes
      if (!name_char(line[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < line.size() && name_char(line[end])) ++end;
      const std::string word(line.substr(at, end - at));
      const char before = at > 0 ? line[at - 1] : ' ', after = end < line.size() ? line[end] : ' ';
      if (before == '"' && after == '"' && names_.contains(word)) return word;
      const std::string stem = word.substr(0, word.rfind('.'));
      const bool file = word.ends_with(".cpp") || word.ends_with(".h");
      if (const auto found = ids_.find(file ? stem : word);
          found != ids_.end() && (file || after == '(' || after == ':'))
        return found->second;
      at = end;
    }
    return {};
  }

 private:
  const Catalog& catalog_;
  std::map<std::string, std::string> ids_, names_;
  std::map<std::string, const Op*> structs_;
};

}  // namespace

std::string note_of(std::string_view text) {
  const auto lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = comment(lines[i]);
    if (line && line->starts_with("Note [")) return comment_from(lines, i);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("\"\"\"")) continue;
    std::string out(lines[i].substr(3));
    while (out.find("\"\"\"") == std::string::npos && ++i < lines.size()) out += "\n" + std::string(lines[i]);
    return out.substr(0, out.find("\"\"\"")) + "\n";
  }
  std::size_t first = 0;
  while (first < lines.size() && comment(lines[first])) ++first;  // the header
  for (std::size_t i = first; i < lines.size(); ++i) {
    const bool begins = comment(lines[i]) && (i == 0 || lines[i - 1].empty());
    if (begins) return comment_from(lines, i);
    if (lines[i].find('{') != std::string_view::npos) break;
  }
  return {};
}

std::string op_of_line(std::string_view text, int line, const std::vector<std::string>& ids, const Catalog& catalog) {
  const auto lines = split_lines(text);
  if (line < 1 || line > static_cast<int>(lines.size())) return {};
  LineIndex index(ids, catalog);
  for (auto i = static_cast<std::size_t>(line); i-- > 0;) {
    if (std::string op = index.find(lines[i]); !op.empty()) return op;
    const bool ends = lines[i].starts_with("}") || lines[i].starts_with("TORCH_LIBRARY") ||
                      lines[i].starts_with("namespace") || lines[i].starts_with("#");
    if (ends && i + 1 != static_cast<std::size_t>(line)) return {};  // what is above belongs to something else
    if (ends && !lines[i].starts_with("}")) return {};
  }
  return {};
}

std::vector<Virtual> virtuals_of(std::string_view integration, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string header = std::string(path.substr(0, dot)) + ".h";
  std::vector<Virtual> found;
  std::string interface;
  for (const std::string_view line : split_lines(integration)) {
    if (line.starts_with("## ")) {
      interface = line.substr(3);
      std::erase(interface, '`');
    }
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = std::min(line.find(" |", at), line.size());
      std::string cell(line.substr(at, end - at));
      std::erase(cell, '`');
      cell.erase(0, cell.find_first_not_of(' ') == std::string::npos ? cell.size() : cell.find_first_not_of(' '));
      cells.push_back(std::move(cell));
      at = end + 2;
    }
    if (cells.size() >= 4 && (cells[1] == path || cells[1] == header))
      found.push_back({interface, cells[0], cells[2], cells[3]});
  }
  return found;
}

}  // namespace openreg_gen
