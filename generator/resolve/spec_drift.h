// What another PyTorch would break in a spec. Pure, except that it reads the lists of `@model:FILE`.
#pragma once

#include "catalog/drift.h"
#include "spec/spec.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// One operator of the spec.
struct EntryDrift {
  std::string op;
  Location at;            // of its entry
  std::string strategy;   // as in the spec; "amp" for an operator that only an autocast rule names
  std::string selection;  // the entry that brought it; empty if it was named
  OpDrift drift;
  std::string left;                 // why the spec, as it stands, leaves it out there; empty if it does not
  std::vector<std::string> broken;  // what else has to be done something about
  bool schema_broke = false;        // its schema changed, and it has no other entry there
  /// False: regenerating is enough.
  bool breaks() const { return schema_broke || !broken.empty(); }
};

struct SpecDrift {
  std::vector<EntryDrift> ops;  // in the spec's order, those of autocast rules last
  struct NewInSet {
    SpecValue<std::string> entry;
    std::vector<std::string> ops;  // what the selection would bring in addition
  };
  std::vector<NewInSet> added;
  std::vector<Diagnostic> selections;  // errors of selections there, such as a glob that matches nothing any more
  std::size_t breaks() const;          // operators and selections that break
};

/// `spec` is without errors with `before`.
SpecDrift compare_spec(const Spec& spec, const Catalog& before, const Catalog& after);

}  // namespace openreg_gen
