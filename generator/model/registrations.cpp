#include "model/registrations.h"

#include "base/text.h"
#include "releases/releases.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

/// Operators of one letter that get a file of their own.
constexpr std::size_t kMany = 8;

char first_letter(const std::string& base) {
  return to_lower(base[std::min(base.find_first_not_of('_'), base.size() - 1)]);
}

}  // namespace

void Shard::print(Fields out) const {
  PRINT_FIELDS(out, file, kernels);
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

ReleaseGuard release_guard(std::string_view op, const Spec& spec, std::string_view since, std::string_view until) {
  const auto first = torch_release(*spec.torch.min), last = torch_release(*spec.torch.max);
  if (!first || !last) return {};
  TorchRelease from = torch_release(since).value_or(*first), to = torch_release(until).value_or(*last);
  if (const OpRelease* declared = find_op_release(op)) {
    from = std::max(from, torch_release(declared->since).value_or(from));
    to = std::min(to, torch_release(declared->until).value_or(to));
  }
  if (from <= *first && to >= *last) return {};
  const std::string name = upper_case(*spec.backend.name) + "_TORCH_RELEASE";
  std::string condition;
  if (from > *first) condition = fmt::format("{} >= {}", name, release_number(from));
  if (to < *last) condition += fmt::format("{}{} <= {}", condition.empty() ? "" : " && ", name, release_number(to));
  return {condition, fmt::format("(({}, {}), ({}, {}))", from.first, from.second, to.first, to.second)};
}

}  // namespace openreg_gen
