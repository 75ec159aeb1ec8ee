// Where the command's own data is: templates, shipped specs, pages, the renderer.
#pragma once

#include "system/files.h"

#include <string>
#include <vector>

namespace openreg_gen {

struct DataDir {
  fs::path templates;  // holds templates.yaml
  fs::path specs;
  fs::path renderer;     // renderer.py
  fs::path docs{};       // reference pages that the command reads, or names
  fs::path workbench{};  // holds the Python package openreg_gen
};

/// $OPENREG_GEN_DATA, else ../share/openreg-gen beside the executable, else the source tree that it was built from.
/// Throws Failure(Environment, E0608) if none of them holds templates.
DataDir find_data();

/// The names of all files in the folder of templates, sorted. Throws Failure(Environment, E0608).
std::vector<std::string> list_templates(const DataDir& data);

/// SHA-256, in hex, over the names and bytes of all templates, of what they include of the workbench, and of the
/// renderer.
std::string hash_templates(const DataDir& data);

}  // namespace openreg_gen
