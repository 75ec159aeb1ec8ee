// How registrations are spread over files, and for which releases of PyTorch they hold.
#pragma once

#include "spec/spec.h"
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

/// Of the releases that the spec is for, those from `since` to `until` (empty: no bound) that declare the operator.
ReleaseGuard release_guard(std::string_view op, const Spec& spec, std::string_view since = {},
                           std::string_view until = {});

}  // namespace openreg_gen
