// How registrations are spread over files.
#pragma once

#include "spec/strategy.h"
#include "strategy/headers.h"

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

/// A file of registrations: what it includes, whether it has functions of its own, and by each strategy the places of
/// its operators in that strategy's list.
struct Shard {
  std::string id;
  Headers headers;
  bool kernels = false;
  std::map<std::string, std::vector<std::size_t>> places;
  void print(Fields out) const;
};

/// A file for each first letter of the operators' names, so that a new one touches few others. A file's name depends on
/// its operators alone, never on what else there is.
std::vector<Shard> register_shards(const Listed& listed, Strategy::Registers where);

}  // namespace openreg_gen
