#include "model/signature.h"

namespace openreg_gen {
namespace {

std::string text(const nlohmann::json& item, const char* key) {
  const auto at = item.find(key);
  return at == item.end() || !at->is_string() ? std::string() : at->get<std::string>();
}

}  // namespace

std::string kernel_signature(const nlohmann::json& item) {
  if (!item.is_object()) return {};
  const std::string id = text(item, "id");
  if (item.contains("stub_params")) return "void " + id + "_kernel(" + text(item, "stub_params") + ")";
  if (item.contains("impl_params")) return "void " + id + "::impl(" + text(item, "impl_params") + ")";
  if (!item.contains("params")) return {};
  const std::string name = id.empty() ? "custom_" + text(item, "custom_id") : id;
  return text(item, "returns") + " " + name + "(" + text(item, "params") + ")";
}

}  // namespace openreg_gen
