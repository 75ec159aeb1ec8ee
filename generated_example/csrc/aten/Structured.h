// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ATen/DimVector.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_strided.h>

#include "aten/Signature.h"
#include "aten/native/Kernels.h"

// Note [Structured kernels]
// A structured operator is split in two by PyTorch: meta() checks the arguments and says what the output
// looks like, impl() computes. meta() is inherited from PyTorch (ATen/ops/*_meta.h), so shapes, dtypes and
// errors are its own; impl() is the kernel. meta() announces each output through the virtuals below, and the
// operator's form decides what they do:
//   StructuredOut      out=: resize the given tensor; if its strides don't fit, compute into a proxy and copy
//   StructuredInPlace  the output is the first argument, and must fit unchanged
//   StructuredNew      functional: make the output
// A kernel is one function for all three, `run(Kernel&, arguments without outputs)`: checks, meta(), impl() on
// maybe_get_output(i). PyTorch's default for the functional and in-place forms would call the out= form through
// the dispatcher after their own meta(), and do everything twice. OPENREG_STRUCTURED_KERNEL, in the kernel's own
// file, makes that function of a struct with impl(), and registers the out= form; OPENREG_STRUCTURED_FORM registers another.

namespace openreg {

/// What the forms have in common. `Kernel` derives from at::meta::structured_...
template <class Kernel>
class StructuredForm : public Kernel {
 protected:
  void use_device(const at::TensorOptions& options) {
    if (!guard_.current_device().has_value()) {
      guard_.reset_device(options.device());
    }
  }

  void tell_iterator(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Kernel>) {
      Kernel::set_output_raw_strided(index, sizes, strides, options);
    }
  }

 private:
  OptionalOpenRegGuard guard_;
};

/// N is the number of outputs. Use: construct with the outputs, run(), write_back(). Lives on the stack of one call and
/// borrows the outputs. `in_place`: the output is an argument, whose shape and dtype stay.
template <class Kernel, size_t N, bool in_place = false>
class StructuredOut final : public StructuredForm<Kernel> {
 public:
  template <class... Out>
  explicit StructuredOut(Out&... out) : outputs_{std::ref(out)...} {
    static_assert(sizeof...(Out) == N);
  }

  void set_output_strided(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    prepare(index, sizes, strides, options);
    const at::Tensor& out = outputs_[index];
    if (out.strides() != strides) {
      proxies_[index] = at::empty_strided(sizes, strides, options);
    }
    this->tell_iterator(index, sizes, strides, options);
  }

  void set_output_raw_strided(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    prepare(index, sizes, strides, options);
    this->tell_iterator(index, sizes, strides, options);
  }

  /// What impl() writes: the given tensor or its proxy.
  const at::Tensor& maybe_get_output(int64_t index) override {
    return proxies_[index].has_value() ? *proxies_[index] : outputs_[index].get();
  }

  /// Copies proxies into the given tensors, and warns of those that changed their shape.
  void write_back() {
    for (size_t i = 0; i < N; ++i) {
      const at::Tensor& out = outputs_[i];
      if (proxies_[i].has_value()) {
        out.copy_(*proxies_[i]);
      }
      if (given_[i].has_value() && out.sizes() != *given_[i]) {
        TORCH_WARN("An output with one or more elements was resized since it had shape ",
            at::IntArrayRef(*given_[i]), ", which does not match the required output shape ", out.sizes(),
            ". Resize it to zero elements to have it reused.");
      }
    }
  }

 private:
  void prepare(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
    this->use_device(options);
    at::Tensor& out = outputs_[index];
    constexpr const char* kWhat = in_place ? "Bad in-place call: expected a tensor" : "Expected out tensor";
    TORCH_CHECK(options.dtype() == out.dtype(), kWhat, " to have dtype ", options.dtype(), ", but got ", out.dtype(),
        " instead");
    TORCH_CHECK(options.device() == out.device(), kWhat, " to have device ", options.device(), ", but got ",
        out.device(), " instead");
    if (out.sizes() == sizes) {
      return;
    }
    TORCH_CHECK(!in_place, "Bad in-place call: the tensor has size ", out.sizes(), ", and the result ", sizes);
    // write_back() warns instead: meta() and impl() of a loss resize an output twice, back to its old size.
    if (out.numel() != 0 && !given_[index].has_value()) {
      given_[index].emplace(out.sizes().begin(), out.sizes().end());
    }
    out.resize_(sizes);
    // Strides are advice, and only for an output whose layout is ours to choose.
    if (!strides.empty()) {
      out.as_strided_(sizes, strides);
    } else if (options.memory_format_opt().has_value()) {
      out.unsafeGetTensorImpl()->empty_tensor_restride(*options.memory_format_opt());
    }
  }

