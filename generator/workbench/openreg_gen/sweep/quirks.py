"""Cases in which PyTorch on the CPU is not a reference: its result is random, or the process ends."""

# The contents of uninitialized memory are not a result, unless PyTorch fills it.
UNFILLED = (
    *("empty", "empty_like", "empty_permuted", "empty_strided"),
    *("new_empty", "new_empty_strided", "resize_", "resize_as_"),
)

# Mean losses that are not written if the batch is empty.
UNWRITTEN = ("nn.functional.multi_margin_loss", "nn.functional.multilabel_margin_loss")

# With an empty input PyTorch copies it, and looks at no other tensor.
UNREAD = ("nn.functional.batch_norm",)

# A tensor that is read as a number, from any device.
NUMBERS = {("narrow", "two_devices")}

# Kernels that use unchecked sizes and strides, and read or write outside a tensor's memory: subject, variant.
UNCHECKED = {
    ("_batch_norm_with_update", "zero_dim_cpu"),
    ("_native_batch_norm_legit", "zero_dim_cpu"),
    ("native_batch_norm", "zero_dim_cpu"),
    ("masked.median", "expanded_inputs"),
    ("nn.functional.gelu", "out_strided"),  # oneDNN's kernel, which treats every result as dense
    ("native_group_norm", "expanded_inputs"),
    *((name, variant) for name in ("tril", "triu") for variant in ("out_strided", "inplace_strided")),
    ("linalg.lu", "out_resized"),
    ("linalg.lu", "out_strided"),
    ("lu_unpack", "out_strided"),
    ("lu_unpack", "zero_dim_cpu"),
}

# Sums of large products that nearly cancel: the rest depends on their order. float32: rtol, atol.
LOOSER = {
    "linalg.householder_product": (1e-3, 1e-3),
    "nn.functional.scaled_dot_product_attention": (1e-4, 3e-4),
}

# Inputs with repeated elements make singular matrices: solutions are random, and so are the vectors of equal singular values.
# Second derivatives of large products are random too.
UNSTABLE = {
    ("linalg.householder_product", "second_order"),
    ("linalg.ldl_solve", "overlapping_inputs"),
    ("pca_lowrank", "expanded_inputs"),
    ("svd_lowrank", "expanded_inputs"),
    ("svd_lowrank", "overlapping_inputs"),
}

# With NaN and infinities, LAPACK's geev crashes; lcm divides the least integer by -1, which is a SIGFPE. The CPU's fused attention gives 0
# in rows for which the formula, its math backend and devices give NaN. Polynomials cast their order to an integer (ATen/native/Math.h), which C++
# leaves undefined for what fits in none.
SPECIAL = {
    (name, "special_values")
    for name in (
        *("lcm", "linalg.eig", "linalg.eigvals", "nn.functional.scaled_dot_product_attention"),
        *(f"special.{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
        *(f"special.{name}" for name in ("hermite_polynomial_h", "hermite_polynomial_he")),
        *(f"special.{name}" for name in ("laguerre_polynomial_l", "legendre_polynomial_p")),
    )
}

LEFT_OUT = UNCHECKED | UNSTABLE | SPECIAL | NUMBERS
