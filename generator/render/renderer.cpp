#include "render/renderer.h"

#include "diag/failure.h"
#include "system/python.h"
#include "system/sha256.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// The globals are megabytes: they go in as they are.
std::string request_text(const RenderRequest& request, const DataDir& data) {
  json jobs = json::array();
  for (const RenderJob& job : request.jobs) {
    jobs.push_back({{"template", job.template_name}, {"user", job.user}, {"context", job.context}});
    if (!job.each.empty()) jobs.back()["item"] = {job.each, job.index};
  }
  json compiled = json::array();  // of an installation, of a build
  for (const fs::path& place : {data.renderer, executable_path()})
    compiled.push_back((place.parent_path() / "compiled").string());
  const json rest{{"templates", data.templates.string()},
                  {"workbench", data.workbench.string()},
                  {"compiled", std::move(compiled)},
                  {"jobs", std::move(jobs)},
                  {"user", request.user}};
  return fmt::format(R"({{"globals":{},{})", request.globals, rest.dump().substr(1));
}

/// The answer's first line is JSON; the texts follow it, with the sizes that it gives. Null for any other output.
json first_line(const std::string& answer) {
  const std::size_t end = answer.find('\n');
  return end == std::string::npos ? json() : json::parse(answer.begin(), answer.begin() + end, nullptr, false);
}

/// Nothing if they are not as long as announced.
std::vector<std::string> texts_behind(const std::string& answer, const json& sizes) {
  std::vector<std::string> texts;
  std::size_t at = answer.find('\n') + 1;
  for (const json& size : sizes) {
    const auto bytes = size.get<std::size_t>();
    if (bytes > answer.size() - at) return {};
    texts.push_back(answer.substr(at, bytes));
    at += bytes;
  }
  return texts;
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
  if (error.at("user").get<bool>()) {
    const bool name = kind == "missing" || kind == "undefined";
    throw Failure(Exit::BadInput, name ? "E0610" : "E0611",
                  fmt::format("{}/{}: {}", user_folder, place, error.at("message").get<std::string>()),
                  name ? (find_data().docs / "templates.md").string() + " describes the model that templates see" : "");
  }
  throw Failure(Exit::Internal, code, fmt::format("templates/{}: {}", place, error.at("message").get<std::string>()),
                "this is a bug in openreg-gen: please report it");
}

}  // namespace

std::string hash_request(const RenderRequest& request) {
  Sha256 hash;
  hash.add(request.templates_hash);
  hash.add(request.globals);
  for (const auto& [name, text] : request.user)
    hash.add(json{name, text}.dump(-1, ' ', false, json::error_handler_t::replace));
  return hash.hex();
}

Renderer::Renderer(DataDir data) : data_(std::move(data)), pythons_(python_candidates()) {
  if (pythons_.empty()) {
    throw Failure(Exit::Environment, "E0605", "no Python to render with",
                  "activate an environment that has Jinja2, or set OPENREG_GEN_PYTHON to its interpreter");
  }
  start();
}

void Renderer::start() {
  // -X utf8: the locale decides nothing. PYTHONPATH and user packages stay: Jinja2 may be there.
  child_.emplace(std::vector<std::string>{pythons_[at_], "-X", "utf8", data_.renderer});
}

std::vector<std::string> Renderer::render(const RenderRequest& request) {
  const std::string text = request_text(request, data_);
  std::string without_jinja;
  for (;;) {
    const std::string python = pythons_[at_].string();
    const Child::Result result = child_->talk(text);
    const json answer = first_line(result.output);
    if (!answer.is_object()) {
      throw Failure(Exit::Environment, "E0607",
                    fmt::format("{} ended before it had answered: {}", python,
                                result.errors.empty() ? "it printed nothing" : last_line(result.errors)),
                    "check that this Python starts; OPENREG_GEN_PYTHON names another");
    }
    if (!answer.contains("error")) {
      auto outputs = texts_behind(result.output, answer.at("sizes"));
      if (outputs.size() != request.jobs.size())
        throw Failure(Exit::Internal, "E0607", "the renderer returned the wrong number of files");
      return outputs;
    }
    if (answer["error"].at("kind") != "jinja2") fail(answer["error"], request.user_folder);
    without_jinja += (without_jinja.empty() ? "" : ", ") + python;
    if (++at_ == pythons_.size())
      throw Failure(Exit::Environment, "E0606", "Jinja2 is not installed for " + without_jinja, "pip install jinja2");
    start();
  }
}

}  // namespace openreg_gen
