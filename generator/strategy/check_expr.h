// What strategies share that have expressions in their entries.
#pragma once

#include "spec/spec.h"

#include <functional>

namespace openreg_gen {

/// The column of a byte of an expression.
Location place_in(const Located<Expr>& expr, std::size_t offset, const Spec& spec);

/// Operators that one of the entry's dtypes has not: the compiler would say so, far from the spec.
void check_dtypes(const Spec& spec, const OpSpec& op, const Located<Expr>& expr, Diagnostics& diagnostics,
                  const std::function<bool(const std::string&)>& is_element);

}  // namespace openreg_gen
