#include "strategy/check_expr.h"

#include "spec/document.h"

namespace openreg_gen {

Location place_in(const Located<Expr>& expr, std::size_t offset, const Spec& spec) {
  Node node;
  node.kind = Node::Kind::String;
  node.text = expr->text;
  node.at = expr.at;
  return place_inside(node, offset, spec.text);
}

void check_dtypes(const Spec& spec, const OpSpec& op, const Located<Expr>& expr, Diagnostics& diagnostics,
                  const std::function<bool(const std::string&)>& is_element) {
  std::vector<std::string> dtypes;
  for (const auto& dtype : *op.dtypes) dtypes.push_back(*dtype);
  if (const auto error = dtype_error(*expr, dtypes, is_element))
    diagnostics.error(error->code, place_in(expr, error->offset, spec), error->message, error->hint);
}

}  // namespace openreg_gen
