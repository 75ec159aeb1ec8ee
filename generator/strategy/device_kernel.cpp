#include "strategy/device_kernel.h"

#include "base/text.h"
#include "strategy/starter.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

/// An argument's declaration in OpenCL C, as csrc/opencl/KernelCall.h passes each type.
struct Form {
  std::string_view type, declaration;
};
constexpr Form kForms[] = {
    {"const at::Scalar&", "num_t {0}"},
    {"double", "real_t {0}"},
    {"int64_t", "long {0}"},
    {"bool", "int {0}"},
    {"at::IntArrayRef", "Ints {0}"},
    {"const std::optional<at::Scalar>&", "int has_{0}, num_t {0}"},
    {"std::optional<double>", "int has_{0}, real_t {0}"},
    {"std::optional<int64_t>", "int has_{0}, long {0}"},
    {"std::optional<bool>", "int has_{0}, int {0}"},
    {"at::OptionalIntArrayRef", "int has_{0}, Ints {0}"},
};
// What says where a result is and of what dtype: it is made by then.
constexpr std::string_view kOfTheResult[] = {"std::optional<at::ScalarType>", "std::optional<at::Layout>",
                                             "std::optional<at::Device>", "std::optional<at::MemoryFormat>"};

std::string tensor_declaration(const std::string& name, bool written) {
  return fmt::format("TensorInfo {0}_info, global {1}char* {0}", name, written ? "" : "const ");
}

}  // namespace

DeviceKernel device_kernel(const Op& op, const OpItem& item) {
  const bool returns_new = !op.structured && item.functional() && item.returns == "at::Tensor";
  if (starts_in_opencl(op.name) || of_attention(op.name) || !(op.structured || returns_new || item.in_place)) return {};
  DeviceKernel out;
  std::vector<std::string> params, args;
  const auto write = [&](const std::string& name) {
    params.push_back(tensor_declaration(name, true));
    args.push_back("opencl::Written(" + name + ")");
    if (out.kernel_out.empty()) out.kernel_out = name;
  };
  for (const Parameter& p : parameters(op)) {
    const bool written = p.out || (item.in_place && p.name == item.return_value);
    if (written) {
      write(p.name);
    } else if (p.tensor() || p.optional_tensor()) {
      params.push_back(tensor_declaration(p.name, false));
      args.push_back(p.name);
      if (p.tensor()) out.kernel_inputs.push_back(p.name);
    } else if (const Form* form = find_by(kForms, p.type, &Form::type)) {
      params.push_back(fmt::format(fmt::runtime(form->declaration), p.name));
      args.push_back(p.name);
    } else if (!contains(kOfTheResult, p.type)) {
      return {};
    }
  }
  if (returns_new && !out.kernel_inputs.empty()) write("out");  // like the first input, until the owner says otherwise
  if (out.kernel_out.empty()) return {};
  out.kernel_params = join(params);
  out.kernel_args = join(args);
  if (op.structured) out.kernel_value = starter(op.name).opencl;
  out.kernel_dtype = !out.kernel_value.empty()
                         ? "common_dtype()"
                         : (out.kernel_inputs.empty() ? out.kernel_out : out.kernel_inputs[0]) + ".scalar_type()";
  return out;
}

}  // namespace openreg_gen
