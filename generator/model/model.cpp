#include "model/model.h"

#include "model/contexts.h"
#include "model/ops.h"

namespace openreg_gen {

using nlohmann::json;

json make_globals(const Resolved& resolved, const std::string& spec_file, Subjects& subjects) {
  const Spec& spec = resolved.spec;
  json has = json::object(), components = json::array();
  const bool simulated = (**spec.device.api).simulated;
  for (const Component& component : all_components()) {
    const bool on = spec.components.has(component.name);
    has[component.name] = on;
    if (on && (simulated || !component.emulated))
      components.push_back({{"name", component.name}, {"about", component.about}});
  }
  const bool runtime = spec.components.has("runtime"), device = spec.components.has("device");
  json globals = {
      {"has", std::move(has)},
      // What stands in the place of the whole runtime and device where the tree has not got them.
      {"small", {{"runtime", !runtime}, {"device", !device && simulated}}},
      {"components", std::move(components)},
      {"b", Fields::json_of(BackendContext{spec.backend})},
      {"tool", {{"version", OPENREG_GEN_VERSION}}},
      {"spec", {{"file", spec_file}}},
      {"torch", Fields::json_of(TorchContext{spec.torch, resolved.catalog.torch_version()})},
      {"device", Fields::json_of(DeviceContext{spec.device})},
      {"allocator", Fields::json_of(AllocatorContext{spec.allocator})},
      {"fallback", Fields::json_of(FallbackContext{spec.fallback})},
      {"compile", {{"on", spec.compile.value}}},
      {"profiler", {{"on", spec.profiler.value}}},
      // Only an allocator with pools serves captures; without one, graphs are there and say so.
      {"graphs", {{"on", spec.graphs.value}, {"captured", spec.graphs.value && (**spec.allocator.device).caches}}},
      {"distributed",
       {{"on", spec.distributed.on.value},
        {"backend", *spec.distributed.backend},
        {"NAME", upper_case(*spec.distributed.backend)}}},
  };
  add_operators(globals, resolved, subjects);
  // A device that is simulated has nothing better for convolutions than the CPU's own.
  globals["ops"]["gemm_convolution"] = !globals["ops"]["matmul"].empty() && !globals["device"]["emulator"].get<bool>();
  // Kernels of the device for reductions from expressions.
  globals["device"]["reduces"] = (**spec.device.api).word == "opencl" && globals["ops"]["reduces"].get<bool>();
  return globals;
}

json job_context(const Output& output, const json& globals) {
  return {{"file",
           {{"header", header_text({output.path, output.file_class, output.key, output.id},
                                   globals["spec"]["file"].get<std::string>())},
            {"path", output.path},
            {"class", to_string(output.file_class)}}}};
}

}  // namespace openreg_gen
