// Folders that hold only the YAML files: our own translation derives everything else, and must agree with
// PyTorch's RegistrationDeclarations.h.
#include "catalog/build.h"
#include "support.h"
#include "diag/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using testing::HasSubstr;

TEST(DeclarationFolder, SaysTheSameAsTheInstalledHeaders) {
  const TempDir dir;
  const auto folder = dir.path() / "torch-2.13.0";
  std::filesystem::create_directories(folder / kDeclarations);
  for (const char* name : {"native_functions.yaml", "tags.yaml"}) {
    std::filesystem::create_symlink(built().torch_dir().parent_path() / kDeclarations / name,
                                    folder / kDeclarations / name);
  }
  const auto derived = build_catalog(find_sources(find_torch(folder)));
  EXPECT_EQ(derived.torch_version(), "2.13.0");
  ASSERT_EQ(derived.all().size(), built().all().size());
  for (std::size_t i = 0; i < derived.all().size(); ++i) {
    const auto &ours = derived.all()[i], &theirs = built().all()[i];
    EXPECT_EQ(ours.schema, theirs.schema);
    EXPECT_EQ(ours.signature(), theirs.signature()) << ours.name;
    EXPECT_EQ(ours.has_default, theirs.has_default) << ours.name;
    EXPECT_EQ(ours.has_dispatch, theirs.has_dispatch) << ours.name;
    EXPECT_EQ(ours.op_class, theirs.op_class) << ours.name;
  }
}

/// A folder with one-entry files of our own.
std::filesystem::path small_folder(const TempDir& dir, const std::string& functions) {
  dir.write(std::filesystem::path("small") / kDeclarations / "native_functions.yaml", functions);
  dir.write(std::filesystem::path("small") / kDeclarations / "tags.yaml", "# tags\n\n- tag: core\n  desc: |\n    x\n");
  return dir.path() / "small";
}

TEST(DeclarationFolder, AddsTheFormsThatAreAnnounced) {
  const TempDir dir;
  const auto catalog = build_catalog(find_sources(small_folder(
      dir,
      "# a comment\n- func: f_(Tensor(a!) self, SymInt n=1) -> Tensor(a!)\n  dispatch:\n    CPU, CUDA: f_\n"
      "  tags: core\n  autogen: f, f.out\n")));
  EXPECT_EQ(catalog.torch_version(), "unknown");
  ASSERT_EQ(catalog.all().size(), 3U);
  EXPECT_EQ(catalog.find("f")->schema, "aten::f(Tensor self, SymInt n=1) -> Tensor");
  EXPECT_EQ(catalog.find("f.out")->schema, "aten::f.out(Tensor self, SymInt n=1, *, Tensor(a!) out) -> Tensor(a!)");
  EXPECT_EQ(catalog.find("f.out")->kernels.at("CompositeExplicitAutograd"), "f_out_symint");
  EXPECT_EQ(catalog.find("f_")->kernels.at("CUDA"), "f_");
  EXPECT_TRUE(catalog.find("f")->has_tag("generated"));
  EXPECT_FALSE(catalog.find("f_")->has_default);
}

std::string failure_of(const std::string& functions) {
  const TempDir dir;
  try {
    build_catalog(find_sources(small_folder(dir, functions)));
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::Environment);
    EXPECT_EQ(failure.code(), "E0402");
    EXPECT_FALSE(failure.hint().empty());
    return failure.what();
  }
  return "no failure";
}

TEST(DeclarationFolder, NamesFileAndEntryOfAFault) {
  EXPECT_THAT(failure_of("- func: f(Tensor self) -> Tensor\n\n- func: g(Tensor self\n"),
              HasSubstr("native_functions.yaml, entry at line 3: 'g(Tensor self': this '(' is not closed"));
  EXPECT_THAT(failure_of("- variants: method\n"), HasSubstr("has no 'func'"));
  EXPECT_THAT(failure_of("- func: [1\n"), HasSubstr("entry at line 1"));
  EXPECT_THAT(failure_of("nothing\n"), HasSubstr("has no entry"));
  EXPECT_THAT(failure_of("- func: f(Quark q) -> Tensor\n"), HasSubstr("'Quark' is not a type"));
  EXPECT_THAT(failure_of("- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n  autogen: h.out\n"),
              HasSubstr("announces 'h.out'"));
}

TEST(DeclarationFolder, NamesAMissingFile) {
  const TempDir dir;
  dir.write(std::filesystem::path(kDeclarations) / "native_functions.yaml", "- func: f() -> ()\n");
  try {
    find_sources(dir.path());
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("tags.yaml is missing"));
  }
}

}  // namespace
}  // namespace openreg_gen
