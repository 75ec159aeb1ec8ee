// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_strided.h>
#include <c10/util/Exception.h>

#include "graphs/Capture.h"
#include "host/Fallback.h"
#include "host/Work.h"
#include "host/alias/Alias.h"
#include "host/alias/Queue.h"
#include "runtime/Functions.h"

// Note [CPU kernels in a graph]
// The caller usually waits for a CPU kernel that replaces a device kernel: only then are its results known. During a capture
// nothing runs, so PyTorch's meta kernels, which compute only sizes and dtypes, describe the results. They are
// allocated, and the CPU's kernel becomes a node of the graph: a replay calls it on the device's bytes and copies its
// results. Random operators get a generator of the replay.
// Operators whose results depend on values (sizes or numbers) can't be captured, and neither can host code on a device that
// needs copies: there the call throws, like a wait.

namespace openreg {
namespace {

/// A CPU kernel's warnings were heard where it ran first; a replay has nobody to hear them.
struct NoWarnings final : c10::WarningHandler {
  void process(const c10::Warning& /*warning*/) override {}
};

/// A tensor that the kernel writes, over memory of the device. Some kernels (mse_loss.out) resize an output twice, so that it
/// comes out as it was, but in memory of the host.
struct CapturedOutput {
  explicit CapturedOutput(at::Tensor of) : tensor(std::move(of)), sizes(tensor.sizes()), data(tensor.storage().mutable_data()), bytes(tensor.storage().nbytes()) {}

  void bring_home(const c10::OperatorHandle& op) const {
    TORCH_CHECK(tensor.sizes() == at::IntArrayRef(sizes), op.operator_name(), ": an output in a graph has the sizes ",
        at::IntArrayRef(sizes), ", and was given ", tensor.sizes(), " by a replay");
    c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
    if (storage->data() == data) {
      return;
    }
    const at::Tensor moved = tensor.clone();
    storage->set_data_ptr_noswap(c10::DataPtr(data, c10::Device(c10::DeviceType::CPU)));
    storage->set_nbytes(bytes);
    tensor.copy_(moved);
  }

  at::Tensor tensor;
  at::DimVector sizes;
  void* data;
  size_t bytes;
};

/// A node of the graph. Its tensors are the host's and own no memory of the device.
struct CapturedKernel : native::QueuedTask {
  explicit CapturedKernel(c10::OperatorHandle handle) : op(std::move(handle)) {}

  void operator()() {
    const CpuKernelScope scope(threads);
    NoWarnings silent;
    const c10::WarningUtils::WarningHandlerGuard listening(&silent);
    torch::jit::Stack stack = arguments;
    if (draw.has_value()) {
      const auto [seed, offset] = draw->get();
      stack[generator] = cpu_generator(seed, offset);
    }
    (*cpu_kernel_call)(op, &stack);
    for (const CapturedOutput& each : written) {
      each.bring_home(op);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].defined()) {
        const at::Tensor& returned = stack[i].toTensor();
        TORCH_CHECK(returned.sizes() == results[i].sizes(), op.operator_name(), ": a result in a graph has the sizes ",
            returned.sizes(), ", and had ", results[i].sizes(), " while it was captured");
        results[i].copy_(returned);
      }
    }
  }

  c10::OperatorHandle op;
  torch::jit::Stack arguments;
  std::vector<CapturedOutput> written;
  std::vector<at::Tensor> results;  // by the operator's returns; undefined: an argument that it wrote
  int threads = at::get_num_threads();
  std::optional<CapturedDraw> draw;
  size_t generator = 0;  // its place among the arguments
};

[[noreturn]] void refuse_capture(const c10::OperatorHandle& op, const char* why) {
  check_not_capturing(c10::str("the CPU's kernel of ", op.operator_name(), ", ", why).c_str());
  TORCH_INTERNAL_ASSERT(false, "nothing is captured");
}

at::Tensor as_meta(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_privateuseone()) {  // a number stays one
    return tensor;
  }
  at::Tensor meta = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
  meta._set_conj(tensor.is_conj());
  meta._set_neg(tensor.is_neg());
  return meta;
}

/// It may change before the replay.
at::Tensor copy_of_number(const at::Tensor& number) {
  at::Tensor copy = number.clone();
  copy.unsafeGetTensorImpl()->set_wrapped_number(number.unsafeGetTensorImpl()->is_wrapped_number());
  return copy;
}

/// Whether a return is an argument that the operator writes; then it has no sizes of its own.
bool is_argument(const c10::Argument& returned) {
  return returned.alias_info() != nullptr && returned.alias_info()->isWrite();
}

