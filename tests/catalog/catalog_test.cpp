// The numbers are those of PyTorch 2.13.0, counted with its own torchgen.
#include "catalog/catalog.h"

#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace openreg_gen {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

template <typename Predicate>
long count(Predicate predicate) {
  return std::ranges::count_if(built().all(), predicate);
}

TEST(Catalog, CountsOfTheInstalledPyTorch) {
  EXPECT_EQ(built().torch_version(), "2.13.0");
  EXPECT_EQ(built().all().size(), 3101U);
  EXPECT_EQ(count([](const Op& op) { return op.has_tag("generated"); }), 517);
  EXPECT_EQ(count([](const Op& op) { return op.structured; }), 275);
  EXPECT_EQ(count([](const Op& op) { return !op.structured_delegate.empty(); }), 385);
  EXPECT_EQ(count([](const Op& op) { return op.structured_inherits == "TensorIteratorBase"; }), 155);
  EXPECT_EQ(count([](const Op& op) { return !op.precomputed.empty(); }), 9);
  EXPECT_EQ(count([](const Op& op) { return !op.has_default; }), 858);
  EXPECT_EQ(count([](const Op& op) { return !op.has_dispatch; }), 732);
  EXPECT_EQ(count([](const Op& op) { return op.composite_implicit; }), 743);
  EXPECT_EQ(count([](const Op& op) { return op.kernels.contains("CompositeExplicitAutograd"); }), 1061);
  EXPECT_EQ(count([](const Op& op) { return op.kernels.contains("CompositeExplicitAutogradNonFunctional"); }), 57);
  EXPECT_EQ(count([](const Op& op) { return op.is_view; }), 106);
  EXPECT_EQ(count([](const Op& op) { return op.kernels.contains("CPU"); }), 682);
  EXPECT_EQ(count([](const Op& op) { return op.kernels.contains("CUDA"); }), 885);
  EXPECT_EQ(count([](const Op& op) { return op.method; }), 727);
}

TEST(Catalog, CountsOfKindsAndTags) {
  const auto kind = [](SchemaKind wanted) { return count([&](const Op& op) { return op.kind == wanted; }); };
  EXPECT_EQ(kind(SchemaKind::Functional), 1647);
  EXPECT_EQ(kind(SchemaKind::Inplace), 337);
  EXPECT_EQ(kind(SchemaKind::Out), 1107);
  EXPECT_EQ(kind(SchemaKind::Mutable), 10);
  const auto tag = [](const char* wanted) { return count([&](const Op& op) { return op.has_tag(wanted); }); };
  EXPECT_EQ(tag("pointwise"), 546);
  EXPECT_EQ(tag("core"), 193);
  EXPECT_EQ(tag("nondeterministic_seeded"), 149);
  EXPECT_EQ(tag("reduction"), 71);
  EXPECT_EQ(tag("inplace_view"), 17);
}

TEST(Catalog, OneClassEach) {
  const auto of = [](OpClass wanted) { return count([&](const Op& op) { return op.op_class == wanted; }); };
  EXPECT_EQ(of(OpClass::Structured), 275 + 385);
  EXPECT_EQ(of(OpClass::Composite), 1695);
  EXPECT_EQ(of(OpClass::Native), 505);
  EXPECT_EQ(of(OpClass::Random), 104);
  EXPECT_EQ(of(OpClass::Factory), 83);
  EXPECT_EQ(of(OpClass::View), 54);
}

OpClass class_of(const char* name) {
  const auto* op = built().find(name);
  if (op == nullptr) throw std::runtime_error(name);
  return op->op_class;
}

TEST(Catalog, ClassesOfWellKnownOperators) {
  for (const char* name : {"add.Tensor", "add.out", "add_.Tensor", "mm"}) {
    EXPECT_EQ(class_of(name), OpClass::Structured) << name;
  }
  EXPECT_EQ(class_of("reshape"), OpClass::Composite) << "a view, but made of others";
  EXPECT_EQ(class_of("dropout"), OpClass::Composite) << "random, but made of others";
  EXPECT_EQ(class_of("convolution_overrideable"), OpClass::Composite);
  EXPECT_EQ(class_of("as_strided"), OpClass::View);
  EXPECT_EQ(class_of("set_.source_Storage"), OpClass::View);
  EXPECT_EQ(class_of("transpose.int"), OpClass::View);
  EXPECT_EQ(class_of("empty.memory_format"), OpClass::Factory);
  EXPECT_EQ(class_of("rand_like"), OpClass::Factory);
  EXPECT_EQ(class_of("uniform_"), OpClass::Random);
  EXPECT_EQ(class_of("poisson"), OpClass::Random);
  EXPECT_EQ(class_of("relu"), OpClass::Native);
  EXPECT_EQ(class_of("record_stream"), OpClass::Native);
}

