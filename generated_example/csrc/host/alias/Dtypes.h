// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <type_traits>

#include <ATen/TensorIterator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <c10/core/Scalar.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include "host/Call.h"
#include "runtime/Export.h"

// Note [Dtypes that a function of the CPU takes]
// Functions behind a DispatchStub refuse dtypes by throwing when they run: here on the device,
// long after the call. So each is checked first: the first call with a combination of dtypes runs it on the calling thread,
// on an empty iterator (for a reduction: one element), which costs a microsecond or two. If it throws
// c10::NotImplementedError, so does the call. A number that the dtype can't hold is checked each time.
// Functions that take tensors can't be checked this way. They also check for overlapping memory. So the first call with a
// combination of dtypes waits for the function, and so does each with tensors that overlap others or themselves, or with a number
// that the first one's dtype can't hold; the call then throws the function's exception.

namespace openreg::native::detail {

/// What decides whether a function takes a call: the dtypes of its tensors, the kinds of its numbers, its names. All of it, not
/// a hash, as another combination of the same hash would be taken for a known one.
class CallKind {
 public:
  void add(uint8_t byte) {
    if (size_ < kLongest) {
      bytes_[size_] = byte;
    }
    size_ = std::min<uint8_t>(size_ + 1, kLongest + 1);
  }
  void add(at::ScalarType dtype) { add(static_cast<uint8_t>(dtype)); }
  void add(std::string_view name) {
    std::for_each(name.begin(), name.end(), [this](char letter) { add(static_cast<uint8_t>(letter)); });
    add(uint8_t{0});
  }
  /// Whether it holds all that was added.
  bool complete() const { return size_ <= kLongest; }
  bool operator==(const CallKind&) const = default;

 private:
  static constexpr uint8_t kLongest = 31;
  std::array<uint8_t, kLongest> bytes_{};
  uint8_t size_ = 0;
};

/// The kinds of calls that a function is known to take. Threads: any.
class AcceptedCalls {
 public:
  /// False of one that is not complete.
  bool has(const CallKind& kind) const;
  void add(const CallKind& kind);

 private:
  std::atomic<const CallKind*> last_{nullptr};  // the one added last: most functions see one alone
  mutable std::mutex mutex_;
  std::deque<CallKind> all_;  // stay where they are
};

/// Adds the dtypes of an iterator's operands and their common one.
void add_dtypes(CallKind& kind, const at::TensorIteratorBase& iter);

/// An iterator of the CPU over operands of the same dtypes (of the common one, if `promotes`), without elements; of a
/// reduction, with one.
at::TensorIterator iterator_over_nothing(at::TensorIteratorBase& like, bool promotes);

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, c10::Scalar>;
template <class T>
inline constexpr bool is_number<std::optional<T>> = is_number<T>;

template <class... Params>
inline constexpr bool tells_dtypes = false;
/// An iterator and numbers: what they are decides nothing else.
template <class First, class... Rest>
inline constexpr bool tells_dtypes<First, Rest...> =
    std::is_base_of_v<at::TensorIteratorBase, std::decay_t<First>> && (is_number<std::decay_t<Rest>> && ...);

/// Adds what kind of number is given, since a complex one, say, is refused where a real one is not; of a name (gelu's
/// `approximate`), which; nothing if there is but one kind.
template <class T>
void add_kind(CallKind& kind, const T& value) {
  if constexpr (std::is_same_v<T, c10::Scalar>) {
    kind.add(value.type());
  } else if constexpr (std::is_same_v<T, std::optional<c10::Scalar>>) {
    kind.add(value.has_value() ? value->type() : at::ScalarType::Undefined);
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    kind.add(std::string_view(value));
  }
}

/// fits() of an argument: everything but a c10::Scalar does.
template <class T>
bool converts(const T& value, at::ScalarType dtype) {
  if constexpr (std::is_same_v<T, c10::Scalar>) {
    return fits(value, dtype);
  } else if constexpr (std::is_same_v<T, std::optional<c10::Scalar>>) {
    return !value.has_value() || fits(*value, dtype);
  } else {
    return true;
  }
}

/// Throws c10::NotImplementedError if `fn` does not take the dtypes of `iter`, and what it throws about a number that
/// they cannot hold.
template <class Fn, class... Numbers>
void check_dtypes(
    AcceptedCalls& taken, bool promotes, const Fn& fn, at::TensorIteratorBase& iter, const Numbers&... numbers) {
  if (iter.ntensors() == 0) {
    return;
  }
  CallKind kind;
  add_dtypes(kind, iter);
  (add_kind(kind, numbers), ...);
  const at::ScalarType own = iter.dtype(0);
  [[maybe_unused]] const at::ScalarType common = iter.maybe_common_dtype().value_or(own);
  const bool all_fit = ((converts(numbers, own) && (common == own || converts(numbers, common))) && ...);
  if (all_fit && taken.has(kind)) {
    return;
  }
  at::TensorIterator nothing = iterator_over_nothing(iter, promotes);
  try {
    fn(nothing, numbers...);
  } catch (const c10::NotImplementedError&) {
    throw;
  } catch (const c10::Error&) {  // something else about these numbers: the real call reports it, unless it cannot do better
    if (!all_fit) {
      throw;
    }
    return;
  }
  if (all_fit) {
    taken.add(kind);
  }
}

template <class T>
inline constexpr bool holds_tensors = std::is_base_of_v<at::TensorIteratorBase, std::decay_t<T>> || std::is_same_v<std::decay_t<T>, at::TensorList> ||
    std::is_same_v<std::decay_t<T>, at::ITensorListRef> ||
    std::is_same_v<std::decay_t<T>, c10::List<std::optional<at::Tensor>>>;
/// Tensors, each a parameter of its own.
template <class... Params>
inline constexpr bool takes_tensors = (is_tensor<Params> || ...) && !(holds_tensors<Params> || ...);

/// Whether elements of one of the device's tensors are elements of another one, or twice its own.
bool overlap(c10::ArrayRef<const at::TensorBase*> tensors);

}  // namespace openreg::native::detail
