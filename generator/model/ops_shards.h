// How registrations are spread over files.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace openreg_gen {

/// Registrations, a file for each first letter of the operators' names, so that a new one touches few others: {id,
/// headers, kernels (whether it has functions of its own), and by each of `strategies` the places of its operators in
/// that list of `ops`}. `ops` is operators_model()'s. A file's name depends on its operators alone, never on what else
/// there is.
nlohmann::json register_shards(const nlohmann::json& ops, const std::vector<std::string>& strategies);

}  // namespace openreg_gen
