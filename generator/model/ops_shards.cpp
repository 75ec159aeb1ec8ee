#include "model/ops_shards.h"

#include "releases/releases.h"
#include "diag/text.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

namespace openreg_gen {

using nlohmann::json;

void ShardHeaders::add(const json& op, const char* which) {
  const std::string& header = op[which].get_ref<const std::string&>();
  (find_op_release(op["op"].get_ref<const std::string&>()) ? guarded_ : plain_).insert(header);
  limited_ = limited_ || !op["when"].get_ref<const std::string&>().empty();
}

void ShardHeaders::write(json& file) const {
  std::set<std::string> guarded;
  std::ranges::set_difference(guarded_, plain_, std::inserter(guarded, guarded.end()));
  file["headers"] = plain_;
  file["guarded_headers"] = guarded;
  file["limited"] = limited_;
}

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
    ShardHeaders headers;
    for (const std::string& strategy : strategies) {
      for (const json& i : shard[strategy]) {
        const json& op = ops[strategy][i.get<std::size_t>()];
        headers.add(op, "ops_header");
        if (strategy == "stub") headers.add(op, "native_header");
      }
    }
    headers.write(shard);
    shard["kernels"] = std::ranges::any_of(
        strategies, [&](const std::string& name) { return name != "cpu_fallback" && !shard[name].empty(); });
    out.push_back(std::move(shard));
  }
  return out;
}

}  // namespace openreg_gen
