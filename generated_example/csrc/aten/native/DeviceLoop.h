// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorIterator.h>
#include <c10/core/DynamicCast.h>
#include <c10/util/SmallVector.h>

#include "host/Launch.h"
#include "host/alias/ShortLoop.h"

// Note [Loops over tensors]
// A TensorIterator does the bookkeeping of elementwise operators: broadcasting, type promotion, strides,
// output allocation. device_kernel() runs a function over all elements of one, in stream order:
//
//   device_kernel<scalar_t>(iter, [](compute_t<scalar_t> a, compute_t<scalar_t> b) { return a + b; });
//
// An iterator on the CPU is run on the host at once, one on `meta` not at all, so the same code serves all
// three. The loop copies what it needs from the iterator (see Note [Running a function on the device]):
// operands that are 0-dim CPU tensors are read during the call of the operator, since their memory may be gone
// when the loop runs. Over many elements it runs on as many threads as its caller has (torch.set_num_threads), like a CPU
// loop; so several threads may call a loop function at the same time.

namespace openreg::native {

/// What an expression computes in: float for half precision, else the type itself.
template <class scalar_t>
using compute_t = at::opmath_type<scalar_t>;

/// What an expression makes of an optional number.
template <class T>
bool has_value(const std::optional<T>& number) {
  return number.has_value();
}
template <class T, class U>
T value_or(const std::optional<T>& number, U otherwise) {
  return number.has_value() ? *number : static_cast<T>(otherwise);
}

/// Makes the number that `bytes` hold one of another dtype.
using ConvertNumber = void (*)(char* bytes, at::ScalarType from);

using Operands = c10::SmallVector<Operand, 6>;

class Loop;

/// An iterator's shape and strides, by value. strides are bytes, per dimension, operands innermost. 0-dim CPU tensors among
/// the inputs are converted, if `convert` is given. The others are appended to `operands`.
struct LoopPlan {
  struct HostScalar {
    size_t operand = 0;
    alignas(16) std::array<char, 16> bytes{};  // as the largest number is
  };
  LoopPlan(const at::TensorIteratorBase& iter, Operands& operands, ConvertNumber convert);
  void run(char** pointers, const Loop& loop) const;
  /// Gives those of `operands` that are written their layout, which `layouts` owns.
  void describe(const at::TensorIteratorBase& iter, Operands& operands, c10::SmallVector<Layout, 1>& layouts) const;

  size_t count;  // of operands, numbers too
  size_t split = 0;  // the dimension that threads share
  int threads = 1;
  at::DimVector shape;
  c10::SmallVector<int64_t, 12> strides;
  c10::SmallVector<HostScalar, 1> scalars;

 private:
  void share(int64_t numel, size_t outputs);
  void run_part(c10::ArrayRef<char*> pointers, const Loop& loop, int64_t begin, int64_t end) const;
};

/// What for_each() does with the elements. A class of its own has but its run(): what queues it is compiled once, for all.
class Loop : public QueuedTask {
 public:
  virtual ~Loop() = default;
  /// n1 rows of n0 elements. `strides`: bytes, of each operand within a row, then from row to row. Threads: several at once.
  virtual void run(char** data, const int64_t* strides, int64_t n0, int64_t n1) const = 0;
  void operator()() { run(operands_.data.data(), operands_.strides.data(), operands_.n0, operands_.n1); }
  /// False if `iter` has more operands or dimensions than a task that is queued by itself holds.
  bool take(const at::TensorIteratorBase& iter) { return operands_.take(iter); }

