// What `check --against` says of a tree's own sources: see api/compare.h.
#pragma once

#include "api/compare.h"
#include "system/files.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace openreg_gen {

/// What --against names: a PyTorch, its headers alone, or its declarations alone.
struct OtherTorch {
  fs::path torch;       // empty: there are headers alone
  fs::path headers;     // empty: there are none
  std::string version;  // by the headers; empty: not known
};
/// Throws Failure(Environment, E0401 or E0405) if it is nothing of that.
OtherTorch find_other_torch(const std::string& dir);

/// Why C++ and Python were not compared, or what differs.
struct ApiAnswer {
  std::optional<api::ApiDrift> drift;
  std::string not_compared;
  std::string before, after;  // releases
  std::size_t breaks() const { return drift ? drift->breaks() : 0; }
};

/// Of the sources of the tree in `root`; empty without a tree.
ApiAnswer compare_api(const fs::path& root, const fs::path& torch, const OtherTorch& other);

std::string api_text(const ApiAnswer& answer, const fs::path& root, bool colour);
nlohmann::ordered_json api_json(const ApiAnswer& answer);

}  // namespace openreg_gen
