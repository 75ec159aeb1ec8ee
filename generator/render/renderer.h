// Model -> text, by Jinja2 in one Python child: one JSON request, one JSON answer.
#pragma once

#include "render/data_dir.h"
#include "system/child.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

struct RenderJob {
  std::string template_name;
  nlohmann::json context;
  bool user = false;      // of RenderRequest::user: rendered in the sandbox
  std::string each{};     // if not empty: `item` is one of this list of the globals, "ops.native"
  std::size_t index = 0;  // which
};

/// One run's request. Equal requests give equal texts.
struct RenderRequest {
  std::string templates_hash;
  std::string globals;  // what all templates see: an object, as JSON
  std::vector<RenderJob> jobs;
  std::string user_folder{};                  // for messages
  std::map<std::string, std::string> user{};  // the spec's own templates by name
};

/// SHA-256 in hex of the inputs of a tree: the request without the jobs, which follow from the rest.
std::string hash_request(const RenderRequest& request);

/// Starts Python when made, so that it loads Jinja2 while the spec is still being read, and renders once.
/// Not thread-safe. The child is killed with the object.
class Renderer {
 public:
  /// Throws Failure(Environment, E0605) if there is no Python.
  explicit Renderer(DataDir data);

  /// The texts, in the order of the jobs. Throws Failure: E0601 to E0603 template:line (a bug in openreg-gen), E0610
  /// and E0611 template:line of the user's templates (bad input), E0606 no Jinja2, E0607 the child died.
  std::vector<std::string> render(const RenderRequest& request);

 private:
  void start();
  DataDir data_;
  std::vector<fs::path> pythons_;
  std::size_t at_ = 0;  // which of them is tried
  std::optional<Child> child_;
};

}  // namespace openreg_gen