 private:
  ShortLoop operands_;
};

/// Runs `loop` over `iter`, where its tensors are.
void for_each(at::TensorIteratorBase& iter, std::unique_ptr<Loop> loop, ConvertNumber convert = nullptr);

/// The same for a function of Loop::run()'s arguments.
template <class Fn>
void for_each(at::TensorIteratorBase& iter, Fn fn) {
  struct Each final : Loop {
    explicit Each(Fn what) : fn(std::move(what)) {}
    void run(char** data, const int64_t* strides, int64_t n0, int64_t n1) const override { fn(data, strides, n0, n1); }
    Fn fn;
  };
  std::unique_ptr<Loop> loop = std::make_unique<Each>(std::move(fn));
  for_each(iter, std::move(loop));
}

/// Which operand of an iterator each parameter of an expression reads.
using OperandOrder = c10::SmallVector<size_t, 4>;

/// The order for an iterator that an operator's meta() built: it passes tensors in an order of its own
/// (threshold_backward), or one more than once (threshold). Throws c10::Error if one of `tensors` isn't there.
OperandOrder operand_order(const at::TensorIteratorBase& iter, const char* op,
    std::initializer_list<std::reference_wrapper<const at::Tensor>> tensors);

namespace detail {

/// Of the output and N inputs of an expression, which operand of the iterator each is.
template <size_t N>
using Order = std::array<uint8_t, N + 1>;

/// What a loop gets, with the output and N inputs in the order that the expression has them.
template <size_t N>
struct LoopPointers {
  LoopPointers(const Order<N>& order, size_t count, char* const* all, const int64_t* all_strides) {
    for (size_t i = 0; i <= N; ++i) {
      data[i] = all[order[i]];
      strides[i] = all_strides[order[i]];
      strides[N + 1 + i] = all_strides[count + order[i]];
    }
  }
  std::array<char*, N + 1> data{};
  std::array<int64_t, 2 * (N + 1)> strides{};
};

template <class Fn>
struct Arity : Arity<decltype(&Fn::operator())> {};
template <class C, class R, class... Args>
struct Arity<R (C::*)(Args...) const> {
  static constexpr size_t value = sizeof...(Args);
};

/// Scalars keep the compute type, as on the CPU and CUDA: 65536 doesn't fit in float16, but may scale a float16 loss.
template <class scalar_t>
void convert_number(char* bytes, at::ScalarType from) {
  const auto number = c10::fetch_and_cast<compute_t<scalar_t>>(from, bytes);
  std::memcpy(bytes, &number, sizeof(number));
}

/// A set of inputs, by bits: those that convert_number() made.
using Numbers = uint32_t;

constexpr bool contains(Numbers numbers, size_t input) { return (numbers >> input & 1U) != 0; }

template <class scalar_t>
compute_t<scalar_t> load(const char* at, bool number) {
  return number ? *reinterpret_cast<const compute_t<scalar_t>*>(at)
                : static_cast<compute_t<scalar_t>>(*reinterpret_cast<const scalar_t*>(at));
}

/// Contiguous operands, but for input number Same, which stays the same (if there is one of that number). The compiler
/// vectorises the loop; it could not know that no result is written where that input is, so it is read before.
template <class scalar_t, size_t Same, class Fn, size_t... I>
void typed_row(const Fn& fn, char* out, [[maybe_unused]] const std::array<const char*, sizeof...(I)>& in, int64_t n,
    [[maybe_unused]] Numbers numbers, std::index_sequence<I...>) {
  [[maybe_unused]] compute_t<scalar_t> same{};
  if constexpr (Same < sizeof...(I)) {
    same = load<scalar_t>(in[Same], contains(numbers, Same));
  }
  auto* const results = reinterpret_cast<scalar_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    results[i] = static_cast<scalar_t>(
        fn((I == Same ? same : static_cast<compute_t<scalar_t>>(reinterpret_cast<const scalar_t*>(in[I])[i]))...));
  }
}

/// All operands but the numbers are scalar_t.
template <class scalar_t, class Fn, size_t... I>
void typed_loop(const Fn& fn, char** data, const int64_t* strides, int64_t n0, int64_t n1, Numbers numbers,
    std::index_sequence<I...> indices) {
  constexpr int64_t size = sizeof(scalar_t);
  constexpr size_t inputs = sizeof...(I);
  constexpr size_t count = inputs + 1;
  bool rows = strides[0] == size;
  size_t same = inputs;  // the input that stays the same in a row
  for (size_t i = 0; i < inputs; ++i) {
    if (inputs > 1 && same == inputs && strides[i + 1] == 0) {
      same = i;
    } else {
      rows = rows && strides[i + 1] == size;
    }
  }
  for (int64_t j = 0; j < n1; ++j) {
    char* out = data[0] + j * strides[count];
    [[maybe_unused]] const std::array<const char*, inputs> in{(data[I + 1] + j * strides[count + I + 1])...};
    if (rows && same == inputs) {
      typed_row<scalar_t, inputs>(fn, out, in, n0, numbers, indices);
    } else if (rows) {
      if constexpr (inputs > 1) {
        (static_cast<void>(same == I && (typed_row<scalar_t, I>(fn, out, in, n0, numbers, indices), true)), ...);
      }
    } else {
      for (int64_t i = 0; i < n0; ++i) {
        *reinterpret_cast<scalar_t*>(out + i * strides[0]) =
            static_cast<scalar_t>(fn(load<scalar_t>(in[I] + i * strides[I + 1], contains(numbers, I))...));
      }
    }
  }
}

/// Operands of any dtype, converted on the fly: what type promotion and comparisons need.
template <class scalar_t, class Fn, size_t... I>
void casting_loop(const Fn& fn, const std::array<at::ScalarType, sizeof...(I) + 1>& dtypes, char** data,
    const int64_t* strides, int64_t n0, int64_t n1, std::index_sequence<I...>) {
  constexpr size_t count = sizeof...(I) + 1;
  for (int64_t j = 0; j < n1; ++j) {
    for (int64_t i = 0; i < n0; ++i) {
      // Converted to scalar_t first, as in an output of that dtype: the sum of two bools is not 2.
      const auto value = static_cast<scalar_t>(fn(static_cast<compute_t<scalar_t>>(c10::fetch_and_cast<scalar_t>(
          dtypes[I + 1], data[I + 1] + j * strides[count + I + 1] + i * strides[I + 1]))...));
      c10::cast_and_store(dtypes[0], data[0] + j * strides[count] + i * strides[0], value);
    }
  }
}

/// The loop of an expression.
template <class scalar_t, class Fn>
struct Elementwise final : Loop {
  static constexpr size_t arity = Arity<Fn>::value;
  using Indices = std::make_index_sequence<arity>;