  std::array<std::reference_wrapper<at::Tensor>, N> outputs_;
  std::array<std::optional<at::Tensor>, N> proxies_;
  std::array<std::optional<at::DimVector>, N> given_;  // shapes of resized outputs that had elements
};

/// Makes its N outputs. Use: run(), outputs.
template <class Kernel, size_t N>
class StructuredNew final : public StructuredForm<Kernel> {
 public:
  void set_output_strided(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    this->use_device(options);
    outputs[index] = native::new_tensor(sizes, strides, options);
    this->tell_iterator(index, sizes, strides, options);
  }

  void set_output_raw_strided(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    set_output_strided(index, sizes, strides, options);
  }

  const at::Tensor& maybe_get_output(int64_t index) override { return outputs[index]; }

  std::array<at::Tensor, N> outputs;
};

namespace detail {

template <class Fn>
struct ReturnType;
template <class R, class... Params>
struct ReturnType<R(Params...)> {
  using type = R;
};

/// How many tensors an operator returns: one, or a tuple.
template <class R>
constexpr size_t count() {
  if constexpr (std::is_same_v<R, at::Tensor>) {
    return 1;
  } else {
    return std::tuple_size_v<R>;
  }
}

}  // namespace detail

/// The functional form of a structured operator that run() computes: call() has the signature of `Op`, at::_ops::...
template <auto run, class Op>
struct Functional;
template <class Kernel, class... Params, void (*run)(Kernel&, Params...), class Op>
struct Functional<run, Op> {
  using Result = typename detail::ReturnType<typename Op::schema>::type;
  static constexpr size_t kOutputs = detail::count<Result>();
  static Result call(Params... params) {
    StructuredNew<Kernel, kOutputs> op;
    run(op, params...);
    return std::apply([](auto&... out) { return Result(std::move(out)...); }, op.outputs);
  }
};

/// The same for the in-place form.
template <auto run, class Op>
struct InPlace;
template <class Kernel, class... Params, void (*run)(Kernel&, const at::Tensor&, Params...), class Op>
struct InPlace<run, Op> {
  static at::Tensor& call(at::Tensor& self, Params... params) {
    StructuredOut<Kernel, 1, /*in_place=*/true> op(self);
    run(op, self, params...);
    op.write_back();
    return self;
  }
};

/// An optional tensor as meta() takes it.
inline at::OptionalTensorRef tensor_ref(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? at::OptionalTensorRef(*tensor) : at::OptionalTensorRef();
}

/// An optional number as meta() takes it; borrows `scalar`.
inline at::OptionalScalarRef scalar_ref(const std::optional<at::Scalar>& scalar) {
  return scalar.has_value() ? at::OptionalScalarRef(&*scalar) : at::OptionalScalarRef();
}

namespace detail {

/// An argument as meta() takes it.
template <class T>
const T& meta_argument(const T& argument) {
  return argument;
}
inline at::OptionalTensorRef meta_argument(const std::optional<at::Tensor>& tensor) { return tensor_ref(tensor); }
inline at::OptionalScalarRef meta_argument(const std::optional<at::Scalar>& scalar) { return scalar_ref(scalar); }

/// Refuses tensors of several devices in PyTorch's words; `params` are those of `Op`, in order.
template <class Op, class... Params>
void check_devices(const Params&... params) {
  static const c10::FunctionSchema* const schema =
      &c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name).schema();
  static const std::string name = c10::toString(schema->operator_name());
  std::optional<at::Device> common;
  size_t index = 0;
  const auto check = [&]<class T>(const T& argument) {
    if constexpr (
        std::is_same_v<T, at::Tensor> || std::is_same_v<T, std::optional<at::Tensor>> ||
        std::is_convertible_v<T, at::ITensorListRef>) {
      c10::impl::check_and_update_common_device(common, argument, name.c_str(), schema->arguments()[index].name().c_str());
    }
    ++index;
  };
  (check(params), ...);
}

/// The parameters of an out= form: those before its outputs, and how many outputs follow.
template <class Inputs, class... Rest>
struct OutParameters;
template <class... In, class... Out>
struct OutParameters<std::tuple<In...>, at::Tensor&, Out...> {
  using Inputs = std::tuple<In...>;
  static constexpr size_t kOutputs = 1 + sizeof...(Out);
};
template <class... In, class First, class... Rest>
struct OutParameters<std::tuple<In...>, First, Rest...> : OutParameters<std::tuple<In..., First>, Rest...> {};

