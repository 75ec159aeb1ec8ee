// One operator as templates see it, in finished C++ texts. A strategy derives its own struct from OpItem; each struct
// prints itself with one list of its fields.
#pragma once

#include "catalog/catalog.h"
#include "spec/spec.h"
#include "texts/fields.h"
#include "texts/ops_texts.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// The PyTorch releases for which an operator is registered, if not all of the spec's.
struct ReleaseGuard {
  std::string when;      // "MINE_TORCH_RELEASE >= 214"; empty: for all
  std::string releases;  // "((2, 14), (2, 14))", as Python has it
  void print(Fields out) const { PRINT_FIELDS(out, when, releases); }
};

/// Additions of a structured operator: the calls of meta() and impl(), and its other forms. `body_params`: parameters
/// of impl(), with the outputs only as maybe_get_output().
struct StructuredTexts {
  struct Form {
    std::string op, ops_struct;
    void print(Fields out) const { out("op", op)("struct", ops_struct); }
  };
  std::string meta_header, meta_struct, meta_args, stub_impl_args, impl_params, impl_params_unnamed, detour_args,
      run_params, run_args, body_params;
  bool precomputed = false;
  std::vector<std::string> check_tensors;
  std::vector<Form> functional_forms, in_place_forms;
  void print(Fields out) const;
};

struct OpItem {
  explicit OpItem(const Op& op);
  virtual ~OpItem() = default;

  std::string op, id, file, base, ops_struct, schema, ops_header, returns, params, args, guard, out_args, return_value;
  bool in_place = false, structured = false;
  std::vector<std::string> outs;
  std::optional<StructuredTexts> calls;  // of a structured operator whose strategy shows them
  std::optional<ReleaseGuard> releases;

  // Not for templates.
  std::string list;           // of `ops`, where its strategy has several; else the strategy's first
  std::string native_header;  // of PyTorch's own kernel, where that is called
  std::string stub;           // the DispatchStub that it serves

  /// It returns a new tensor that is not an argument.
  bool functional() const { return outs.empty() && return_value == kNothing; }
  static constexpr std::string_view kNothing = "{}";

  virtual void print(Fields out) const;
  /// The C++ function that an owner writes for it: "at::Tensor relu(const at::Tensor& self)".
  virtual std::string signature() const;
};

/// The operators that templates see, by list, and those of strategies without a list.
using OpLists = std::map<std::string, std::vector<std::unique_ptr<OpItem>>, std::less<>>;

/// Of what the operators are shown.
struct SpecView {
  const Spec& spec;
  const Catalog& catalog;
  const DeviceKernels& kernels;
  std::set<std::string_view> registered;  // operators with their own kernel: those of the spec, and the minimal set

  StructuredTexts structured(const Op& op) const;
  /// PyTorch's own kernel of the operator: its C++ name, and its header into `item`.
  std::string kernel(const Op& op, OpItem& item) const;
  /// Whether calls that a kernel does not take fall back.
  bool falls_back(const OpSpec& entry) const;
  /// An expression in the device's language; empty if it has none.
  std::string device_text(const Expr& expr) const { return kernels ? kernels.language->print(expr) : std::string(); }
};

/// The includes of a file of registrations: `headers`; `guarded_headers`, which only some supported releases of PyTorch
/// have; and `limited`, whether the file registers an operator only for some releases.
class Headers {
 public:
  /// A header that an operator needs; it may need none.
  void add(const OpItem& op, const std::string& header);
  void add(const std::string& header) { plain_.insert(header); }
  void print(Fields out) const;

 private:
  std::set<std::string> plain_, guarded_;
  bool limited_ = false;
};

/// A strategy's data about all its operators together.
struct StrategySummary {
  const OpLists& lists;
  Fields out;  // of globals["ops"]
  const std::vector<std::unique_ptr<OpItem>>& of(std::string_view list) const;
};

/// What a kernel for some dtypes does with other dtypes.
struct DtypeTexts {
  std::string dispatch, takes, other_dtypes;  // other_dtypes: how it calls the CPU kernel; empty: an error
  DtypeTexts(const SpecView& shown, const OpSpec& entry, const OpItem& item);
  void print(Fields out) const { PRINT_FIELDS(out, dispatch, takes, other_dtypes); }
};

std::vector<std::string> dtype_names(const OpSpec& entry);

/// The column of a byte of an expression.
Location place_in(const SpecValue<Expr>& expr, std::size_t offset, const Spec& spec);
/// Reports operators that one of the entry's dtypes lacks; the compiler's error would be far from the spec.
void check_dtypes(const Spec& spec, const OpSpec& op, const SpecValue<Expr>& expr, Diagnostics& diagnostics,
                  const std::function<bool(const std::string&)>& is_element);

/// The enumerator of FallbackKind in the emitted host/Fallback.h.
std::string fallback_enumerator(FallbackKind kind);
/// The boxed function by which an operator falls back.
std::string detour_function(const OpSpec& entry);

}  // namespace openreg_gen
