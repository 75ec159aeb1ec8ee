// What a file of registrations includes.
#pragma once

#include "strategy/item.h"

#include <set>
#include <string>

namespace openreg_gen {

/// `headers`, `guarded_headers`, which not each supported release of PyTorch has, and `limited`, whether the file
/// registers an operator for some releases alone.
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

}  // namespace openreg_gen
