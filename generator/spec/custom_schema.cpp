#include "spec/custom_schema.h"

#include "base/suggest.h"
#include "base/text.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <set>

namespace openreg_gen {
namespace {

constexpr std::string_view kSchemaTypes[] = {"Tensor", "Scalar", "int",        "SymInt", "float",
                                             "bool",   "str",    "ScalarType", "Device", "Generator"};

[[noreturn]] void fail(std::string code, std::size_t offset, std::string message, std::string hint = {}) {
  throw CustomSchemaError{std::move(code), offset, std::move(message), std::move(hint)};
}

void check_characters(std::string_view text) {
  if (text.size() > 500) fail("E0160", 0, "the schema has more than 500 characters");
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_word(text[i]) || contains(std::string_view(" ().,*=?!->[]\""), text[i])) continue;
    const bool colon = text[i] == ':';
    fail("E0160", i, colon ? "the schema names a namespace" : "a schema can't contain this character",
         colon ? "leave the namespace out; it is always the backend's name" : "");
  }
}

bool is_keyword(std::string_view name) { return is_cpp_keyword(name) || has_word(kPythonKeywords, name); }

void check_name(std::string_view name, std::size_t start) {
  const bool good = std::ranges::none_of(name, is_upper) && name.size() <= 60 && !includes(name, "__");
  if (!good)
    fail("E0161", start, fmt::format("'{}' can't be the name of an operator", name.substr(0, 60)),
         "lower-case letters, digits and single underscores");
  if (is_keyword(name))
    fail("E0161", start, fmt::format("the operator's name '{}' is a keyword of C++ or Python", name));
}

void check_type(std::string_view type, std::string_view annotation, std::size_t start) {
  const std::string base(type.substr(0, type.find_first_of("[?")));
  if (!contains(kSchemaTypes, base))
    fail("E0162", start, fmt::format("unknown type '{}'", base.substr(0, 60)), did_you_mean(base, kSchemaTypes));
  if (annotation.empty()) return;
  if (base != "Tensor") fail("E0160", start + base.size(), "only a Tensor can have an alias");
  const bool letter = is_lower(annotation[0]) && (annotation.size() == 1 || annotation.substr(1) == "!");
  if (!letter)
    fail("E0160", start + base.size(), "an alias is a letter, with '!' if it is written to", "such as 'Tensor(a!)'");
}

/// Empty if `value` fits, else the values that would.
std::string default_that_fits(std::string_view type, std::string_view value) {
  const bool optional = type.ends_with('?');
  if (optional) type.remove_suffix(1);
  if (optional && value == "None") return {};
  const std::string none = optional ? ", or None" : "";
  if (type.ends_with(']')) {
    const auto open = type.rfind('[');
    const std::string_view element = type.substr(0, open);
    const bool sized = open + 2 < type.size();
    const std::string wanted = element == "Tensor" || element == "Tensor?"
                                   ? "the only default of a list of tensors is []"
                                   : "such as [1,1]" + none;
    if (!value.starts_with('[')) return sized && default_that_fits(element, value).empty() ? "" : wanted;
    const auto fits = [&](std::string_view item) { return default_that_fits(element, item).empty(); };
    return std::ranges::all_of(split_top_level(value.substr(1, value.size() - 2), ','), fits) ? "" : wanted;
  }
  if (type == "bool") return value == "True" || value == "False" ? "" : "True or False" + none;
  if (type == "str") return value.size() > 1 && value.starts_with('"') ? "" : "a text in double quotes" + none;
  const std::string_view digits = value.substr(value.starts_with('-') ? 1 : 0);
  const bool integer = !digits.empty() && std::ranges::all_of(digits, is_digit);
  if (type == "int" || type == "SymInt") return integer && digits.size() < 19 ? "" : "an integer" + none;
  if (type == "float" || type == "Scalar") return integer || parse_number(value) ? "" : "a number" + none;
  return optional ? "its only default is None" : fmt::format("the only default is None, for '{}?'", type);
}

void check_arguments(const Schema& schema) {
  std::set<std::string> names;
  const ArgumentSchema* before = nullptr;
  for (const ArgumentSchema& argument : schema.arguments) {
    check_type(argument.type, argument.annotation, argument.offset);
    if (is_keyword(argument.name) || argument.name == "grad")
      fail("E0161", argument.name_offset, fmt::format("an argument can't be called '{}'", argument.name));
    if (!names.insert(argument.name).second)
      fail("E0160", argument.name_offset, fmt::format("the argument '{}' is given twice", argument.name));
    if (!argument.default_value.empty()) {
      const std::string wanted = default_that_fits(argument.type, argument.default_value);
      if (!wanted.empty())
        fail("E0225", argument.default_offset,
             fmt::format("'{}' is not a default value for '{}'", argument.default_value.substr(0, 60),
                         argument.annotated_type()),
             wanted);
    } else if (!argument.kwarg_only && before != nullptr && !before->default_value.empty()) {
      fail("E0225", argument.name_offset,
           fmt::format("'{}' has no default value, but follows an argument that has one", argument.name),
           "put it first, or after '*'");
    }
    before = &argument;
  }
}

/// A result may share an argument's memory in two ways: as a view of it, or as the argument itself, written in place.
/// PyTorch supports no others.
void check_returns(const Schema& schema) {
  const auto& arguments = schema.arguments;
  const auto writes = std::ranges::count_if(arguments, &ArgumentSchema::is_write);
  for (const ReturnSchema& value : schema.returns) check_type(value.type, value.annotation, value.offset);
  for (const ReturnSchema& value : schema.returns) {
    if (value.annotation.empty()) continue;
    if (std::ranges::find(arguments, value.annotation, &ArgumentSchema::annotation) == arguments.end())
      fail("E0226", schema.returns_offset,
           fmt::format("no argument is marked as '{}', which is returned", value.annotated_type()),
           "such as 'op(Tensor(a) x) -> Tensor(a)'");
    if (!value.is_write() && writes != 0)
      fail("E0226", schema.returns_offset, "an operator that returns a view can't also write to an argument",
           "split it into two operators");
    const bool in_place = schema.returns.size() == 1 && writes == 1 && !arguments[0].kwarg_only &&
                          arguments[0].annotated_type() == value.annotated_type() && value.type == "Tensor";
    if (value.is_write() && !in_place)
      fail("E0226", schema.returns_offset, "the only written argument that an operator can return is its first one",
           "'op_(Tensor(a!) x) -> Tensor(a!)', or return nothing: '-> ()'");
  }
}

}  // namespace

std::optional<Schema> parse_custom_schema(std::string_view text, CustomSchemaError& error) {
  try {
    check_characters(text);
    Schema schema = parse_schema(text);
    check_name(schema.base, schema.offset);
    check_arguments(schema);
    check_returns(schema);
    return schema;
  } catch (CustomSchemaError& found) {
    error = std::move(found);
  } catch (const SchemaError& found) {
    error = {"E0160", found.offset, found.message, found.hint};
  }
  return std::nullopt;
}

}  // namespace openreg_gen
