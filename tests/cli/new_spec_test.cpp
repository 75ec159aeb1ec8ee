#include "cli/new_spec.h"

#include "edit/spec_edit.h"
#include "edit/style.h"
#include "strategy/strategy.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace openreg_gen {
namespace {

Spec parse(const std::string& text) {
  Diagnostics diagnostics;
  return parse_spec_text(text, "spec.yaml", diagnostics);
}

std::string named(const std::string& text, const std::string& name) {
  return with_word(text, "spec.yaml", "backend", "name", text_node(name));
}
std::string deviced(const std::string& text, const std::string& api) {
  return with_word(text, "spec.yaml", "device", "api", text_node(api));
}

std::string shipped(const char* file = "openreg.yaml") {
  std::ifstream in(std::filesystem::path(OPENREG_GEN_SOURCE_DIR) / "specs" / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(NewSpec, ANameIsPutInItsPlace) {
  EXPECT_EQ(named("backend:\n  name: openreg  # what it is\n", "my"), "backend:\n  name: my       # what it is\n");
  EXPECT_EQ(named("backend: {vendor: x, name: openreg}\n", "my"), "backend: {vendor: x, name: my}\n");
  EXPECT_EQ(named("backend: {vendor: 'é ü', name: openreg}\n", "my"), "backend: {vendor: 'é ü', name: my}\n");
  EXPECT_EQ(named("{\"backend\": {\"name\": \"openreg\"}}", "my"), "{\"backend\": {\"name\": \"my\"}}");
  EXPECT_EQ(named("backend:\n  name: my\n", "my"), "backend:\n  name: my\n");
}

TEST(NewSpec, ANameThatIsWrongStaysATextOfYaml) {
  for (const std::string name : {"a: b", "x\n  package: evil", "\"", "#", "1", "../x"}) {
    const YAML::Node root = YAML::Load(named("backend:\n  name: openreg\n", name));
    EXPECT_EQ(root["backend"]["name"].as<std::string>(), name);
    EXPECT_EQ(root["backend"].size(), 1u);
  }
}

TEST(NewSpec, TheDeviceIsPutInItsPlace) {
  const std::string block = "backend:\n  name: my\ndevice:\n    count: 3  # three\n";
  EXPECT_EQ(deviced(block, "external"), "backend:\n  name: my\ndevice:\n    count: 3  # three\n    api: external\n");
  EXPECT_EQ(deviced("backend: {name: my}\n", "external"), "backend: {name: my}\ndevice:\n  api: external\n");
  EXPECT_EQ(deviced("backend: {name: my}", "external"), "backend: {name: my}\ndevice:\n  api: external");
  EXPECT_EQ(deviced("device: {api: external, count: 2}\n", "emulator"), "device: {api: emulator, count: 2}\n");
  EXPECT_EQ(deviced("{\"backend\": {\"name\": \"my\"}, \"device\": {\"api\": \"emulator\"}}", "external"),
            "{\"backend\": {\"name\": \"my\"}, \"device\": {\"api\": \"external\"}}");
  EXPECT_EQ(deviced("{\"backend\": {\"name\": \"my\"}}", "external"),
            "{\"backend\": {\"name\": \"my\"}, \"device\": {\"api\": \"external\"}}");
}

TEST(NewSpec, TheShippedSpecKeepsItsCommentsUnderAnotherName) {
  const std::string adapted = named(adapt_shipped_spec(shipped(), "my_device", nullptr, true), "my_device");
  EXPECT_TRUE(adapted.starts_with("# The spec of the my_device backend. `openreg-gen generate` renders")) << adapted;
  const Spec spec = parse(adapted);
  EXPECT_EQ(*spec.backend.name, "my_device");
  EXPECT_EQ(*spec.backend.api_prefix, "myDevice");
  EXPECT_EQ(*spec.backend.class_prefix, "MyDevice");
  EXPECT_EQ(adapted.find("OpenReg"), std::string::npos) << adapted;
  EXPECT_EQ(spec.ops.size(), parse(shipped()).ops.size());
  EXPECT_EQ(adapt_shipped_spec(shipped(), "openreg", nullptr, true).find("api_prefix: or ") != std::string::npos, true);
}

TEST(NewSpec, OnlyAFullOneHasTheExamples) {
  const std::string adapted = adapt_shipped_spec(shipped(), "openreg", nullptr, false);
  const Spec spec = parse(adapted), full = parse(shipped());
  EXPECT_TRUE(spec.custom_ops.empty());
  EXPECT_EQ(spec.ops.size(), full.ops.size() - 2);
  EXPECT_EQ(adapted.find("attention"), std::string::npos) << adapted;
  EXPECT_NE(adapted.find("packed for CUDA's kernels\n\namp:\n"), std::string::npos) << adapted;
}

TEST(NewSpec, OpenClStartsFromItsOwn) {
  const DeviceKind* opencl = find_device_kind("opencl");
  const std::string adapted = named(adapt_shipped_spec(shipped(opencl->spec.data()), "my", opencl, true), "my");
  const Spec spec = parse(adapted);
  EXPECT_EQ(*spec.backend.name, "my");
  EXPECT_EQ((*spec.device.api)->word, "opencl");
  EXPECT_EQ(adapted.find("mycl"), std::string::npos) << adapted;
  EXPECT_NE(adapted.find("torch_my/opencl/pointwise.cl"), std::string::npos);
}

TEST(NewSpec, AnExternalDeviceHasNoSimulatorsKeys) {
  const Spec spec = parse(adapt_shipped_spec(shipped(), "my", find_device_kind("external"), true));
  EXPECT_FALSE(spec.device.count.given());
  EXPECT_FALSE(spec.device.memory.given());
  EXPECT_TRUE(spec.device.api.given());
}

TEST(NewSpec, AnExternalDevicesGemmServesWhatItsDocsSay) {
  const std::string adapted = adapt_shipped_spec(shipped(), "my", find_device_kind("external"), true);
  for (const char* name : {"mm.out", "addmm.out", "bmm.out", "baddbmm.out"}) {
    EXPECT_NE(adapted.find("\n  " + std::string(name) + ": "), std::string::npos) << name;
  }
  EXPECT_EQ(parse(adapted).ops.size(), parse(shipped()).ops.size() + 3);
}

}  // namespace
}  // namespace openreg_gen
