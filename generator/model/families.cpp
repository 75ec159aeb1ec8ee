#include "model/coverage.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

constexpr std::string_view kFamilies[] = {"pointwise",  "reduction",     "linear algebra", "convolution",
                                          "pooling",    "normalization", "attention",      "activation backward",
                                          "loss",       "recurrent",     "indexing",       "sorting and searching",
                                          "resampling", "random",        "factory",        "copy",
                                          "view",       "queries",       "foreach",        "fft",
                                          "sparse",     "quantized",     "nested",         "vendor library",
                                          "other"};

/// A family, and globs of its operators' base names, without leading underscores: `*` stands at the ends alone.
struct FamilyRule {
  std::string_view family, globs;
};

/// The first that holds decides; what is particular comes before what is general.
constexpr FamilyRule kFirst[] = {
    {"foreach", "foreach_* fused_ad* fused_sgd* amp_foreach*"},
    {"vendor library", "*cudnn* *miopen* *mkldnn* *onednn* *_mps* mps_* *xnnpack* *nnpack* *cufft* *cslt*"},
    {"nested", "*nested* *jagged*"},
    {"quantized", "*quantiz* *fbgemm* q_* int_repr qscheme *qparams* *int4* *int8*"},
    {"sparse",
     "*sparse* *coalesce* *crow_indices* *ccol_indices* *row_indices* *col_indices* *indices_copy* *values* indices "
     "*_nnz* nnz *dimI* *dimV* to_dense* sspaddmm hspmm"},
    {"fft", "*fft* stft istft"},
    {"attention", "*attention* *sdp* *transformer* *triton_multi*"},
    {"recurrent", "lstm* gru* rnn* *thnn_fused_* *thnn_differentiable*"},
    {"pooling", "*_pool*"},
    {"convolution",
     "conv_tbc* convolution* conv1d* conv2d* conv3d* conv_* *_conv* im2col* col2im* *unfold* thnn_conv*"},
    {"reduction", "linalg_vector_norm* norm"},
    {"linear algebra", "linalg_* *cholesky*"},
    {"normalization", "*softmax* *batch_norm* *_norm* renorm *local_response*"},
    {"loss", "*loss *_loss_* *nll_loss* *cross_entropy* kl_div* *ctc*"},
    {"resampling", "upsample* *grid_sampler* *affine_grid* *_pad* pad_* pad *pixel_* channel_shuffle*"},
    {"random", "dropout* *_dropout* rand* bernoulli* multinomial* philox* sobol* normal rrelu*"},
};

/// After tags and classes.
constexpr FamilyRule kThen[] = {
    {"indexing",
     "embedding* index* unsafe_index* unsafe_masked* masked* *gather* *scatter* take* put* nonzero* argwhere* where* "
     "select* slice* one_hot*"},
    {"sorting and searching",
     "*sort* *topk* *unique* searchsorted* bucketize* isin* *median* kthvalue* mode* hist* *quantile* bincount*"},
    {"reduction",
     "sum* nansum* mean* nanmean* std* var* prod* cum* logcumsumexp* logsumexp* arg* max* min* amax* amin* aminmax* "
     "all* any* count_nonzero* trace* equal* trapz* trapezoid*"},
    {"linear algebra",
     "*mm *_mm* matmul* linear* bilinear* *trilinear* mv addmv* addr* addbmm* dot vdot inner outer ger cross* kron* "
     "einsum* tensordot* *matmul* matrix* *inverse* *det* svd* qr lu_* *triangular* tri* ormqr* orgqr* geqrf* "
     "lobpcg* cdist* pdist* euclidean_dist* pairwise_distance* cosine_similarity* diag*"},
    {"copy", "copy* clone* to_copy* to contiguous* cat* concat* stack *stack repeat* tile* roll* rot90* flip*"},
    {"pointwise", "fill* zero*"},
    {"view", "resize* set* view* reshape* flatten* *_split *_chunk split* chunk* unbind* expand* broadcast* meshgrid*"},
    {"activation backward", "*_backward"},
    {"queries",
     "is_* sym_* size* stride* dim numel dense_dim storage_offset get_device item local_scalar_dense can_cast* "
     "promote_types* result_type* has_*"},
    {"copy", "cast_* type_as pin_memory lazy_clone to_cpu*"},
    {"view", "atleast_* unsafe_view* unsafe_split* unflatten*"},
    {"copy", "block_diag* cartesian_prod* combinations*"},
    {"pointwise",
     "arc* absolute* divide* true_divide* floor_divide* multiply* subtract* rsub* negative* not_equal* greater* "
     "less* fix* isclose* isreal* complex polar *prelu* hardswish* log_sigmoid* glu* and iand or ior add_relu*"},
};

bool matches(std::string_view glob, std::string_view base) {
  const bool any_before = glob.starts_with('*'), any_behind = glob.ends_with('*');
  if (any_before) glob.remove_prefix(1);
  if (any_behind) glob.remove_suffix(1);
  if (any_before && any_behind) return includes(base, glob);
  return any_before ? base.ends_with(glob) : any_behind ? base.starts_with(glob) : base == glob;
}

std::string_view first_of(std::span<const FamilyRule> rules, std::string_view base) {
  const auto found = std::ranges::find_if(rules, [&](const FamilyRule& rule) {
    return any_word(rule.globs, [&](std::string_view glob) { return matches(glob, base); });
  });
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
