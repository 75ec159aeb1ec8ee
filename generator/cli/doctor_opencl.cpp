#include "cli/doctor_checks.h"

#include "base/text.h"

#include <fmt/ranges.h>

#include <map>
#include <sstream>

namespace openreg_gen {
namespace {

/// An optional property, and what kernels do without it.
constexpr std::pair<std::string_view, std::string_view> kWanted[] = {
    {"cl_khr_fp64", "float64 is computed on the CPU"},
    {"cl_khr_fp16", "float16 is computed in float"},
    {"cl_khr_priority_hints", "streams have one priority"},
};

using Properties = std::map<std::string, std::string, std::less<>>;

/// "[POCL/0]  CL_DEVICE_NAME  a name": by device, in order. "[POCL/*]" is what its platform says.
std::vector<Properties> parse_clinfo(const std::string& text) {
  std::vector<std::pair<std::string, Properties>> found;
  std::map<std::string, std::string> platforms;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto close = line.find(']');
    if (!line.starts_with('[') || close == std::string::npos) continue;
    const std::string where = line.substr(1, close - 1);
    std::istringstream words(line.substr(close + 1));
    std::string key, value;
    words >> key >> std::ws;
    std::getline(words, value);
    const std::string platform = where.substr(0, where.find('/'));
    if (where.ends_with("/*")) {
      if (key == "CL_PLATFORM_NAME") platforms[platform] = value;
      continue;
    }
    if (found.empty() || found.back().first != where) found.push_back({where, {}});
    found.back().second.emplace(key, value);
    found.back().second["platform"] = platforms[platform];
  }
  std::vector<Properties> devices;
  for (auto& [where, properties] : found) devices.push_back(std::move(properties));
  return devices;
}

Check judge(const Properties& device) {
  const auto get = [&](std::string_view key) {
    const auto at = device.find(key);
    return at == device.end() ? std::string() : at->second;
  };
  std::vector<std::string> without;
  for (const auto& [extension, otherwise] : kWanted)
    if (!includes(get("CL_DEVICE_EXTENSIONS"), extension))
      without.push_back(fmt::format("{} ({})", extension, otherwise));
  Check check{.name = "OpenCL device", .required = false, .ok = true};
  check.found = fmt::format("{}, {}", get("CL_DEVICE_NAME"), get("platform"));
  if (!without.empty()) check.found += fmt::format("\nwithout {}", fmt::join(without, ", "));
  std::vector<std::string_view> lacks;
  if (!includes(get("CL_DEVICE_SVM_CAPABILITIES"), "COARSE_GRAIN_BUFFER"))
    lacks.push_back("shared virtual memory (SVM)");
  if (get("CL_DEVICE_COMPILER_AVAILABLE") != "CL_TRUE") lacks.push_back("a compiler");
  check.ok = lacks.empty();
  if (!check.ok) check.problem = fmt::format("it doesn't have {}", fmt::join(lacks, " nor "));
  return check;
}

}  // namespace

std::vector<Check> run_opencl_checks(const Probe& probe) {
  std::vector<Check> checks;
  const auto clinfo = probe.find("clinfo");
  const auto devices =
      clinfo.empty() ? std::vector<Properties>{} : parse_clinfo(probe.output({clinfo.string(), "--raw"}));
  for (const Properties& device : devices) checks.push_back(judge(device));
  if (!devices.empty()) return checks;
  Check none{.name = "OpenCL device"};
  none.problem = clinfo.empty() ? "clinfo, which lists them, is not on PATH" : "no driver has one";
  none.remedy = clinfo.empty()
                    ? "sudo apt-get install clinfo"
                    : "your GPU's driver, or sudo apt-get install pocl-opencl-icd for an OpenCL device on the CPU";
  checks.push_back(std::move(none));
  return checks;
}

}  // namespace openreg_gen
