#include "catalog/served_forms.h"

namespace openreg_gen {

std::vector<std::string> served_forms(const Op& op, const Catalog& catalog) {
  std::vector<std::string> served;
  for (const std::string& name : op.variants) {
    const Op* form = catalog.find(name);
    if (form == nullptr || op.has_default) continue;  // with two defaults it is unknown which ends in which
    const bool delegates = form->structured_delegate == op.name;
    if (delegates || (form->has_default && form->structured_delegate.empty())) served.push_back(name);
  }
  return served;
}

}  // namespace openreg_gen
