#include "tree/manifest.h"

#include "diag/failure.h"
#include "system/sha256.h"
#include "tree/paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace openreg_gen {
namespace {

using nlohmann::json;
constexpr int kManifestFormat = 1;

// Left out where they are empty.
constexpr std::pair<const char*, std::string ManifestFile::*> kTexts[] = {{"id", &ManifestFile::id},
                                                                          {"at", &ManifestFile::at},
                                                                          {"signature", &ManifestFile::signature},
                                                                          {"wanted", &ManifestFile::wanted},
                                                                          {"render", &ManifestFile::render}};

[[noreturn]] void broken(const std::string& why) {
  throw Failure(Exit::BadInput, "E0507", std::string(kManifest) + " is broken: " + why,
                "restore it from version control, or render into an empty folder with `openreg-gen new`");
}

/// Distinguishes builds of different C++, for the tree's _release.py. Only the names of owned files count: their
/// content is their owner's, and registers kernels.
std::string hash_sources(const Manifest& manifest) {
  Sha256 hash;
  for (const auto& [path, file] : manifest.files) {
    if (path.starts_with("tests/")) continue;
    if (path.ends_with(".cpp") || path.ends_with(".h") || path.ends_with(".c"))
      hash.add(path + '\n' + (file.file_class == FileClass::Owned ? "" : file.sha256));
  }
  return hash.hex().substr(0, 16);
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  std::string out = "{\n";
  const auto add = [&out](const char* key, const std::string& value) {
    out += "  " + json(key).dump() + ": " + value + ",\n";
  };
  add("format", std::to_string(kManifestFormat));
  add("tool", json(manifest.tool).dump());
  add("torch", json(manifest.torch).dump());
  add("spec", json(manifest.spec).dump());
  add("inputs", json(manifest.inputs).dump());
  add("sources", json(hash_sources(manifest)).dump());
  out += "  \"files\": {";
  const char* separator = "\n";
  for (const auto& [path, file] : manifest.files) {
    json value{{"class", to_string(file.file_class)},
               {"sha256", file.sha256},
               {"template", file.template_name},
               {"key", file.key}};
    for (const auto& [name, member] : kTexts)
      if (!(file.*member).empty()) value[name] = file.*member;
    out += separator + ("    " + json(path).dump()) + ": " + value.dump();
    separator = ",\n";
  }
  return out + "\n  }\n}\n";
}

const ManifestFile* find_file(const Manifest& manifest, const std::string& path, std::string* rendered_as) {
  auto found = manifest.files.find(path);
  if (found == manifest.files.end() || !found->second.at.empty()) {
    const auto moved = std::find_if(manifest.files.begin(), manifest.files.end(),
                                    [&path](const auto& entry) { return !path.empty() && entry.second.at == path; });
    if (moved != manifest.files.end()) found = moved;
  }
  if (found == manifest.files.end()) return nullptr;
  if (rendered_as) *rendered_as = found->first;
  return &found->second;
}

Manifest parse_manifest(std::string_view text) {
  Manifest manifest;
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) broken("it is not JSON");
  try {
    if (root.at("format").get<int>() > kManifestFormat) {
      throw Failure(Exit::BadInput, "E0507", std::string(kManifest) + " was written by a newer openreg-gen",
                    "use openreg-gen " + root.value("tool", "of that version") + " or newer");
    }
    manifest.tool = root.at("tool");
    manifest.torch = root.at("torch");
    manifest.spec = root.at("spec");
    manifest.inputs = root.at("inputs");
    check_path(manifest.spec);
    for (const auto& [path, value] : root.at("files").items()) {
      check_path(path);
      ManifestFile file;
      if (!parse_file_class(value.at("class").get<std::string>(), file.file_class)) broken("class of '" + path + "'");
      file.sha256 = value.at("sha256");
      file.template_name = value.at("template");
      file.key = value.at("key");
      for (const auto& [name, member] : kTexts) file.*member = value.value(name, std::string());
      if (!file.at.empty()) check_path(file.at);
      manifest.files.emplace(path, std::move(file));
    }
  } catch (const json::exception& e) {
    broken(e.what());
  } catch (const Failure& e) {
    if (e.code() != "E0504") throw;
    broken(e.what());
  }
  return manifest;
}

}  // namespace openreg_gen
