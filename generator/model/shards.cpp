#include "model/shards.h"

#include "diag/text.h"

#include <algorithm>

namespace openreg_gen {

void Shard::print(Fields out) const {
  out("id", id)("kernels", kernels);
  headers.print(out);
  for (const auto& [strategy, its] : places) out(strategy.c_str(), its);
}

std::vector<Shard> register_shards(const Listed& listed, Strategy::Registers where) {
  std::map<std::string, Shard> shards;
  std::map<std::string, std::vector<std::size_t>> none;
  for (const Strategy& strategy : all_strategies())
    if (strategy.registers == where) none[std::string(strategy.word)];
  for (const Strategy& strategy : all_strategies()) {
    if (strategy.registers != where) continue;
    const auto& items = listed.of(strategy.word);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const OpItem& op = *items[i];
      const auto first = std::min(op.base.find_first_not_of('_'), op.base.size() - 1);
      const std::string id(1, to_lower(op.base[first]));
      Shard& shard = shards.try_emplace(id, Shard{id, {}, false, none}).first->second;
      shard.places[std::string(strategy.word)].push_back(i);
      shard.headers.add(op, op.ops_header);
      shard.headers.add(op, op.native_header);
      shard.kernels = shard.kernels || strategy.runs != Strategy::Runs::Fallback;
    }
  }
  std::vector<Shard> out;
  for (auto& [id, shard] : shards) out.push_back(std::move(shard));
  return out;
}

}  // namespace openreg_gen
