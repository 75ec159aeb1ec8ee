#include "strategy/device_kernel.h"

#include "base/text.h"
#include "strategy/starter.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

// What says where a result is and of what dtype: it is made by then.
constexpr std::string_view kOfTheResult[] = {"std::optional<at::ScalarType>", "std::optional<at::Layout>",
                                             "std::optional<at::Device>", "std::optional<at::MemoryFormat>"};

}  // namespace

DeviceKernel device_kernel(const DeviceKernels& kernels, const Op& op, const OpItem& item) {
  if (!kernels || !kernels.has("kernels/kernel") || kernels.serves(op.name) || of_attention(op.name)) return {};
  const KernelLanguage& language = *kernels.language;
  const bool returns_new = !op.structured && item.functional() && item.returns == "at::Tensor";
  if (!(op.structured || returns_new || item.in_place)) return {};
  DeviceKernel out;
  std::vector<std::string> params, args;
  const auto declare = [&](std::string_view form, const std::string& name) {
    params.push_back(fmt::format(fmt::runtime(form), name));
  };
  const auto write = [&](const std::string& name) {
    declare(language.written, name);
    args.push_back("programs::OutputArgument(" + name + ")");
    if (out.kernel_out.empty()) out.kernel_out = name;
  };
  for (const Parameter& p : parameters(op)) {
    const bool written = p.out || (item.in_place && p.name == item.return_value);
    if (written) {
      write(p.name);
    } else if (p.tensor() || p.optional_tensor()) {
      declare(language.read, p.name);
      args.push_back(p.name);
      if (p.tensor()) out.kernel_inputs.push_back(p.name);
    } else if (const auto* form = find_by(language.forms, p.type, &KernelLanguage::Form::type)) {
      declare(form->declaration, p.name);
      args.push_back(p.name);
    } else if (!contains(kOfTheResult, p.type)) {
      return {};
    }
  }
  if (returns_new && !out.kernel_inputs.empty()) write("out");  // like the first input, until the owner says otherwise
  if (out.kernel_out.empty()) return {};
  out.kernel_params = fmt::format("{}", fmt::join(params, language.separator));
  out.kernel_args = join(args);
  if (op.structured) out.kernel_value = starter(op.name).kernel_value;
  out.kernel_dtype = !out.kernel_value.empty()
                         ? "common_dtype()"
                         : (out.kernel_inputs.empty() ? out.kernel_out : out.kernel_inputs[0]) + ".scalar_type()";
  return out;
}

}  // namespace openreg_gen
