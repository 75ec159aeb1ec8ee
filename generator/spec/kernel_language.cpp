#include "spec/kernel_language.h"

namespace openreg_gen {

std::span<const KernelLanguage> kernel_languages() {
  static const KernelLanguage all[] = {opencl_c()};
  return all;
}

const KernelLanguage* find_kernel_language(std::string_view word) {
  return find_by(kernel_languages(), word, &KernelLanguage::word);
}

}  // namespace openreg_gen
