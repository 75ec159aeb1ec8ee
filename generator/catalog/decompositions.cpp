#include "catalog/decompositions.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace openreg_gen {

Decompositions read_decompositions(const fs::path& path) {
  const auto json = nlohmann::json::parse(try_read_file(path).value_or(""), nullptr, false);
  Decompositions read;
  try {
    json.at("ops").get_to(read.ops);
    json.at("torch").get_to(read.torch);
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return read;
}

OpTrace find_traced(const Op& op, const Catalog& catalog, const Decompositions& decompositions) {
  OpTrace traced;
  traced.torch = decompositions.torch;
  traced.composite = (op.composite_implicit || op.has_default) && op.structured_delegate.empty();
  const auto& calls = decompositions.ops;
  if (const auto own = calls.find(op.name); own != calls.end() && traced.composite) {
    traced.into = own->second;
    std::set<std::string> seen{op.name}, ends;
    const std::function<void(const std::string&)> follow = [&](const std::string& name) {
      if (!seen.insert(name).second) return;
      const auto at = calls.find(name);
      if (at == calls.end()) {
        ends.insert(name);
      } else {
        for (const std::string& next : at->second) follow(next);
      }
    };
    for (const std::string& name : traced.into) follow(name);
    if (!std::ranges::equal(ends, traced.into)) traced.ends_in.assign(ends.begin(), ends.end());
  }
  std::set<std::string> reached{op.name};
  for (const std::string& name : op.variants) {
    const Op* form = catalog.find(name);
    if (form && form->structured_delegate == op.name) reached.insert(name);
  }
  // One round a step away from the operator: direct callers first.
  for (std::set<std::string> last = reached; !last.empty();) {
    std::set<std::string> next;
    for (const auto& [name, made_of] : calls) {
      const bool calls_last =
          std::ranges::any_of(made_of, [&](const std::string& each) { return last.contains(each); });
      if (calls_last && reached.insert(name).second) next.insert(name);
    }
    traced.reached_from.insert(traced.reached_from.end(), next.begin(), next.end());
    last = std::move(next);
  }
  return traced;
}

}  // namespace openreg_gen
