#include "pipeline/component_sizes.h"

#include "diag/text.h"
#include "system/files.h"

#include <algorithm>

namespace openreg_gen {
namespace {

std::size_t two_digits(std::size_t number) {
  std::size_t unit = 1;
  while (number / unit >= 100) unit *= 10;
  return (number + unit / 2) / unit * unit;
}

}  // namespace

std::map<std::string, Size> component_sizes(const std::vector<Output>& outputs,
                                            const std::filesystem::path& templates) {
  std::map<std::string, Size> sizes;
  for (const Output& output : outputs) {
    if (!output.each.empty() || output.user) continue;
    Size& size = sizes[output.component];
    ++size.files;
    size.lines += static_cast<std::size_t>(
        std::ranges::count(try_read_file(templates / output.template_name).value_or(""), '\n'));
  }
  return sizes;
}

std::string with_sizes(std::string text, const std::map<std::string, Size>& sizes) {
  for (const auto& [name, size] : sizes) {
    replace_all(text, "@files:" + name + "@", std::to_string(size.files));
    replace_all(text, "@lines:" + name + "@", std::to_string(two_digits(size.lines)));
  }
  return text;
}

}  // namespace openreg_gen
