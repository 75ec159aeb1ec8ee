// Trees whose headers name the version that wrote them, as all did once.
#include "header/header.h"
#include "memory_disk.h"
#include "tree/plan.h"

#include <gtest/gtest.h>

#include <optional>

namespace openreg_gen {
namespace {

class OldHeader : public testing::Test {
 protected:
  static Output output(const std::string& path, FileClass file_class) {
    Output out;
    out.path = path;
    out.template_name = path + ".j2";
    out.file_class = file_class;
    out.key = "ops";
    if (file_class == FileClass::Owned) out.id = "aten::relu";
    return out;
  }

  static std::string text(const Output& output, bool old, const std::string& body) {
    std::string header = header_text({output.path, output.file_class, output.key, output.id}, "my.yaml");
    if (old) header.insert(header.find("from "), "0.1.0 ");
    return header + "\n" + body;
  }

  Plan plan(bool old, PlanOptions options = {}) {
    std::vector<Rendered> renders;
    for (const auto& [path, file_class] : {std::pair{"a.cpp", FileClass::Generated},
                                           {"b.md", FileClass::Shared},
                                           {"k.cpp", FileClass::Owned},
                                           {"s.py", FileClass::Shared}}) {
      const Output out = output(path, file_class);
      renders.push_back({out, text(out, old, "one\ntwo\n"), std::nullopt});
    }
    const auto at = disk.files.find(std::string(kManifest));
    std::optional<Manifest> before;
    if (at != disk.files.end()) before = parse_manifest(at->second);
    return make_plan(disk, before ? &*before : nullptr, renders, {"0.2.0", "torch", "my.yaml", old ? "1" : "2", {}},
                     options);
  }
  void apply(bool old) { apply_plan(disk, plan(old)); }

  static std::vector<Verdict> verdicts(const Plan& plan) {
    std::vector<Verdict> out;
    for (const Step& step : plan.steps) out.push_back(step.verdict);
    return out;
  }

  MemoryDisk disk;
};

TEST_F(OldHeader, ATreeThatNobodyEditedIsStaleAndItsOwnersFilesStay) {
  apply(true);
  const std::string kernel = disk.files["k.cpp"];
  EXPECT_EQ(verdicts(plan(false)),
            (std::vector{Verdict::Stale, Verdict::Stale, Verdict::Yours, Verdict::Stale}));  // not YoursDiffers
  apply(false);
  EXPECT_EQ(disk.files["k.cpp"], kernel);
  EXPECT_TRUE(plan(false).clean());
}

TEST_F(OldHeader, EditsBesideItsLinesMergeCleanly) {
  apply(true);
  const std::string old = disk.files["b.md"], python = disk.files["s.py"];
  disk.files["b.md"] = "<!-- (c) us -->\n" + old;
  disk.files["s.py"] = to_crlf("#!/usr/bin/python\n" + python + "mine\n");
  EXPECT_EQ(verdicts(plan(false)), (std::vector{Verdict::Stale, Verdict::Merged, Verdict::Yours, Verdict::Merged}));
  apply(false);
  EXPECT_EQ(disk.files["b.md"], "<!-- (c) us -->\n" + without_version(old));
  EXPECT_EQ(disk.files["s.py"], to_crlf("#!/usr/bin/python\n" + without_version(python) + "mine\n"));
}

}  // namespace
}  // namespace openreg_gen