  explicit Elementwise(Fn what) : fn(std::move(what)) {}
  void run(char** data, const int64_t* strides, int64_t n0, int64_t n1) const override {
    LoopPointers<arity> in(order, count, data, strides);
    if (typed) {
      typed_loop<scalar_t>(fn, in.data.data(), in.strides.data(), n0, n1, numbers, Indices{});
    } else {
      casting_loop<scalar_t>(fn, dtypes, in.data.data(), in.strides.data(), n0, n1, Indices{});
    }
  }

  Fn fn;
  Numbers numbers = 0;
  uint8_t count = 0;  // of the iterator's operands
  bool typed = true;
  Order<arity> order{};
  std::array<at::ScalarType, arity + 1> dtypes{};
};

}  // namespace detail

/// output = fn(inputs...) for each element; `iter` has one output, and `inputs` says which operand each parameter
/// of `fn` is, a compute_t<scalar_t>. scalar_t is the type computed in: iter.common_dtype(), or iter.dtype().
template <class scalar_t, class Fn>
void device_kernel(at::TensorIteratorBase& iter, Fn fn, const OperandOrder& inputs) {
  constexpr size_t arity = detail::Arity<Fn>::value;
  TORCH_INTERNAL_ASSERT(iter.noutputs() == 1 && inputs.size() == arity);
  auto loop = std::make_unique<detail::Elementwise<scalar_t, Fn>>(std::move(fn));
  loop->count = static_cast<uint8_t>(iter.ntensors());
  for (size_t i = 0; i <= arity; ++i) {
    const size_t operand = i == 0 ? 0 : inputs[i - 1];
    const int index = static_cast<int>(operand);
    loop->order[i] = static_cast<uint8_t>(operand);
    loop->dtypes[i] = iter.dtype(index);
    // A number given beside tensors of the device is converted before the loop.
    const bool number = i != 0 && iter.device_type() != at::kCPU && iter.device_type(index) == at::kCPU;
    loop->numbers |= number ? 1U << (i - 1) : 0U;
    loop->typed = loop->typed && (number || loop->dtypes[i] == c10::CppTypeToScalarType<scalar_t>::value);
  }
  const ConvertNumber convert = loop->typed ? &detail::convert_number<scalar_t> : nullptr;
  for_each(iter, std::unique_ptr<Loop>(std::move(loop)), convert);
}

/// The same for an iterator whose inputs are the parameters of `fn`, one by one.
template <class scalar_t, class Fn>
void device_kernel(at::TensorIteratorBase& iter, Fn fn) {
  OperandOrder inputs;
  for (int i = iter.noutputs(); i < iter.ntensors(); ++i) {
    inputs.push_back(static_cast<size_t>(i));
  }
  device_kernel<scalar_t>(iter, fn, inputs);
}

bool any_complex(at::ArrayRef<at::Tensor> tensors);

/// The iterator of an elementwise operator: inputs are broadcast and promoted, `out` is resized, or allocated
/// if it is undefined. `floating`: integers are computed as the default floating type. Throws c10::Error if
/// they don't fit.
at::TensorIterator elementwise_iterator(
    const at::Tensor& out, at::ArrayRef<at::Tensor> inputs, bool floating);

/// The same for an operator whose result is true or false: inputs are promoted among themselves, the result is bool,
/// or what `out` is.
at::TensorIterator comparison_iterator(const at::Tensor& out, at::ArrayRef<at::Tensor> inputs);

}  // namespace openreg::native
