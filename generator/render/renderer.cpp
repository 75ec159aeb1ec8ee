#include "render/renderer.h"

#include "diag/failure.h"
#include "render/child.h"
#include "render/python.h"
#include "render/sha256.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// Adds a member to the text of an object. Contexts are megabytes: they go into the text without a copy as JSON.
void add_jobs(std::string& object, const std::vector<RenderJob>& jobs) {
  object.back() = ',';
  object += R"("jobs":[)";
  for (const RenderJob& job : jobs) {
    if (&job != &jobs.front()) object += ',';
    object += fmt::format(R"({{"template":{},"user":{},"context":{}}})", json(job.template_name).dump(), job.user,
                          job.context.dump());
  }
  object += "]}";
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

[[noreturn]] void fail(const json& error, const std::string& user_folder) {
  const std::string kind = error.at("kind");
  const std::string code = kind == "missing" || kind == "undefined" ? "E0601" : kind == "syntax" ? "E0602" : "E0603";
  const int line = error.at("line");
  const std::string place = error.at("template").get<std::string>() + (line ? fmt::format(":{}", line) : "");
  if (error.value("user", false)) {
    const bool name = kind == "missing" || kind == "undefined";
    throw Failure(Exit::BadInput, name ? "E0610" : "E0611",
                  fmt::format("{}/{}: {}", user_folder, place, error.at("message").get<std::string>()),
                  name ? "docs/templates.md says what a template sees" : "");
  }
  throw Failure(Exit::Internal, code, fmt::format("templates/{}: {}", place, error.at("message").get<std::string>()),
                "this is a fault of openreg-gen: please report it");
}

}  // namespace

std::string hash_request(const RenderRequest& request) {
  Sha256 hash;
  hash.add(request.templates_hash);
  hash.add(request.globals.dump());
  for (const auto& [name, text] : request.user)
    hash.add(json{name, text}.dump(-1, ' ', false, json::error_handler_t::replace));
  for (const std::string& glob : request.left_out) hash.add('\n' + glob);
  return hash.hex();
}

struct Renderer::Impl {
  DataDir data;
  std::vector<std::filesystem::path> pythons;
  std::size_t at = 0;
  std::unique_ptr<Child> child;

  void start() {
    // -X utf8: the locale decides nothing. PYTHONPATH and user packages stay: Jinja2 may be there.
    child = std::make_unique<Child>(std::vector<std::string>{pythons[at], "-X", "utf8", data.renderer});
  }
};

Renderer::Renderer(DataDir data) : impl_(std::make_unique<Impl>()) {
  impl_->data = std::move(data);
  impl_->pythons = python_candidates();
  if (impl_->pythons.empty()) {
    throw Failure(Exit::Environment, "E0605", "there is no Python to render with",
                  "activate an environment that has Jinja2, or set OPENREG_GEN_PYTHON to its interpreter");
  }
  impl_->start();
}

Renderer::~Renderer() = default;

std::vector<std::string> Renderer::render(const RenderRequest& request) {
  json caches = json::array({impl_->data.templates.parent_path().string()});
  if (const auto cache = cache_dir(); !cache.empty()) {
    caches.push_back(cache.string());
  } else {
    caches = json::array();
  }
  std::string text = json{
      {"templates", impl_->data.templates.string()},
      {"hash", request.templates_hash},
      {"caches", std::move(caches)},
      {"globals", request.globals},
      {"user",
       request.user}}.dump();
  add_jobs(text, request.jobs);
  std::string without_jinja;
  for (;;) {
    const std::string python = impl_->pythons[impl_->at].string();
    const Child::Result result = impl_->child->talk(text);
    json answer = json::parse(result.output, nullptr, false);
    if (answer.is_discarded() || !answer.is_object()) {
      throw Failure(Exit::Environment, "E0607",
                    fmt::format("{} ended without an answer: {}", python,
                                result.errors.empty() ? "it said nothing" : last_line(result.errors)),
                    "check that this Python starts; OPENREG_GEN_PYTHON names another");
    }
    if (!answer.contains("error")) {
      auto outputs = answer.at("outputs").get<std::vector<std::string>>();
      if (outputs.size() != request.jobs.size()) {
        throw Failure(Exit::Internal, "E0607", "the renderer answered another number of files than was asked for");
      }
      return outputs;
    }
    if (answer["error"].at("kind") != "jinja2") fail(answer["error"], request.user_folder);
    without_jinja += (without_jinja.empty() ? "" : ", ") + python;
    if (++impl_->at == impl_->pythons.size()) {
      throw Failure(Exit::Environment, "E0606", "Jinja2 is not installed for " + without_jinja, "pip install jinja2");
    }
    impl_->start();
  }
}

}  // namespace openreg_gen
