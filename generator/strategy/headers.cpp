#include "strategy/headers.h"

#include "releases/releases.h"

#include <algorithm>
#include <iterator>

namespace openreg_gen {

void Headers::add(const OpItem& op, const std::string& header) {
  if (!header.empty()) (find_op_release(op.op) ? guarded_ : plain_).insert(header);
  limited_ = limited_ || !op.releases->when.empty();
}

void Headers::print(Fields out) const {
  std::set<std::string> guarded;
  std::ranges::set_difference(guarded_, plain_, std::inserter(guarded, guarded.end()));
  out("headers", plain_)("guarded_headers", guarded)("limited", limited_);
}

}  // namespace openreg_gen
