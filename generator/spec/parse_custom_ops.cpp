// `custom_ops` of a spec.
#include "spec/custom_schema.h"
#include "spec/read_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace openreg_gen {
namespace {

class ParseCustomOps {
 public:
  ParseCustomOps(std::string_view text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  std::vector<CustomOpSpec> run(const Node* list) {
    if (list == nullptr) return {};
    std::set<std::string> names;
    for (const Node& node : list->items) {
      const Node* schema_node = node.find("schema");
      if (schema_node == nullptr) continue;
      CustomOpSpec op;
      read_keys(op, "custom_ops[]", &node);
      CustomSchemaError error;
      const auto schema = parse_custom_schema(op.schema.value, error);
      if (schema) op.parsed = *schema;
      if (!schema)
        diagnostics_.error(error.code, place_inside(*schema_node, error.offset, text_), "'schema': " + error.message,
                           error.hint);
      if (schema && !names.insert(schema->id()).second) {
        diagnostics_.error("E0163", op.schema.at, fmt::format("the custom operator '{}' is given twice", schema->base),
                           "keep one; in C++ the overload 'a.b' and the operator 'a_b' have the same name");
      }
      custom_kernel(op, schema, node);
      found_.push_back(std::move(op));
    }
    return std::move(found_);
  }

 private:
  void custom_kernel(const CustomOpSpec& op, const std::optional<Schema>& schema, const Node& node) {
    const bool autograd = *op.autograd != CustomAutograd::None;
    if (op.backward.given() && !autograd) {
      diagnostics_.error("E0164", op.backward.at, "'backward' has no meaning without 'autograd'",
                         "add `autograd: formula` or `autograd: function`");
    } else if (op.backward.given() && !op.expr.given()) {
      diagnostics_.error("E0164", op.backward.at, "'backward' has no meaning without 'expr'",
                         "without 'expr' you write both kernels");
    } else if (autograd && op.expr.given() && !op.backward.given()) {
      diagnostics_.error("E0164", op.autograd.at, "'autograd' with 'expr' needs 'backward'",
                         "such as `backward: grad * self`");
    }
    if (*op.surrogate && !op.backward.given())
      diagnostics_.error("E0164", op.surrogate.at, "'surrogate' has no meaning without 'backward'",
                         "it says that 'backward' is not the derivative of 'expr'");
    const auto& gradients = *op.backward;
    if (op.expr.given()) report_expression(*op.expr, "expr", *node.find("expr"), text_, diagnostics_);
    for (const auto& gradient : gradients)
      if (gradient) report_expression(*gradient, "backward", *node.find("backward"), text_, diagnostics_);
    if (!schema) return;
    const auto count = [&](auto&& test) { return std::ranges::count_if(schema->arguments, test); };
    const auto tensors = count([](const ArgumentSchema& a) { return a.annotated_type() == "Tensor"; });
    if (!op.expr.given()) {
      if (autograd) custom_autograd(op, *schema);
      return;
    }
    std::set<std::string> known;
    for (const auto& argument : schema->arguments) known.insert(argument.name);
    const auto served = count([](const ArgumentSchema& a) {
      constexpr std::string_view kServed[] = {"Tensor",  "Scalar", "float", "int",   "bool",   "SymInt",
                                              "Scalar?", "float?", "int?",  "bool?", "SymInt?"};
      return std::ranges::find(kServed, a.annotated_type()) != std::end(kServed);
    });
    const bool one_tensor = schema->returns.size() == 1 && schema->returns[0].annotated_type() == "Tensor";
    if (!one_tensor || served != std::ssize(schema->arguments) || tensors == 0) {
      diagnostics_.error("E0165", op.schema.at, "'expr' can't serve this schema",
                         "it needs Tensor and number arguments, at least one Tensor, and one Tensor as its result");
      return;
    }
    if (std::ssize(gradients) > tensors) {
      diagnostics_.error("E0165", op.schema.at,
                         fmt::format("'backward' has {} expressions, but the schema has {} Tensor{}", gradients.size(),
                                     tensors, tensors == 1 ? "" : "s"),
                         "one for each Tensor, in order, separated by ';'; one may be empty");
      return;
    }
    names(*op.expr, known, node.find("expr"));
    known.insert("grad");
    for (const auto& gradient : gradients)
      if (gradient) names(*gradient, known, node.find("backward"));
    for (const auto& argument : schema->arguments) {
      const auto has_it = [&](const auto& expr) { return expr && uses(*expr, argument.name); };
      if (!uses(*op.expr, argument.name) && std::ranges::none_of(gradients, has_it))
        diagnostics_.warning("E0168", op.schema.at, fmt::format("no expression uses '{}'", argument.name),
                             "every call computes the same, whatever it gives for it");
    }
  }

  /// A backward that is the owner's: a C++ function, which autograd calls with tensors it has saved.
  void custom_autograd(const CustomOpSpec& op, const Schema& schema) {
    const auto fail = [&](std::string message, std::string hint) {
      diagnostics_.error("E0227", op.autograd.at, "'autograd' can't serve this operator: " + message, std::move(hint));
    };
    if (*op.autograd == CustomAutograd::Function) {
      fail("without 'expr', 'function' has nothing to call", "use `formula`: you write its backward beside the kernel");
      return;
    }
    for (const ArgumentSchema& argument : schema.arguments) {
      if (argument.is_write()) {
        fail(fmt::format("it writes '{}'", argument.name), "return a new tensor instead");
      } else if (argument.type.starts_with("Tensor") && argument.type.find('[') != std::string::npos) {
        fail(fmt::format("gradients don't reach the list '{}'", argument.name), "take single tensors");
      }
    }
    const bool tensors = std::ranges::all_of(schema.returns, [](const auto& value) { return value.type == "Tensor"; });
    if (schema.returns.empty() || !tensors) fail("it returns something other than tensors", "return Tensor");
  }

  void names(const Expr& expr, const std::set<std::string>& known, const Node* node) {
    if (expr.error) return;
    each_name(expr.root, [&](const ExprNode& use) {
      if (known.contains(use.text)) return;
      diagnostics_.error("E0166", place_inside(*node, use.offset, text_),
                         fmt::format("'{}' is not an argument of the operator", use.text),
                         fmt::format("its arguments: {}", fmt::join(known, ", ")));
    });
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<CustomOpSpec> found_;
};

}  // namespace

std::vector<CustomOpSpec> read_custom_ops(const Node* list, std::string_view text, Diagnostics& diagnostics) {
  return ParseCustomOps(text, diagnostics).run(list);
}

}  // namespace openreg_gen
