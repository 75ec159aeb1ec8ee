#include "audit/document.h"

#include "base/text.h"
#include "spec/readers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace openreg_gen {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "openreg-gen audit";
constexpr int kSchema = 1;
constexpr const char* kHint = "`python -m openreg_gen.audit --device NAME --json FILE` writes such a file";

class Reader {
 public:
  Reader(const Json& json) : json_(json) {}

  AuditDocument read() {
    AuditDocument out;
    for (const auto& each : json_.value("files", Json::array())) files_.push_back(each.get<std::string>());
    out.device = json_.at("device").get<std::string>();
    out.key = json_.at("key").get<std::string>();
    out.torch = json_.at("torch").get<std::string>();
    out.torch_dir = json_.value("torch_dir", "");
    out.package = json_.value("package", "");
    out.date = json_.value("date", "");
    out.seconds = json_.value("seconds", 0.0);
    out.provides = json_.value("provides", std::vector<std::string>());
    for (const auto& row : json_.at("ops"))
      out.ops.emplace(row.at(0), ServedOp{row.at(1), place(row.at(2), row.at(3))});
    for (const auto& row : list("registrations")) out.registrations.push_back(kernel(row));
    for (const auto& row : list("fallbacks")) out.fallbacks.push_back(kernel(row));
    for (const auto& row : list("interfaces"))
      out.interfaces.push_back(
          {row.at("group"), row.at("name"), row.at("verdict"), row.at("message"), row.at("needs"), row.at("provide")});
    for (const auto& row : list("dtypes")) {
      OpDtypes& op = out.dtypes[row.at("op")];
      const auto takes = row.at("takes").get<std::string>();
      for (const auto word : words_of(takes)) op.takes.emplace_back(word);
      op.shapes = row.value("shapes", std::vector<std::string>());
      for (const auto& [dtype, message] : row.at("refuses").items()) op.refuses.emplace_back(dtype, message);
    }
    for (const auto& row : list("deaths"))
      out.deaths.push_back({row.at("sample"), row.at("verdict"), row.at("message")});
    for (const auto& row : list("waits")) out.waits.push_back({row.at("op"), row.at("needs")});
    for (const auto& op : list("on_device")) out.on_device.insert(op.get<std::string>());
    return out;
  }

 private:
  Json list(const char* name) const { return json_.value(name, Json::array()); }

  KernelPlace place(const Json& file, const Json& line) const {
    const auto number = file.get<int>();
    return number < 0 ? KernelPlace{} : KernelPlace{files_.at(static_cast<std::size_t>(number)), line.get<int>()};
  }

  RegisteredKernel kernel(const Json& row) const {
    const Json& at = row.at("at");
    return {row.value("op", ""), row.at("key"), row.at("kind"), place(at.at(0), at.at(1)), row.value("active", true)};
  }

  const Json& json_;
  std::vector<std::string> files_;
};

}  // namespace

std::optional<AuditDocument> parse_audit(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string what = error.what(), after = "column ";
    const auto colon = what.find(": ", std::min(what.find(after), what.size()));
    return diagnostics.fail("E0570", location_at(text, error.byte == 0 ? 0 : error.byte - 1, file),
                            "JSON: " + (colon == std::string::npos ? what : what.substr(colon + 2)), kHint);
  }
  const Location whole{file, 1, 1};
  if (!json.is_object() || json.value("format", Json()) != kFormat)
    return diagnostics.fail("E0570", whole, "the file is not an audit", kHint);
  if (const Json schema = json.value("schema", Json()); schema != kSchema)
    return diagnostics.fail(
        "E0571", whole, fmt::format("unknown audit schema {}", schema.dump()),
        fmt::format("this openreg-gen reads schema {}; update it, or repeat the audit with its own copy of "
                    "openreg_gen",
                    kSchema));
  try {
    return Reader(json).read();
  } catch (const std::exception& error) {  // nlohmann's type and range errors, and a file's number out of range
    const std::string what = error.what();
    const auto bracket = what.find("] ");
    return diagnostics.fail("E0570", whole,
                            "a part of the audit is missing or has the wrong type: " +
                                (bracket == std::string::npos ? what : what.substr(bracket + 2)),
                            kHint);
  }
}

}  // namespace openreg_gen
