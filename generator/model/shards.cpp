#include "model/shards.h"

#include "diag/text.h"

#include <algorithm>

namespace openreg_gen {
namespace {

/// Operators of one letter that get a file of their own.
constexpr std::size_t kMany = 8;

char first_letter(const std::string& base) {
  return to_lower(base[std::min(base.find_first_not_of('_'), base.size() - 1)]);
}

}  // namespace

void Shard::print(Fields out) const {
  out("file", file)("kernels", kernels);
  headers.print(out);
  for (const auto& [strategy, its] : places) out(strategy.c_str(), its);
}

std::vector<Shard> register_shards(const Listed& listed, Strategy::Registers where) {
  const std::string name = where == Strategy::Registers::Native ? "RegisterNative" : "RegisterStructured";
  std::map<std::string, Shard> shards;
  std::map<std::string, std::vector<std::size_t>> none;
  std::map<char, std::size_t> of_letter;
  for (const Strategy& strategy : all_strategies()) {
    if (strategy.registers != where) continue;
    none[std::string(strategy.word)];
    for (const auto& op : listed.of(strategy.word)) ++of_letter[first_letter(op->base)];
  }
  for (const Strategy& strategy : all_strategies()) {
    if (strategy.registers != where) continue;
    const auto& items = listed.of(strategy.word);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const OpItem& op = *items[i];
      const char letter = first_letter(op.base);
      const std::string file = of_letter[letter] < kMany ? name : name + "_" + letter;
      Shard& shard = shards.try_emplace(file, Shard{file, {}, false, none}).first->second;
      shard.places[std::string(strategy.word)].push_back(i);
      shard.headers.add(op, op.ops_header);
      shard.headers.add(op, op.native_header);
      shard.kernels = shard.kernels || strategy.runs != Strategy::Runs::Fallback;
    }
  }
  std::vector<Shard> out;
  for (auto& [file, shard] : shards) out.push_back(std::move(shard));
  return out;
}

}  // namespace openreg_gen
