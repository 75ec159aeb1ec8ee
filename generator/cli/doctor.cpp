// openreg-gen doctor: is everything installed that building a backend needs?
#include "cli/doctor_checks.h"
#include "cli/tree_spec.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "base/text.h"
#include "spec/kinds.h"

#include <unistd.h>

#include <algorithm>

namespace openreg_gen {
namespace {

struct DoctorOptions {
  std::string device, kernels;
};

/// Kinds of devices that a program of the machine lists.
constexpr std::pair<std::string_view, std::vector<Check> (*)(const Probe&)> kDevices[] = {
    {"opencl", run_opencl_checks}};

void declare(CLI::App& app, Invocation& call, DoctorOptions& options) {
  app.add_option("--device", options.device, "Also check what a device of this kind needs")
      ->check(CLI::IsMember(mapped(kDevices, [](const auto& each) { return std::string(each.first); })))
      ->type_name("");
  app.add_option("--kernels", options.kernels, "Also check what kernels in this language need")
      ->check(CLI::IsMember(mapped(kernel_languages(), [](const auto& each) { return std::string(each.word); })))
      ->type_name("");
  call.add_tree(app, "A tree: whose backend an environment with several is to load");
  call.add_json(app);
  call.add_torch(app, "The PyTorch to check: its folder, a site-packages, an environment");
}

std::string_view status(const Check& check) { return check.ok ? "ok" : check.required ? "missing" : "optional"; }

void print_check(const Check& check, bool colour) {
  const char* paint = !colour ? "" : check.ok ? "\033[32m" : check.required ? "\033[31m" : "\033[33m";
  auto what = check.found;
  if (!check.ok) what += (what.empty() ? "" : ": ") + check.problem;
  replace_all(what, "\n", "\n" + std::string(26, ' '));
  fmt::print("{}{:<9}{} {:<14}  {}\n", paint, status(check), colour ? "\033[0m" : "", check.name, what);
  if (!check.remedy.empty()) fmt::print("{:26}fix: {}\n", "", check.remedy);
}

Exit run(Invocation& call, const DoctorOptions& options) {
  const std::optional<Spec> tree = spec_around(call);
  const Probe probe = real_probe(call.torch(), tree ? *tree->backend.name : "");
  auto checks = run_checks(probe);
  const auto take = [&](std::vector<Check> more) { std::ranges::move(more, std::back_inserter(checks)); };
  const DeviceKind* kind = find_device_kind(options.device);
  if (const auto* language = find_kernel_language(kind == nullptr ? options.kernels : kind->kernels))
    take(run_language_checks(probe, *language));
  for (const auto& [word, devices] : kDevices)
    if (options.device == word) take(devices(probe));
  const auto lacks = std::ranges::count_if(checks, [](const Check& c) { return c.required && !c.ok; });
  const auto list = json_list(checks, [](const Check& c) -> nlohmann::ordered_json {
    return {{"name", c.name},   {"status", status(c)},  {"required", c.required},
            {"found", c.found}, {"problem", c.problem}, {"remedy", c.remedy}};
  });
  if (!call.put(nlohmann::ordered_json{{"ok", lacks == 0}, {"checks", list}}, 1)) {
    const bool colour = colour_wanted(STDOUT_FILENO);
    for (const auto& check : checks) print_check(check, colour);
    fmt::print("\n{}\n", lacks == 0 ? "A backend can be built here."
                         : lacks == 1
                             ? "1 thing is missing before a backend can be built here."
                             : fmt::format("{} things are missing before a backend can be built here.", lacks));
  }
  return lacks == 0 ? Exit::Done : Exit::Environment;
}

}  // namespace

Verb doctor_verb() {
  return {"doctor",
          "Check that everything needed to build a backend is installed",
          with_options<DoctorOptions>(declare, run),
          {"doctor", "doctor --json", "doctor --device opencl"}};
}

}  // namespace openreg_gen
