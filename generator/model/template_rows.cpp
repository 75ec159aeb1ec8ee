#include "model/template_rows.h"

#include "diag/failure.h"
#include "base/text.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <span>

namespace openreg_gen {
namespace {

constexpr std::string_view kRowKeys[] = {"template", "path",  "class",     "key",   "about",    "when",
                                         "each",     "where", "component", "slots", "operators"};
constexpr std::string_view kGroupKeys[] = {"folder", "into",  "class",     "key",  "when",
                                           "each",   "where", "component", "files"};
constexpr std::string_view kFileKeys[] = {"as",   "class", "key",       "about", "when",
                                          "each", "where", "component", "slots", "operators"};

constexpr std::pair<std::string_view, std::string TemplateRow::*> kTexts[] = {{"template", &TemplateRow::template_name},
                                                                              {"path", &TemplateRow::path},
                                                                              {"key", &TemplateRow::key},
                                                                              {"about", &TemplateRow::about},
                                                                              {"when", &TemplateRow::when},
                                                                              {"each", &TemplateRow::each},
                                                                              {"where", &TemplateRow::where},
                                                                              {"component", &TemplateRow::component}};

class RowReader {
 public:
  RowReader(std::string name, bool user) : name_(std::move(name)), user_(user) {}

  std::vector<TemplateRow> read(const std::string& text) {
    try {
      const YAML::Node list = YAML::Load(text);
      if (!list.IsNull() && !list.IsSequence())
        at(list).fail(
            "it is not a list of rows, such as `- {template: NOTICE.j2, path: NOTICE, class: generated, "
            "about: who made this}`");
      for (const YAML::Node& node : list) {
        if (!node.IsMap()) at(node).fail("a row is a map");
        node["files"] ? read_group(node) : read_row(node);
      }
    } catch (const YAML::Exception& e) {
      TemplateRow{.place = fmt::format("{}:{}", name_, e.mark.line + 1), .user = user_}.fail(e.msg);
    }
    return std::move(rows_);
  }

 private:
  TemplateRow at(const YAML::Node& node) const {
    return {.place = fmt::format("{}:{}", name_, node.Mark().line + 1), .user = user_};
  }

  /// Reads a map into `row`, which keeps its other values.
  static void take(const YAML::Node& node, std::span<const std::string_view> keys, TemplateRow& row) {
    for (const auto& pair : node) {
      const std::string key = pair.first.as<std::string>();
      if (!contains(keys, key)) row.fail("unknown key '" + key + "'");
      if (key == "files") continue;
      if (key == "slots") {
        for (const auto& slot : pair.second) {
          const std::string text = slot.second.as<std::string>();
          const auto words = words_of(text);
          row.slots[slot.first.as<std::string>()] = {words.begin(), words.end()};
        }
        continue;
      }
      const std::string value = pair.second.as<std::string>();
      if (key == "operators") {
        const auto words = words_of(value);
        row.operators = {words.begin(), words.end()};
      }
      if (const auto* text = find_by(kTexts, key, [](const auto& each) { return each.first; }))
        row.*(text->second) = value;
      if (key == "class" && !parse_file_class(value, row.file_class)) row.fail("unknown class '" + value + "'");
    }
  }

  void add(TemplateRow row) {
    if (row.user && row.key.empty()) row.key = "templates";
    for (const auto& [key, value] :
         {std::pair{"template", &row.template_name}, {"path", &row.path}, {"key", &row.key}, {"about", &row.about}}) {
      if (value->empty()) row.fail(fmt::format("the row has no '{}'", key));
    }
    rows_.push_back(std::move(row));
  }

  void read_row(const YAML::Node& node) {
    TemplateRow row = at(node);
    take(node, kRowKeys, row);
    if (!node["class"]) row.fail("the row has no 'class'");
    add(std::move(row));
  }

  /// Paths follow from the templates' names: "a/b.h.j2" becomes "b.h" in the folder `into`.
  void read_group(const YAML::Node& node) {
    TemplateRow common = at(node);
    take(node, kGroupKeys, common);
    const auto in = [](const std::string& folder) { return folder == "." ? "" : folder + "/"; };
    const std::string folder = node["folder"] ? node["folder"].as<std::string>() : ".";
    const std::string into = node["into"] ? node["into"].as<std::string>() : folder;
    for (const auto& pair : node["files"]) {
      TemplateRow row = common;
      row.place = at(pair.first).place;
      const bool map = pair.second.IsMap();
      if (map) take(pair.second, kFileKeys, row);
      if (!map) row.about = pair.second.as<std::string>();
      for (const std::string& file : names(pair.first.as<std::string>())) {
        row.template_name = in(folder) + file + ".j2";
        const std::string name = map && pair.second["as"] ? pair.second["as"].as<std::string>() : file;
        row.path = in(into) + name;
        add(row);
      }
    }
  }

  /// "Stream.{h,cpp}" -> "Stream.h", "Stream.cpp".
  static std::vector<std::string> names(const std::string& pattern) {
    const std::size_t open = pattern.find('{'), close = pattern.find('}');
    if (open == std::string::npos || close == std::string::npos || !contains(pattern, ',')) return {pattern};
    std::vector<std::string> names;
    for (std::size_t begin = open + 1, end; begin <= close; begin = end + 1) {
      end = std::min(pattern.find(',', begin), close);
      names.push_back(pattern.substr(0, open) + pattern.substr(begin, end - begin) + pattern.substr(close + 1));
    }
    return names;
  }

  std::string name_;
  bool user_;
  std::vector<TemplateRow> rows_;
};

}  // namespace

void TemplateRow::fail(const std::string& why) const {
  throw Failure(user ? Exit::BadInput : Exit::Internal, user ? "E0613" : "E0604", place + ": " + why);
}

DeviceKernels device_kernels(const Templates& templates, const Spec& spec) {
  DeviceKernels out;
  if (spec.components.has("loops")) out.language = *spec.device.kernels;
  for (const KernelLanguage& language : kernel_languages()) {
    auto& files = &language == out.language ? out.files : out.other_files;
    const std::string folder = fmt::format("package/{}/", language.folder);
    const std::string end = fmt::format(".{}.j2", language.extension);
    for (const std::string& name : templates.names)
      if (name.starts_with(folder) && name.ends_with(end))
        files.insert(name.substr(folder.size(), name.size() - folder.size() - end.size()));
    if (templates.has(fmt::format("package/_inductor/{}.py.j2", language.folder))) files.insert("inductor");
  }
  if (!out) return out;
  const auto meets = [&](std::string_view condition) {
    constexpr std::string_view kFile = "kernel.";
    return condition == "kernel.on" || !condition.starts_with(kFile) || out.has(condition.substr(kFile.size()));
  };
  for (const TemplateRow& row : templates.rows)
    if (std::ranges::all_of(words_of(row.when), meets))
      out.operators.insert(row.operators.begin(), row.operators.end());
  return out;
}

std::vector<TemplateRow> parse_template_rows(const std::string& text, const std::string& name, bool user) {
  return RowReader(name, user).read(text);
}

}  // namespace openreg_gen
