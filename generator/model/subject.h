// What the files of a list of the model are about.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

/// Of one item of a list.
struct Subject {
  std::string id;         // "aten::relu", "mybackend::custom_abs"
  std::string signature;  // the function that an owned file of it defines: "at::Tensor relu(const at::Tensor& self)"
};
/// By the list's name, "ops.native", in its order. Lists that are not about operators have none.
using Subjects = std::map<std::string, std::vector<Subject>, std::less<>>;

}  // namespace openreg_gen
