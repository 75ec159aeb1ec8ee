#include "model/families.h"

#include <algorithm>

namespace openreg_gen {
namespace {

constexpr std::string_view kFamilies[] = {"pointwise",  "reduction",     "linear algebra", "convolution",
                                          "pooling",    "normalization", "attention",      "activation backward",
                                          "loss",       "recurrent",     "indexing",       "sorting and searching",
                                          "resampling", "random",        "factory",        "copy",
                                          "view",       "queries",       "foreach",        "fft",
                                          "sparse",     "quantized",     "nested",         "vendor library",
                                          "other"};

/// How a base name, without leading underscores, names a family.
struct FamilyRule {
  enum Where { Part, Prefix, Suffix, Whole } where;
  std::string_view text, family;
};
using enum FamilyRule::Where;

/// The first that holds decides; what is particular comes before what is general. `^...` of a name is Prefix.
constexpr FamilyRule kFirst[] = {
    {Prefix, "foreach_", "foreach"},
    {Prefix, "fused_ad", "foreach"},
    {Prefix, "fused_sgd", "foreach"},
    {Prefix, "amp_foreach", "foreach"},
    {Part, "cudnn", "vendor library"},
    {Part, "miopen", "vendor library"},
    {Part, "mkldnn", "vendor library"},
    {Part, "onednn", "vendor library"},
    {Part, "_mps", "vendor library"},
    {Prefix, "mps_", "vendor library"},
    {Part, "xnnpack", "vendor library"},
    {Part, "nnpack", "vendor library"},
    {Part, "cufft", "vendor library"},
    {Part, "cslt", "vendor library"},
    {Part, "nested", "nested"},
    {Part, "jagged", "nested"},
    {Part, "quantiz", "quantized"},
    {Part, "fbgemm", "quantized"},
    {Prefix, "q_", "quantized"},
    {Whole, "int_repr", "quantized"},
    {Whole, "qscheme", "quantized"},
    {Part, "qparams", "quantized"},
    {Part, "int4", "quantized"},
    {Part, "int8", "quantized"},
    {Part, "sparse", "sparse"},
    {Part, "coalesce", "sparse"},
    {Part, "crow_indices", "sparse"},
    {Part, "ccol_indices", "sparse"},
    {Part, "row_indices", "sparse"},
    {Part, "col_indices", "sparse"},
    {Part, "indices_copy", "sparse"},
    {Part, "values", "sparse"},
    {Whole, "indices", "sparse"},
    {Part, "_nnz", "sparse"},
    {Whole, "nnz", "sparse"},
    {Part, "dimI", "sparse"},
    {Part, "dimV", "sparse"},
    {Prefix, "to_dense", "sparse"},
    {Whole, "sspaddmm", "sparse"},
    {Whole, "hspmm", "sparse"},
    {Part, "fft", "fft"},
    {Whole, "stft", "fft"},
    {Whole, "istft", "fft"},
    {Part, "attention", "attention"},
    {Part, "sdp", "attention"},
    {Part, "transformer", "attention"},
    {Part, "triton_multi", "attention"},
    {Prefix, "lstm", "recurrent"},
    {Prefix, "gru", "recurrent"},
    {Prefix, "rnn", "recurrent"},
    {Part, "thnn_fused_", "recurrent"},
    {Part, "thnn_differentiable", "recurrent"},
    {Part, "_pool", "pooling"},
    {Prefix, "conv_tbc", "convolution"},
    {Prefix, "convolution", "convolution"},
    {Prefix, "conv1d", "convolution"},
    {Prefix, "conv2d", "convolution"},
    {Prefix, "conv3d", "convolution"},
    {Prefix, "conv_", "convolution"},
    {Part, "_conv", "convolution"},
    {Prefix, "im2col", "convolution"},
    {Prefix, "col2im", "convolution"},
    {Part, "unfold", "convolution"},
    {Prefix, "thnn_conv", "convolution"},
    {Prefix, "linalg_vector_norm", "reduction"},
    {Whole, "norm", "reduction"},
    {Prefix, "linalg_", "linear algebra"},
    {Part, "cholesky", "linear algebra"},
    {Part, "softmax", "normalization"},
    {Part, "batch_norm", "normalization"},
    {Part, "_norm", "normalization"},
    {Whole, "renorm", "normalization"},
    {Part, "local_response", "normalization"},
    {Suffix, "loss", "loss"},
    {Part, "_loss_", "loss"},
    {Part, "nll_loss", "loss"},
    {Part, "cross_entropy", "loss"},
    {Prefix, "kl_div", "loss"},
    {Part, "ctc", "loss"},
    {Prefix, "upsample", "resampling"},
    {Part, "grid_sampler", "resampling"},
    {Part, "affine_grid", "resampling"},
    {Part, "_pad", "resampling"},
    {Prefix, "pad_", "resampling"},
    {Whole, "pad", "resampling"},
    {Part, "pixel_", "resampling"},
    {Prefix, "channel_shuffle", "resampling"},
    {Prefix, "dropout", "random"},
    {Part, "_dropout", "random"},
    {Prefix, "rand", "random"},
    {Prefix, "bernoulli", "random"},
    {Prefix, "multinomial", "random"},
    {Prefix, "philox", "random"},
    {Prefix, "sobol", "random"},
    {Whole, "normal", "random"},
    {Prefix, "rrelu", "random"},
};

/// After tags and classes.
constexpr FamilyRule kThen[] = {
    {Prefix, "embedding", "indexing"},
    {Prefix, "index", "indexing"},
    {Prefix, "unsafe_index", "indexing"},
    {Prefix, "unsafe_masked", "indexing"},
    {Prefix, "masked", "indexing"},
    {Part, "gather", "indexing"},
    {Part, "scatter", "indexing"},
    {Prefix, "take", "indexing"},
    {Prefix, "put", "indexing"},
    {Prefix, "nonzero", "indexing"},
    {Prefix, "argwhere", "indexing"},
    {Prefix, "where", "indexing"},
    {Prefix, "select", "indexing"},
    {Prefix, "slice", "indexing"},
    {Prefix, "one_hot", "indexing"},
    {Part, "sort", "sorting and searching"},
    {Part, "topk", "sorting and searching"},
    {Part, "unique", "sorting and searching"},
    {Prefix, "searchsorted", "sorting and searching"},
    {Prefix, "bucketize", "sorting and searching"},
    {Prefix, "isin", "sorting and searching"},
    {Part, "median", "sorting and searching"},
    {Prefix, "kthvalue", "sorting and searching"},
    {Prefix, "mode", "sorting and searching"},
    {Prefix, "hist", "sorting and searching"},
    {Part, "quantile", "sorting and searching"},
    {Prefix, "bincount", "sorting and searching"},
    {Prefix, "sum", "reduction"},
    {Prefix, "nansum", "reduction"},
    {Prefix, "mean", "reduction"},
    {Prefix, "nanmean", "reduction"},
    {Prefix, "std", "reduction"},
    {Prefix, "var", "reduction"},
    {Prefix, "prod", "reduction"},
    {Prefix, "cum", "reduction"},
    {Prefix, "logcumsumexp", "reduction"},
    {Prefix, "logsumexp", "reduction"},
    {Prefix, "arg", "reduction"},
    {Prefix, "max", "reduction"},
    {Prefix, "min", "reduction"},
    {Prefix, "amax", "reduction"},
    {Prefix, "amin", "reduction"},
    {Prefix, "aminmax", "reduction"},
    {Prefix, "all", "reduction"},
    {Prefix, "any", "reduction"},
    {Prefix, "count_nonzero", "reduction"},
    {Prefix, "trace", "reduction"},
    {Prefix, "equal", "reduction"},
    {Prefix, "trapz", "reduction"},
    {Prefix, "trapezoid", "reduction"},
    {Suffix, "mm", "linear algebra"},
    {Part, "_mm", "linear algebra"},
    {Prefix, "matmul", "linear algebra"},
    {Prefix, "linear", "linear algebra"},
    {Prefix, "bilinear", "linear algebra"},
    {Part, "trilinear", "linear algebra"},
    {Whole, "mv", "linear algebra"},
    {Prefix, "addmv", "linear algebra"},
    {Prefix, "addr", "linear algebra"},
    {Prefix, "addbmm", "linear algebra"},
    {Whole, "dot", "linear algebra"},
    {Whole, "vdot", "linear algebra"},
    {Whole, "inner", "linear algebra"},
    {Whole, "outer", "linear algebra"},
    {Whole, "ger", "linear algebra"},
    {Prefix, "cross", "linear algebra"},
    {Prefix, "kron", "linear algebra"},
    {Prefix, "einsum", "linear algebra"},
    {Prefix, "tensordot", "linear algebra"},
    {Part, "matmul", "linear algebra"},
    {Prefix, "matrix", "linear algebra"},
    {Part, "inverse", "linear algebra"},
    {Part, "det", "linear algebra"},
    {Prefix, "svd", "linear algebra"},
    {Whole, "qr", "linear algebra"},
    {Prefix, "lu_", "linear algebra"},
    {Part, "triangular", "linear algebra"},
    {Prefix, "tri", "linear algebra"},
    {Prefix, "ormqr", "linear algebra"},
    {Prefix, "orgqr", "linear algebra"},
    {Prefix, "geqrf", "linear algebra"},
    {Prefix, "lobpcg", "linear algebra"},
    {Prefix, "cdist", "linear algebra"},
    {Prefix, "pdist", "linear algebra"},
    {Prefix, "euclidean_dist", "linear algebra"},
    {Prefix, "pairwise_distance", "linear algebra"},
    {Prefix, "cosine_similarity", "linear algebra"},
    {Prefix, "diag", "linear algebra"},
    {Prefix, "copy", "copy"},
    {Prefix, "clone", "copy"},
    {Prefix, "to_copy", "copy"},
    {Whole, "to", "copy"},
    {Prefix, "contiguous", "copy"},
    {Prefix, "cat", "copy"},
    {Prefix, "concat", "copy"},
    {Whole, "stack", "copy"},
    {Suffix, "stack", "copy"},
    {Prefix, "repeat", "copy"},
    {Prefix, "tile", "copy"},
    {Prefix, "roll", "copy"},
    {Prefix, "rot90", "copy"},
    {Prefix, "flip", "copy"},
    {Prefix, "fill", "pointwise"},
    {Prefix, "zero", "pointwise"},
    {Prefix, "resize", "view"},
    {Prefix, "set", "view"},
    {Prefix, "view", "view"},
    {Prefix, "reshape", "view"},
    {Prefix, "flatten", "view"},
    {Suffix, "_split", "view"},
    {Suffix, "_chunk", "view"},
    {Prefix, "split", "view"},
    {Prefix, "chunk", "view"},
    {Prefix, "unbind", "view"},
    {Prefix, "expand", "view"},
    {Prefix, "broadcast", "view"},
    {Prefix, "meshgrid", "view"},
    {Suffix, "_backward", "activation backward"},
    {Prefix, "is_", "queries"},
    {Prefix, "sym_", "queries"},
    {Prefix, "size", "queries"},
    {Prefix, "stride", "queries"},
    {Whole, "dim", "queries"},
    {Whole, "numel", "queries"},
    {Whole, "dense_dim", "queries"},
    {Whole, "storage_offset", "queries"},
    {Whole, "get_device", "queries"},
    {Whole, "item", "queries"},
    {Whole, "local_scalar_dense", "queries"},
    {Prefix, "can_cast", "queries"},
    {Prefix, "promote_types", "queries"},
    {Prefix, "result_type", "queries"},
    {Prefix, "has_", "queries"},
    {Prefix, "cast_", "copy"},
    {Whole, "type_as", "copy"},
    {Whole, "pin_memory", "copy"},
    {Whole, "lazy_clone", "copy"},
    {Prefix, "to_cpu", "copy"},
    {Prefix, "atleast_", "view"},
    {Prefix, "unsafe_view", "view"},
    {Prefix, "unsafe_split", "view"},
    {Prefix, "unflatten", "view"},
    {Prefix, "block_diag", "copy"},
    {Prefix, "cartesian_prod", "copy"},
    {Prefix, "combinations", "copy"},
    {Prefix, "arc", "pointwise"},
    {Prefix, "absolute", "pointwise"},
    {Prefix, "divide", "pointwise"},
    {Prefix, "true_divide", "pointwise"},
    {Prefix, "floor_divide", "pointwise"},
    {Prefix, "multiply", "pointwise"},
    {Prefix, "subtract", "pointwise"},
    {Prefix, "rsub", "pointwise"},
    {Prefix, "negative", "pointwise"},
    {Prefix, "not_equal", "pointwise"},
    {Prefix, "greater", "pointwise"},
    {Prefix, "less", "pointwise"},
    {Prefix, "fix", "pointwise"},
    {Prefix, "isclose", "pointwise"},
    {Prefix, "isreal", "pointwise"},
    {Whole, "complex", "pointwise"},
    {Whole, "polar", "pointwise"},
    {Part, "prelu", "pointwise"},
    {Prefix, "hardswish", "pointwise"},
    {Prefix, "log_sigmoid", "pointwise"},
    {Prefix, "glu", "pointwise"},
    {Whole, "and", "pointwise"},
    {Whole, "iand", "pointwise"},
    {Whole, "or", "pointwise"},
    {Whole, "ior", "pointwise"},
    {Prefix, "add_relu", "pointwise"},
};

bool holds(const FamilyRule& rule, std::string_view base) {
  switch (rule.where) {
    case Part:
      return base.find(rule.text) != std::string_view::npos;
    case Prefix:
      return base.starts_with(rule.text);
    case Suffix:
      return base.ends_with(rule.text);
    case Whole:
      return base == rule.text;
  }
  return false;
}

std::string_view first_of(std::span<const FamilyRule> rules, std::string_view base) {
  const auto found = std::ranges::find_if(rules, [&](const FamilyRule& rule) { return holds(rule, base); });
  return found == rules.end() ? std::string_view() : found->family;
}

/// True for the operator or for another form of it.
template <typename Predicate>
bool in_group(const Op& op, const Catalog& catalog, Predicate predicate) {
  if (predicate(op)) return true;
  return std::ranges::any_of(op.variants, [&](const std::string& name) {
    const Op* other = catalog.find(name);
    return other != nullptr && predicate(*other);
  });
}

}  // namespace

std::span<const std::string_view> all_families() { return kFamilies; }

std::string_view family_of(const Op& op, const Catalog& catalog) {
  std::string_view base = op.base;
  while (base.starts_with('_')) base.remove_prefix(1);
  while (base.ends_with('_')) base.remove_suffix(1);  // in-place
  const bool special = base.starts_with("special_");
  if (special) base.remove_prefix(8);
  if (const auto family = first_of(kFirst, base); !family.empty()) return family;
  if (in_group(op, catalog, [](const Op& o) { return o.op_class == OpClass::Random; })) return "random";
  if (in_group(op, catalog, [](const Op& o) { return o.op_class == OpClass::Factory; })) return "factory";
  const auto then = first_of(kThen, base);
  if (then == "indexing" || then == "sorting and searching") return then;
  if (in_group(op, catalog, [](const Op& o) { return o.has_tag("reduction"); })) return "reduction";
  if (in_group(op, catalog, [](const Op& o) { return o.is_view || o.has_tag("view_copy"); })) return "view";
  if (in_group(op, catalog,
               [](const Op& o) { return o.has_tag("pointwise") || o.structured_inherits == "TensorIteratorBase"; }))
    return then == "activation backward" ? then : "pointwise";
  if (then.empty() && special) return "pointwise";
  return then.empty() ? "other" : then;
}

}  // namespace openreg_gen