/// run() of a kernel whose out= form is `Op`.
template <class Kernel, class Op, class Outputs, class Inputs>
struct StructuredRun;
template <class Kernel, class Op, size_t... index, class... Params>
struct StructuredRun<Kernel, Op, std::index_sequence<index...>, std::tuple<Params...>> {
  static void run(Kernel& op, Params... params) {
    if constexpr (!std::is_base_of_v<at::TensorIteratorBase, Kernel>) {  // which checks them, and takes numbers of the CPU
      check_devices<Op>(params...);
    }
    if constexpr (std::is_void_v<decltype(op.meta(meta_argument(params)...))>) {
      op.meta(meta_argument(params)...);
      op.impl(params..., op.maybe_get_output(index)...);
    } else {
      const auto precomputed = op.meta(meta_argument(params)...);
      op.impl(precomputed, params..., op.maybe_get_output(index)...);
    }
  }
};

}  // namespace detail

/// The out= form `Op`, at::_ops::..., of a kernel: `Kernel` derives from at::meta::structured_... and has impl().
template <class Kernel, class Op, class Schema = typename c10::fn_remove_symint<typename Op::schema>::type>
struct StructuredKernel;
template <class Kernel, class Op, class R, class... Params>
struct StructuredKernel<Kernel, Op, R(Params...)> {
  using Parameters = detail::OutParameters<std::tuple<>, Params...>;
  using Outputs = std::make_index_sequence<Parameters::kOutputs>;
  static constexpr auto run = &detail::StructuredRun<Kernel, Op, Outputs, typename Parameters::Inputs>::run;

  static R call(Params... params) {
    constexpr size_t kInputs = sizeof...(Params) - Parameters::kOutputs;
    const auto all = std::tie(params...);
    return [&all]<size_t... in, size_t... out>(std::index_sequence<in...>, std::index_sequence<out...>) -> R {
      StructuredOut<Kernel, Parameters::kOutputs> op(std::get<kInputs + out>(all)...);
      run(op, std::get<in>(all)...);
      op.write_back();
      if constexpr (Parameters::kOutputs == 1) {
        return std::get<kInputs>(all);
      } else {
        return R(std::get<kInputs + out>(all)...);
      }
    }(std::make_index_sequence<kInputs>(), Outputs());
  }
};

/// Another form of the kernel, whose declaration is `Op`.
template <class Structured, class Op>
using StructuredFormOf = std::conditional_t<std::is_same_v<typename detail::ReturnType<typename Op::schema>::type, at::Tensor&>,
    InPlace<Structured::run, Op>, Functional<Structured::run, Op>>;

}  // namespace openreg

// clang-format off: a name's length must not move the macros' backslashes

/// Registers KERNEL, at namespace scope, as the kernel of aten::NAME, an out= form: see Note [Structured kernels] and OPENREG_KERNEL.
#define OPENREG_STRUCTURED_KERNEL(NAME, OP, KERNEL, ...) \
  using KERNEL##_structured = ::openreg::StructuredKernel<KERNEL, OP>; \
  TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { \
    OPENREG_REGISTER(library, NAME, OP, &KERNEL##_structured::call __VA_OPT__(, ) __VA_ARGS__); \
  } \
  static_assert(std::is_base_of_v<at::impl::MetaBase, KERNEL>, "aten::" NAME ": the kernel derives from no at::meta::structured_...")

/// Registers aten::NAME, the functional or in-place form of a kernel that OPENREG_STRUCTURED_KERNEL has registered as WHOSE.
#define OPENREG_STRUCTURED_FORM(NAME, OP, KERNEL, WHOSE, ...) \
  TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { \
    using Form = ::openreg::StructuredFormOf<KERNEL##_structured, OP>; \
    OPENREG_IMPL(library, NAME, OP, Form::call, "aten::" WHOSE __VA_OPT__(, ) __VA_ARGS__); \
  } \
  static_assert(std::is_function_v<OP::schema>)

/// Registers FORM (Functional or InPlace) of the structured operator that RUN computes; see OPENREG_IMPL.
#define OPENREG_IMPL_FORM(M, NAME, OP, FORM, RUN, ...) \
  do { \
    using Form = ::openreg::FORM<&RUN, OP>; \
    OPENREG_IMPL(M, NAME, OP, Form::call __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

// clang-format on
