"""Where PyTorch on the CPU is no reference: its answer is chance, or the process ends."""

# What memory holds before anything was written to it is no result, unless it is filled.
UNFILLED = (
    *("empty", "empty_like", "empty_permuted", "empty_strided"),
    *("new_empty", "new_empty_strided", "resize_", "resize_as_"),
)

# Mean losses that are never written where the batch is empty.
UNWRITTEN = ("nn.functional.multi_margin_loss", "nn.functional.multilabel_margin_loss")

# Kernels that trust sizes and strides nobody checked, and read or write what a tensor does not have: subject, variant.
UNCHECKED = {
    ("_batch_norm_with_update", "zero_dim_cpu"),
    ("_native_batch_norm_legit", "zero_dim_cpu"),
    ("native_batch_norm", "zero_dim_cpu"),
    ("masked.median", "expanded_inputs"),
    ("nn.functional.gelu", "out_strided"),  # oneDNN's, which takes any result for a dense one
    ("native_group_norm", "expanded_inputs"),
    *((name, variant) for name in ("tril", "triu") for variant in ("out_strided", "inplace_strided")),
    ("linalg.lu", "out_resized"),
    ("linalg.lu", "out_strided"),
    ("lu_unpack", "out_strided"),
    ("lu_unpack", "zero_dim_cpu"),
}

# Sums of large products that nearly cancel: what is left over depends on their order. float32: rtol, atol.
LOOSER = {
    "linalg.householder_product": (1e-3, 1e-3),
    "nn.functional.scaled_dot_product_attention": (1e-4, 3e-4),
}

# Inputs whose elements are partly the same make matrices that have no inverse: solutions are chance, and so are the vectors
# of singular values that are the same.
# Second derivatives of large products, too.
UNSTABLE = {
    ("linalg.householder_product", "second_order"),
    ("linalg.ldl_solve", "overlapping_inputs"),
    ("pca_lowrank", "expanded_inputs"),
    ("svd_lowrank", "expanded_inputs"),
    ("svd_lowrank", "overlapping_inputs"),
}

LEFT_OUT = UNCHECKED | UNSTABLE
