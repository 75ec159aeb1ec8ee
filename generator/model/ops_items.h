// What templates see of one operator, by the strategy that serves it, in finished C++ texts. ops.cpp gathers them.
#pragma once

#include "catalog/catalog.h"
#include "spec/spec.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <string_view>

namespace openreg_gen {

/// Who has a kernel of its own: operators that the spec names, and the minimal set.
struct Registered {
  const Catalog& catalog;
  std::set<std::string_view> names;
};

/// What every strategy shows of an operator.
nlohmann::json op_item(const Op& op);

/// What a structured operator adds: the calls of meta() and impl(), and its other forms.
void add_structured(nlohmann::json& item, const Op& op, const Registered& registered);

/// `structured`: the kernel is the owner's, meta() and the other forms are PyTorch's.
nlohmann::json structured_item(const Op& op, const Registered& registered);

/// The boxed function by which an operator falls back.
std::string detour_function(const OpSpec& written);

/// `pointwise`: the kernel is the spec's expression. `of_spec`: how operators fall back, where the entry does not say.
nlohmann::json pointwise_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered);

/// PyTorch's own kernel: the C++ name, and a structured one's arguments.
void add_kernel(nlohmann::json& item, const Op& op, const Registered& registered);

/// `stub`: PyTorch's own kernel, and the function of its DispatchStub.
nlohmann::json stub_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered);

/// `reduction`: the spec's expressions, and over which dimensions.
nlohmann::json reduction_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered);

/// A reduction to a place: argmax has places alone, max.dim_max values and places.
nlohmann::json pick_item(const Op& op, const OpSpec& written, FallbackKind of_spec, const Registered& registered);

/// "self, mat1, mat2, beta, alpha" as gemm() takes them; where nothing is added, the sum is left undefined.
std::string gemm_arguments(const Op& op);

/// The enumerator of FallbackKind in the emitted host/Fallback.h.
std::string fallback_enumerator(FallbackKind kind);

}  // namespace openreg_gen
