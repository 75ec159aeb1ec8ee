// Where the parts of a spec's text begin and end. The parser says what the parts are and where each begins; this finds
// the ends, for YAML (block and flow) and JSON, so that a text can be edited in place.
#pragma once

#include "base/text.h"
#include "spec/document.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// An entry of a map (from its key) or of a list (from its dash, if it has one) to the end of its value.
struct Slot {
  std::size_t begin = 0, end = 0;
  std::size_t value = 0;  // where its value begins; `end` if it has none
};

struct Container {
  bool flow = false;                // in brackets
  std::size_t open = 0, close = 0;  // flow: the brackets
  std::vector<Slot> slots;
};

/// Offsets are bytes of `text`, which must outlive the object and be what the nodes were read from. Where a text is
/// not understood an offset may be wrong, but never outside the text: callers compare the result of an edit.
class Layout {
 public:
  explicit Layout(BorrowedText text);

  std::size_t offset(const Location& at) const;
  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;  // before its line break
  std::size_t indent(std::size_t at) const { return at - line_begin(at); }
  /// True if nothing but blanks precedes `at` in its line.
  bool first_in_line(std::size_t at) const;
  /// True if nothing but blanks and a comment follows in the line.
  bool last_in_line(std::size_t at) const;
  /// The line break of the text: "\r\n" if its first one is.
  std::string_view line_break() const { return line_break_; }
  std::size_t skip_blanks(std::size_t at) const;  // spaces and tabs

  /// The entries of a list or map whose text begins at `begin`; none if an alias or something unusual stands there.
  std::optional<Container> container(const Node& node, std::size_t begin) const;
  /// The end of a key that begins at `at`.
  std::size_t key_end(std::size_t at, bool flow) const;
  /// Where the value of that key begins; none if it has no colon.
  std::optional<std::size_t> value_begin(std::size_t key, const Node& value, bool flow) const;
  /// The end of a value that begins at `begin`; `indent` is that of what holds it.
  std::size_t value_end(const Node& node, std::size_t begin, bool flow, std::size_t indent) const;
  /// Where an entry of a block begins and ends, its comments included: those right above it, those of its lines, and
  /// those below it that stand deeper.
  std::size_t entry_begin(const Slot& slot) const;
  std::size_t entry_end(const Slot& slot) const;

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  std::size_t skip_space(std::size_t i) const;  // blanks, line breaks and comments
  std::size_t quoted_end(std::size_t i) const;
  std::size_t bracket_end(std::size_t i) const;
  std::size_t block_scalar_end(std::size_t i, std::size_t indent) const;
  std::size_t plain_end(std::size_t i, bool flow, std::size_t indent) const;
  std::size_t line_content_end(std::size_t i) const;  // without comment and blanks at its end
  bool comment_at(std::size_t i) const;

  std::string_view text_;
  std::string_view line_break_ = "\n";
  std::vector<std::size_t> starts_;
};

}  // namespace openreg_gen
