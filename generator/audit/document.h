// The JSON of `python -m openreg_gen.audit`: facts about an installed backend, without judgement.
#pragma once

#include "diag/diagnostic.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace openreg_gen {

/// Where a kernel was registered: the file and line of its TORCH_LIBRARY_IMPL block, or of the Python call.
struct KernelPlace {
  std::string file;
  int line = 0;
  std::string text() const { return line == 0 ? file : file + ":" + std::to_string(line); }
};

struct RegisteredKernel {
  std::string op, key, kind;  // "aten::add.out", "PrivateUse1"; "typed", "boxed" or "fallthrough"
  KernelPlace at;
  bool active = true;  // false: a later registration took its place
};

/// What runs for an operator at the backend's key.
struct ServedOp {
  std::string how;  // "kernel", "boxed", "default", "math", "fallback", "fallthrough", "none"
  KernelPlace at;
};

struct ProbedInterface {
  std::string group, name, verdict, message, needs, provide;
};

/// The dtypes that an operator took in one of PyTorch's samples, and those that it refused, with the error's text. If
/// it took none: the shapes of the first tensors that it refused.
struct OpDtypes {
  std::vector<std::string> takes, shapes;
  std::vector<std::pair<std::string, std::string>> refuses;
};

/// An operator, or all overloads of a name, whose samples ended at an operator without a kernel.
struct Wait {
  std::string op, needs;
};

/// A sample that crashed its process, or did not end.
struct DeadSample {
  std::string sample, verdict, message;
};

struct AuditDocument {
  std::string device, key, torch, torch_dir, package, date;  // package: "torch_mine 0.1", or empty
  double seconds = 0;
  std::vector<std::string> provides;  // members of torch.NAME._workbench
  std::vector<RegisteredKernel> registrations;
  std::vector<RegisteredKernel> fallbacks;  // of the keys themselves: `op` is empty
  std::map<std::string, ServedOp, std::less<>> ops;
  std::vector<ProbedInterface> interfaces;
  std::map<std::string, OpDtypes, std::less<>> dtypes;
  std::vector<DeadSample> deaths;
  std::vector<Wait> waits;
  std::set<std::string, std::less<>> on_device;  // fallen-back factories whose result was on the device
};

/// Reads the document. Errors are appended to `diagnostics` with their place in `file`: E0570, E0571.
std::optional<AuditDocument> parse_audit(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace openreg_gen
