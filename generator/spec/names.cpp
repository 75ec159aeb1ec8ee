#include "spec/names.h"

namespace openreg_gen {
namespace {

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

std::string camel_case(std::string_view name) {
  std::string out;
  bool start = true;
  for (char c : name) {
    if (c == '_') {
      start = true;
      continue;
    }
    out += start ? upper(c) : c;
    start = false;
  }
  return out;
}

std::string lower_camel_case(std::string_view name) {
  std::string out = camel_case(name);
  if (!out.empty() && out[0] >= 'A' && out[0] <= 'Z') out[0] = static_cast<char>(out[0] - 'A' + 'a');
  return out;
}

std::string upper_case(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = upper(c);
  return out;
}

}  // namespace openreg_gen
