#include "model/ops_shards.h"

#include "diag/text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace openreg_gen {

using nlohmann::json;

json register_shards(const json& ops, const std::vector<std::string>& strategies) {
  std::map<std::string, json> shards;
  for (const std::string& strategy : strategies) {
    for (std::size_t i = 0; i < ops[strategy].size(); ++i) {
      const json& op = ops[strategy][i];
      const auto base = op["base"].get<std::string>();
      const auto first = std::min(base.find_first_not_of('_'), base.size() - 1);
      const std::string id(1, to_lower(base[first]));
      json& shard = shards[id];
      if (shard.is_null()) {
        shard["id"] = id;
        for (const std::string& name : strategies) shard[name] = json::array();
      }
      shard[strategy].push_back(i);
    }
  }
  json out = json::array();
  for (auto& [id, shard] : shards) {
    std::set<std::string> headers;
    for (const std::string& strategy : strategies) {
      for (const json& i : shard[strategy]) {
        const json& op = ops[strategy][i.get<std::size_t>()];
        headers.insert(op["ops_header"]);
        if (strategy == "stub") headers.insert(op["native_header"]);
      }
    }
    shard["headers"] = headers;
    shard["kernels"] = std::ranges::any_of(
        strategies, [&](const std::string& name) { return name != "cpu_fallback" && !shard[name].empty(); });
    out.push_back(std::move(shard));
  }
  return out;
}

}  // namespace openreg_gen
