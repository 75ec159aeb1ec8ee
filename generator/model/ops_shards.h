// How registrations are spread over files.
#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace openreg_gen {

/// What a file of registrations includes: `headers`, `guarded_headers`, which not each supported release of PyTorch
/// has, and `limited`, whether it registers an operator for some releases alone.
class ShardHeaders {
 public:
  /// The header that member `which` of an operator's item names.
  void add(const nlohmann::json& op, const char* which);
  void add(const std::string& header) { plain_.insert(header); }
  void write(nlohmann::json& file) const;

 private:
  std::set<std::string> plain_, guarded_;
  bool limited_ = false;
};

/// Registrations, a file for each first letter of the operators' names, so that a new one touches few others: {id,
/// what ShardHeaders has, kernels (whether it has functions of its own), and by each of `strategies` the places of its
/// operators in that list of `ops`}. `ops` is operators_model()'s. A file's name depends on its operators alone, never
/// on what else there is.
nlohmann::json register_shards(const nlohmann::json& ops, const std::vector<std::string>& strategies);

}  // namespace openreg_gen
