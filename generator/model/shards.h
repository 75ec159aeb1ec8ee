// How registrations are spread over files.
#pragma once

#include "spec/strategy.h"
#include "strategy/item.h"

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

/// A file of registrations: what it includes, whether it has functions of its own, and by each strategy the places of
/// its operators in that strategy's list.
struct Shard {
  std::string file;  // "RegisterNative", "RegisterNative_s"
  Headers headers;
  bool kernels = false;
  std::map<std::string, std::vector<std::size_t>> places;
  void print(Fields out) const;
};

/// One file, and one more for each first letter that many operators have. Where an operator is depends on those of its
/// letter alone: a new one touches one file, or two, once, when its letter has become many.
std::vector<Shard> register_shards(const Listed& listed, Strategy::Registers where);

}  // namespace openreg_gen