/// Whether PyTorch has to be asked for sizes: of results, or of those that out= is to get.
bool sizes_are_asked(const c10::FunctionSchema& schema) {
  const auto is_new = [](const c10::Argument& each) { return !is_argument(each); };
  const auto is_out = [](const c10::Argument& each) { return each.is_out(); };
  return std::any_of(schema.returns().begin(), schema.returns().end(), is_new) ||
      std::any_of(schema.arguments().begin(), schema.arguments().end(), is_out);
}

/// What the operator's meta kernel returns, with the arguments that it was given in `given`.
torch::jit::Stack call_meta(const c10::OperatorHandle& op, at::ArrayRef<c10::IValue> arguments, torch::jit::Stack& given) {
  for (const c10::IValue& argument : arguments) {
    given.push_back(argument.isDevice() ? c10::IValue(c10::Device(at::kMeta)) : mapped(argument, as_meta));
  }
  torch::jit::Stack results = given;
  constexpr const char* kUnknown = "whose results have sizes that are not known beforehand";
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  try {
    op.callBoxed(&results);
  } catch (const c10::NotImplementedError&) {
    refuse_capture(op, kUnknown);
  } catch (const c10::Error&) {  // wrong arguments
    throw;
  } catch (const std::exception&) {  // of a meta kernel in Python
    refuse_capture(op, kUnknown);
  }
  return results;
}

void capture_call(const c10::OperatorHandle& op, torch::jit::Stack* stack, uint64_t draws) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  for (const c10::Argument& returned : schema.returns()) {
    const bool tensor = returned.type()->kind() == c10::TypeKind::TensorType;
    const bool view = returned.alias_info() != nullptr && !returned.alias_info()->isWrite();
    if (!tensor || view) {
      refuse_capture(op, "which returns more than tensors of its own");
    }
  }
  auto node = std::make_unique<CapturedKernel>(op);
  torch::jit::Stack given;
  torch::jit::Stack sizes;
  auto arguments = torch::jit::last(*stack, count);
  if (sizes_are_asked(schema)) {
    sizes = call_meta(op, arguments, given);
  }
  HostAliases tensors;
  for (size_t i = 0; i < count; ++i) {
    if (schema.arguments()[i].is_out() && arguments[i].isTensor() && given[i].toTensor().sizes() != arguments[i].toTensor().sizes()) {
      arguments[i].toTensor().resize_(given[i].toTensor().sizes());
    }
    each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      if (!tensor.is_privateuseone() && tensor.dim() > 0) {
        refuse_capture(op, "with a tensor of the CPU");
      }
    });
    tensors.add(arguments[i], is_written(op, i));
  }
  std::vector<at::Tensor> results;
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    at::Tensor result;
    if (!is_argument(schema.returns()[i]) && sizes[i].toTensor().defined()) {
      const at::Tensor& like = sizes[i].toTensor();
      result = at::empty_strided(like.sizes(), like.strides(), like.options().device(at::kPrivateUse1));
      tensors.add(result, true);
    }
    results.push_back(std::move(result));
  }
  tensors.fetch();
  for (size_t i = 0; i < count; ++i) {
    const bool number = arguments[i].isTensor() && arguments[i].toTensor().defined() && !arguments[i].toTensor().is_privateuseone();
    node->arguments.push_back(number ? c10::IValue(copy_of_number(arguments[i].toTensor())) : tensors.on_host(arguments[i]));
    if (is_written(op, i)) {
      each_tensor(node->arguments.back(), [&](const at::Tensor& tensor) { node->written.emplace_back(tensor); });
    }
    if (draws != 0 && schema.arguments()[i].name() == "generator") {
      const auto generator = arguments[i].isNone() ? std::nullopt : std::optional<at::Generator>(arguments[i].toGenerator());
      node->draw = captured_draw(generator, current_device(), draws);
      node->generator = i;
    }
  }
  for (const at::Tensor& result : results) {
    node->results.push_back(result.defined() ? tensors.on_host(result) : at::Tensor());
  }
  native::queue(std::move(node));
  // The results: new tensors, and arguments by what they share a name with.
  torch::jit::Stack returned;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_argument(schema.returns()[i])) {
      returned.emplace_back(results[i]);
      continue;
    }
    const auto same = std::find_if(schema.arguments().begin(), schema.arguments().end(), [&](const c10::Argument& argument) {
      return argument.alias_info() != nullptr && *argument.alias_info() == *schema.returns()[i].alias_info();
    });
    TORCH_INTERNAL_ASSERT(same != schema.arguments().end());
    returned.push_back(arguments[static_cast<size_t>(same - schema.arguments().begin())]);
  }
  torch::jit::drop(*stack, count);
  for (c10::IValue& value : returned) {
    stack->push_back(std::move(value));
  }
}

[[maybe_unused]] const bool in_use = (capture_cpu_kernel = &capture_call, true);

}  // namespace
}  // namespace openreg
