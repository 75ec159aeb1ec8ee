// RegistrationDeclarations.h holds one operator a line:
//   at::Tensor add(const at::Tensor & self, ...); // {"schema": "aten::...", "dispatch": "True", "default": "True"}
// A JSON parser would cost more than everything else, and the line is machine-made, so it is parsed by hand.
#include "catalog/declarations.h"

#include "diag/failure.h"
#include "base/text.h"

#include <fmt/format.h>

#include <stdexcept>

namespace openreg_gen {
namespace {

/// The value of "key" in the line's comment, with JSON's escapes undone. Throws if it is not there.
std::string json_string(std::string_view comment, std::string_view key) {
  const auto at = comment.find(fmt::format("\"{}\": \"", key));
  if (at == std::string_view::npos) throw std::invalid_argument(fmt::format("the comment has no \"{}\"", key));
  std::string value;
  for (std::size_t i = at + key.size() + 5; i < comment.size(); ++i) {
    if (comment[i] == '"') return value;
    if (comment[i] == '\\') ++i;
    if (i < comment.size()) value += comment[i];
  }
  throw std::invalid_argument("the comment ends within a string");
}

Declaration parse_line(std::string_view line, std::size_t comment_at) {
  Declaration result;
  const auto comment = line.substr(comment_at);
  result.schema_text = json_string(comment, "schema");
  result.schema = parse_schema(result.schema_text);
  result.has_dispatch = json_string(comment, "dispatch") == "True";
  result.has_default = json_string(comment, "default") == "True";

  const auto signature = line.substr(0, comment_at);
  const auto open = signature.find('(');
  const auto close = signature.rfind(')');
  const auto name_at = signature.rfind(' ', open);
  if (open == std::string_view::npos || close == std::string_view::npos || name_at == std::string_view::npos)
    throw std::invalid_argument("no C++ signature before the comment");
  result.returns = signature.substr(0, name_at);
  for (const auto argument : split_top_level(signature.substr(open + 1, close - open - 1), ','))
    result.argument_types.emplace_back(argument.substr(0, argument.rfind(' ')));
  if (result.argument_types.size() != result.schema.arguments.size())
    throw std::invalid_argument("schema and C++ signature differ in the number of arguments");
  return result;
}

}  // namespace

std::vector<Declaration> read_registration_declarations(std::string_view text, const fs::path& path) {
  std::vector<Declaration> result;
  result.reserve(3500);
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    const auto comment_at = line.find("; // {");
    if (comment_at == std::string_view::npos) continue;
    try {
      result.push_back(parse_line(line, comment_at));
    } catch (const std::invalid_argument& e) {
      throw Failure(Exit::Environment, "E0402", path.string() + ":" + std::to_string(number) + ": " + e.what(),
                    "reinstall this PyTorch, or name another one with --torch DIR");
    }
  }
  if (result.empty()) {
    throw Failure(Exit::Environment, "E0402", path.string() + " declares no operator",
                  "reinstall this PyTorch, or name another one with --torch DIR");
  }
  return result;
}

}  // namespace openreg_gen
