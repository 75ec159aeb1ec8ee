// How an entry of `ops:` names operators: one by one, by a glob, by a set; with a minus, to remove them again.
//
//   add.Tensor        one overload             *_backward        base names that match
//   add               see select.h             add.*, *.out      overloads that match
//   @minimal @core @pointwise @amp             sets              @tag:NAME        operators with a tag
//   @model:FILE       a list in a file, relative to the spec     -...            any of these, removed
#pragma once

#include "spec/keys.h"

#include <string>
#include <string_view>

namespace openreg_gen {

struct Selector {
  enum class Kind { Name, Glob, Minimal, Core, Pointwise, Amp, Tag, Model };
  Kind kind = Kind::Name;
  bool minus = false;
  std::string text;  // the name, the glob, the tag, the file; else empty

  /// "add.Tensor": one operator, or an error if there is none such. "add" may stand for several.
  bool is_overload() const { return kind == Kind::Name && text.find('.') != std::string::npos; }
};

/// Reads an entry that operator_entry() accepts.
Selector parse_selector(std::string_view entry);

namespace rules {
/// A key or an item of `ops:`.
void operator_entry(const Node&, RuleContext&);
}  // namespace rules

}  // namespace openreg_gen
