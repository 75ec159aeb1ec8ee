// The C++ headers of one PyTorch: what they declare, read as far as they are asked for, and names looked up in it.
#pragma once

#include "api/declarations.h"
#include "system/files.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace openreg_gen::api {

using Found = std::vector<const Declaration*>;

class Headers {
 public:
  /// `torch`: the folder of the package, which has include/, or the include folder itself. `version`: for messages.
  Headers(fs::path torch, std::string version);

  /// Whether a header is one of PyTorch itself, and not of a library that it ships.
  static bool is_own(std::string_view name);
  /// Whether there are any.
  static bool in(const fs::path& torch);
  /// "2.14.1", as the headers have it; empty if they don't.
  static std::string version_of(const fs::path& torch);

  const std::string& version() const { return version_; }

  /// Reads a header and what it includes; its number, or none if it isn't there. "ATen/core/Tensor.h".
  std::optional<int> read(const std::string& name);
  /// Whether an #include of it finds something: PyTorch's own header, or one of a library that it ships.
  bool has(const std::string& name) const { return !path_of(name).empty(); }
  const std::string& name_of(int file) const { return files_[static_cast<std::size_t>(file)].name; }

  /// All files that are read by including these.
  std::vector<bool> closure(const std::vector<int>& files) const;

  /// What a qualified name means inside of `scope`; nothing if it is not known.
  Found resolve(const std::string& name, const std::string& scope = {}) const;
  /// Names that a class, an enumeration or a namespace itself has.
  Found members(const std::string& qualified, const std::string& name) const { return look_up(qualified, name, 0); }
  /// The class that a name means; null if it is none.
  const Declaration* class_of(const std::string& name, const std::string& scope = {}) const;
  /// Its virtual functions and those of its bases; each the most derived. Destructors are left out.
  Found virtuals(const Declaration& type) const;
  /// The classes that have a member of this name.
  const std::vector<std::string>& scopes_of(const std::string& name) const;
  bool is_namespace(const std::string& name) const { return declared_.namespaces.contains(name); }
  const std::vector<MacroAt>* macro(const std::string& name) const;

  /// Reads each header that contains the word. For what is not where it was.
  void read_all_with(const std::string& word);
  /// The headers with this file name, in any folder.
  std::vector<std::string> named(const std::string& file_name);

 private:
  struct File {
    std::string name;
    std::vector<int> includes{};
  };
  fs::path path_of(const std::string& name, const std::string& from = {}) const;
  void index();
  Found look_up(const std::string& scope, const std::string& name, int depth) const;
  Found resolve_in(const std::string& scope, const std::string& name, int depth) const;
  Found resolve(const std::string& name, const std::string& scope, int depth) const;
  std::string scope_below(const std::string& scope, const std::string& name, int depth) const;
  void list_files();

  fs::path include_;
  std::string version_;
  std::vector<File> files_;
  std::unordered_map<std::string, int> numbers_;  // by name
  Declared declared_;
  std::size_t indexed_ = 0, opened_ = 0, renamed_count_ = 0;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
  std::unordered_map<std::string, std::vector<std::string>> scopes_, opens_;
  std::unordered_map<std::string, std::string> renames_;
  std::vector<std::string> all_, texts_;  // names and texts of all headers, once they were needed
};

}  // namespace openreg_gen::api
