#include "spec/names.h"

#include "diag/text.h"

namespace openreg_gen {
std::string camel_case(std::string_view name) {
  std::string out;
  bool start = true;
  for (char c : name) {
    if (c == '_') {
      start = true;
      continue;
    }
    out += start ? to_upper(c) : c;
    start = false;
  }
  return out;
}

std::string lower_camel_case(std::string_view name) {
  std::string out = camel_case(name);
  if (!out.empty()) out[0] = to_lower(out[0]);
  return out;
}

}  // namespace openreg_gen
