#include "pipeline/component_sizes.h"

#include "base/text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace openreg_gen {
namespace {

std::size_t two_digits(std::size_t number) {
  std::size_t unit = 1;
  while (number / unit >= 100) unit *= 10;
  return (number + unit / 2) / unit * unit;
}

}  // namespace

Sizes component_sizes(const std::vector<Output>& outputs, const fs::path& templates) {
  const auto facts = nlohmann::json::parse(read_data(templates / "build_seconds.json"));
  const nlohmann::json& seconds = facts.at("seconds");
  Sizes sizes;
  for (const char* key : {"compiler", "torch", "machine"}) {
    if (seconds.empty()) break;
    sizes.measured += (sizes.measured.empty() ? "" : key == std::string_view("torch") ? ", PyTorch " : ", ");
    sizes.measured += facts.at(key).get<std::string>();
  }
  for (const Output& output : outputs) {
    if (!output.each.empty() || output.user) continue;
    Size& size = sizes.of[output.component];
    ++size.files;
    size.seconds += seconds.value(output.template_name, 0.0);
    size.lines += static_cast<std::size_t>(
        std::ranges::count(try_read_file(templates / output.template_name).value_or(""), '\n'));
  }
  return sizes;
}

std::string with_sizes(std::string text, const Sizes& sizes) {
  for (const auto& [name, size] : sizes.of) {
    replace_all(text, "@files:" + name + "@", std::to_string(size.files));
    replace_all(text, "@lines:" + name + "@", std::to_string(two_digits(size.lines)));
    replace_all(text, "@seconds:" + name + "@", size.seconds == 0 ? "" : fmt::format("{:.0f}", size.seconds));
  }
  return text;
}

}  // namespace openreg_gen