/// The views that no default serves, so that a backend must register them.
TEST(Catalog, ViewsWithoutADefault) {
  std::vector<std::string> names;
  for (const auto& op : built().all()) {
    if (op.op_class == OpClass::View && !op.has_default && op.kernels.contains("CPU")) names.push_back(op.name);
  }
  EXPECT_THAT(names, ElementsAre("_nested_view_from_buffer", "_reshape_alias", "as_strided", "set_",
                                 "set_.source_Storage", "set_.source_Storage_storage_offset", "set_.source_Tensor",
                                 "unfold", "view", "view_as_complex", "view_as_real"));
}

TEST(Catalog, AnOperatorInFull) {
  const auto* op = built().find("aten::add.out");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->name, "add.out");
  EXPECT_EQ(op->ops_struct(), "at::_ops::add_out");
  EXPECT_EQ(op->schema, "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)");
  EXPECT_EQ(
      op->signature(),
      "at::Tensor & (const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha, at::Tensor & out)");
  EXPECT_EQ(op->meta_struct, "at::meta::structured_add_Tensor");
  EXPECT_EQ(op->native_struct("CPU"), "at::native::structured_ufunc_add_CPU");
  EXPECT_EQ(op->native_struct("SparseCPU"), "");
  EXPECT_THAT(op->variants, ElementsAre("add.Tensor", "add_.Tensor"));
  EXPECT_THAT(op->schema_returns, ElementsAre("Tensor(a!)"));
  ASSERT_EQ(op->arguments.size(), 4U);
  EXPECT_EQ(op->arguments[2].default_value, "1");
  EXPECT_TRUE(op->arguments[2].kwarg_only);
  EXPECT_FALSE(op->arguments[2].is_out);
  EXPECT_TRUE(op->arguments[3].is_out);
  EXPECT_EQ(op->arguments[3].schema_type, "Tensor(a!)");
  EXPECT_FALSE(op->device_check);
  EXPECT_THAT(built().find("max.dim_max")->precomputed, ElementsAre("dim -> int dim"));
}

TEST(Catalog, Lookup) {
  EXPECT_EQ(built().find("add.Tensro"), nullptr);
  EXPECT_EQ(built().find(""), nullptr);
  std::vector<std::string> names;
  for (const auto* op : built().overloads("add")) names.push_back(op->name);
  EXPECT_THAT(names, ElementsAre("add.Scalar", "add.Scalar_out", "add.Tensor", "add.out"));
  EXPECT_TRUE(built().overloads("ad").empty());
  EXPECT_TRUE(std::ranges::is_sorted(built().all(), {}, &Op::name));
}

TEST(Catalog, MetaStructsAreInTheHeaders) {
  const auto headers = built().torch_dir() / "include/ATen/ops";
  int seen = 0;
  for (const auto& op : built().all()) {
    if (!op.structured) continue;
    const auto name = op.meta_struct.substr(std::string("at::meta::").size());
    // The header is named after the group, whose base the functional form has.
    const auto* functional = &op;
    for (const auto& variant : op.variants) {
      if (const auto* v = built().find(variant); v->kind == SchemaKind::Functional) functional = v;
    }
    std::ifstream file(headers / (functional->base + "_meta.h"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto base = op.structured_inherits.empty() ? "at::impl::MetaBase" : "TensorIteratorBase";
    seen += text.find(name + " : public ") != std::string::npos && text.find(base) != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(seen, 275);
}

TEST(Catalog, IdentityNamesVersionAndContent) {
  EXPECT_THAT(built().identity(), testing::MatchesRegex("torch-2\\.13\\.0-[0-9a-f]{16}"));
}

}  // namespace
}  // namespace openreg_gen
