// A backend that exists as a spec: runs the programs of openreg_gen.adopt, and gives them what only the catalogue
// knows.
#pragma once

#include "cli/invocation.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

struct AdoptOptions {
  std::string name, package;         // of the new backend; the module that registers the old one
  std::vector<std::string> sources;  // folders of the old backend
  std::string facts;                 // a file that `openreg_gen.adopt.read` wrote, in place of running the backend
  bool calls = false;                // also call interfaces, for the report
};

/// A folder that goes with the run.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// What a backend becomes: the plan that `openreg_gen.adopt.write` made.
class Adoption {
 public:
  std::string spec() const { return plan_.at("spec"); }
  std::string report() const { return plan_.at("report"); }
  bool has_port() const { return plan_.at("port"); }
  /// Of --json: everything but the texts.
  nlohmann::json summary() const;
  /// Moves the owner's kernels into the tree. The exit code of the program, which has said what is wrong.
  Exit place(const fs::path& tree) const;

 private:
  friend std::optional<Adoption> adopt(Invocation& call, const AdoptOptions& options, Exit& exit);
  std::shared_ptr<TemporaryFolder> folder_;
  nlohmann::json plan_;
};

/// None if a program of Python failed, which it has reported; `exit` is its code.
std::optional<Adoption> adopt(Invocation& call, const AdoptOptions& options, Exit& exit);

}  // namespace openreg_gen
