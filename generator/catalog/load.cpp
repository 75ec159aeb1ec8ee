#include "catalog/build.h"
#include "diag/failure.h"
#include "base/text.h"
#include "system/cache.h"
#include "system/files.h"
#include "system/hash.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

constexpr auto kYamlFolder = "torchgen/packaged/ATen/native";

/// From torch/version.py, without starting Python: "2.13.0+cpu" -> "2.13.0".
std::string read_version(const fs::path& torch) {
  const auto text = try_read_file(torch / "version.py").value_or("");
  for (const std::string_view line : split_lines(text)) {
    if (!line.starts_with("__version__")) continue;
    const auto begin = line.find_first_of("'\"");
    if (begin == std::string::npos) continue;
    const auto end = line.find_first_of("'\"+", begin + 1);
    if (end != std::string::npos) return std::string(line.substr(begin + 1, end - begin - 1));
  }
  return "unknown";
}

/// A folder of declarations only says its version by its name: "torch-2.9.0".
std::string version_of_folder(const fs::path& folder) {
  const auto name = folder.filename().string();
  if (!name.starts_with("torch-")) return "unknown";
  const auto version = name.substr(6);
  const bool digits = !version.empty() && version.find_first_not_of("0123456789.") == std::string::npos;
  return digits ? version : "unknown";
}

std::uint64_t cache_key(const CatalogSources& sources) {
  Hash hash;
  hash.add(OPENREG_GEN_VERSION);
  hash.add(OPENREG_GEN_CATALOG_READER);
  hash.add(sources.torch.string());
  hash.add(sources.version);
  for (const auto& file : {sources.declarations, sources.native_functions, sources.tags, sources.autocast}) {
    std::error_code error;
    hash.add(file.string());
    if (file.empty()) continue;
    hash.add(static_cast<std::uint64_t>(fs::file_size(file, error)));
    const auto time = fs::last_write_time(file, error);
    hash.add(static_cast<std::uint64_t>(time.time_since_epoch().count()));
  }
  return hash.value();
}

}  // namespace

CatalogSources find_sources(const fs::path& torch) {
  std::error_code error;
  CatalogSources sources;
  sources.torch = fs::weakly_canonical(torch, error);
  if (error) sources.torch = torch;
  const auto header = sources.torch / "include/ATen/RegistrationDeclarations.h";
  const bool installed = fs::exists(header, error);
  const auto yaml_dir = (installed ? sources.torch.parent_path() : sources.torch) / kYamlFolder;
  sources.native_functions = yaml_dir / "native_functions.yaml";
  sources.tags = yaml_dir / "tags.yaml";
  for (const auto& file : {sources.native_functions, sources.tags}) {
    if (!fs::exists(file, error)) {
      throw Failure(Exit::Environment, "E0402", file.string() + " is missing",
                    installed ? fmt::format("reinstall PyTorch {}: `pip install --force-reinstall torch=={}`",
                                            read_version(sources.torch), read_version(sources.torch))
                              : "name an installed PyTorch, or a folder with the files of torchgen/packaged");
    }
  }
  if (installed) sources.declarations = header;
  if (installed) sources.autocast = header.parent_path() / "autocast_mode.h";
  sources.version = installed ? read_version(sources.torch) : version_of_folder(sources.torch);
  return sources;
}

Catalog load_catalog(const fs::path& torch) {
  const auto sources = find_sources(torch);
  const auto name = fmt::format("catalog-{:016x}.bin", cache_key(sources));
  if (const auto bytes = read_cache(name)) {
    if (auto catalog = from_archive(*bytes)) return std::move(*catalog);
  }
  auto catalog = build_catalog(sources);
  write_cache(name, to_archive(catalog));
  return catalog;
}

}  // namespace openreg_gen
