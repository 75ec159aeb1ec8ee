#include "model/attention.h"

#include "catalog/stubs.h"

#include <algorithm>

namespace openreg_gen {
namespace {

constexpr std::string_view kForward = "_scaled_dot_product_fused_attention_overrideable";
constexpr std::string_view kBackward = "_scaled_dot_product_fused_attention_overrideable_backward";
constexpr std::string_view kChoice = "_fused_sdp_choice";

}  // namespace

bool of_attention(std::string_view op) { return op == kForward || op == kBackward || op == kChoice; }

std::string attention_start(std::string_view op) {
  if (op == kForward) return "attention_by_math";
  return op == kBackward ? "attention_backward_by_math" : "";
}

bool add_attention_choice(nlohmann::json& item, const Op& op) {
  item["choice"] = op.name == kChoice;
  if (op.name != kChoice) return false;
  const StubInfo* stub = find_stub(op.name);
  item.update({{"kernel", "native::" + op.name}, {"stub", stub->stub}, {"stub_header", stub->header()}});
  return true;
}

void add_attention(nlohmann::json& ops) {
  const auto named = [&](const char* strategy, std::string_view name) {
    return std::ranges::any_of(ops[strategy], [&](const auto& item) { return item["op"] == name; });
  };
  ops["fused_attention"] = named("native", kForward);
  ops["fused_attention_backward"] = named("native", kBackward);
  ops["attention_choice"] = named("stub", kChoice);
}

}  // namespace openreg_gen
