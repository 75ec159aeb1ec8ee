#include "catalog/schema_diff.h"

#include "schema/schema.h"

#include <algorithm>
#include <utility>

namespace openreg_gen {
namespace {

struct Piece {
  std::string_view text;
  Span at;
  std::string name;  // of the argument; "->" for the returns
};

/// Arguments (and "*", which says where keywords begin), then the returns.
std::vector<Piece> pieces_of(BorrowedText text) {
  const Schema schema = parse_schema(text);
  std::vector<Piece> pieces;
  const auto add = [&](std::size_t begin, std::size_t end, std::string name) {
    pieces.push_back({text.substr(begin, end - begin), {begin, end - begin}, std::move(name)});
  };
  bool keywords = false;
  for (const ArgumentSchema& each : schema.arguments) {
    if (each.kwarg_only && !std::exchange(keywords, true)) {
      const auto star = text.rfind('*', each.offset);
      add(star, star + 1, "*");
    }
    const bool has_default = !each.default_value.empty();
    add(each.offset,
        has_default ? each.default_offset + each.default_value.size() : each.name_offset + each.name.size(), each.name);
  }
  add(schema.returns_offset, text.size(), "->");
  return pieces;
}

/// Which pieces of each are in a longest common subsequence.
void common(const std::vector<Piece>& a, const std::vector<Piece>& b, std::vector<bool>& in_a,
            std::vector<bool>& in_b) {
  const auto columns = b.size() + 1;
  std::vector<int> length((a.size() + 1) * columns, 0);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      length[i * columns + j] = a[i].text == b[j].text
                                    ? length[(i + 1) * columns + j + 1] + 1
                                    : std::max(length[(i + 1) * columns + j], length[i * columns + j + 1]);
    }
  }
  in_a.assign(a.size(), false);
  in_b.assign(b.size(), false);
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].text == b[j].text) {
      in_a[i++] = in_b[j++] = true;
    } else if (length[(i + 1) * columns + j] >= length[i * columns + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

}  // namespace

SchemaDiff diff_schemas(std::string_view before, std::string_view after) {
  const auto a = pieces_of(before), b = pieces_of(after);
  std::vector<bool> in_a, in_b;
  common(a, b, in_a, in_b);
  SchemaDiff diff;
  std::vector<bool> paired(b.size(), false);
  for (std::size_t i = 0, gap = 0; i < a.size(); ++i) {
    if (in_a[i]) {
      // The next gap of `b` begins behind this piece's twin.
      while (gap < b.size() && !(in_b[gap] && b[gap].text == a[i].text)) ++gap;
      ++gap;
      continue;
    }
    diff.before_marks.push_back(a[i].at);
    ArgumentChange change{a[i].name, std::string(a[i].text), {}};
    // The same argument elsewhere, else what stands in its place now.
    auto twin = b.size();
    for (std::size_t j = 0; j < b.size(); ++j)
      if (!in_b[j] && !paired[j] && b[j].name == a[i].name) twin = j;
    if (twin == b.size() && gap < b.size() && !in_b[gap] && !paired[gap] && b[gap].text != "*" && a[i].text != "*")
      twin = gap++;
    if (twin != b.size()) {
      paired[twin] = true;
      change.after = b[twin].text;
    }
    diff.changes.push_back(std::move(change));
  }
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (in_b[j]) continue;
    diff.after_marks.push_back(b[j].at);
    if (!paired[j]) diff.changes.push_back({b[j].name, {}, std::string(b[j].text)});
  }
  return diff;
}

std::string mark_line(const std::vector<Span>& marks) {
  std::string line;
  for (const auto& mark : marks) {
    line.resize(std::max(line.size(), mark.begin), ' ');
    line.append(mark.size, '^');
  }
  return line;
}

std::string_view without_namespace(BorrowedText schema) { return schema.substr(schema.starts_with("aten::") ? 6 : 0); }

}  // namespace openreg_gen
