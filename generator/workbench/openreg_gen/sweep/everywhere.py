"""Differences from the CPU that every PrivateUse1 backend has, because PyTorch treats its devices that way.

Some apply only if the backend has its own kernel, or only if it has none: `kernel`.
"""

from .known import KnownDifference

SHAPE = "only the other tensor's shape is used"
SHAPE_CUDA = "CUDA does the same: PyTorch only reads the sizes of such an argument"
COPIED = "the other tensor is copied into a copy of self, and copies between devices are allowed"
COPIED_CUDA = "CUDA does the same: copy_() takes a source on any device, and the copy of self is on the device of self"
NARROW = "without a kernel in the backend, PyTorch's decomposition checks the dimension itself"
SHUFFLE = "PyTorch's decomposition leaves its result contiguous; the CPU's kernel keeps the layout"
SUMMED = "a sum of gradients has the strides of its first term, and PyTorch sums those of accelerators in another order"
CHUNKED = "PyTorch's own Python code uses mixed products on every device except the CPU"
ELSEWHERE = "to(other) moves to the device of the other tensor, which is on the CPU"
ELSEWHERE_CUDA = "CUDA does the same: to(other) accepts any tensor's device"
WIDER = "the kernel computes in float, which can represent the number"
WIDER_CUDA = "CUDA's add, elu and softplus do the same: their scalars have opmath_type"
COLUMNS = "the strides that fake tensors promise for every device except the CPU, and that CUDA returns"
MARGINS = ("multi_margin_loss", "multilabel_margin_loss")
HALVES = "the fallback computes half precision in float"
HALVES_CUDA = "CUDA's kernels take half precision (dtypesIfCUDA of PyTorch's OpInfos)"
LATE = "the kernel finds the error when it runs, and the next call reports it, as with CUDA's assertions"

EVERYWHERE: tuple[KnownDifference, ...] = (
    KnownDifference("nonzero_static/*/*/*", "strides", COLUMNS, kernel="nonzero_static"),
    *(
        KnownDifference(f"{name}/two_devices/*/*", "raising", SHAPE, SHAPE_CUDA)
        for name in ("broadcast_tensors", "expand_as", "reshape_as", "resize_as_", "view_as")
    ),
    *(
        KnownDifference(f"{name}_scatter/two_devices/*/*", "raising", COPIED, COPIED_CUDA)
        for name in ("as_strided", "diagonal", "select", "slice")
    ),
    *(
        KnownDifference(f"{name}/zero_dim_cpu/*/*", "device", COPIED, COPIED_CUDA)
        for name in ("as_strided_scatter", "resize_as_")
    ),
    *(
        KnownDifference(
            f"{name}.tensor_overload/two_devices/*/*", "raising", "both ends are read as numbers", "CUDA: item()"
        )
        for name in ("linspace", "logspace")
    ),
    KnownDifference(
        "nn.functional.ctc_loss/two_devices/*/*",
        "raising",
        "lengths are moved to the CPU from any device",
        "CUDA does the same: ctc_loss.Tensor moves lengths to the CPU",
    ),
    KnownDifference(
        "optim.NAdam/*/*/*",
        "device",
        "its mu_product is on the CPU, unless capturable",
        "CUDA does the same: torch/optim/nadam.py",
    ),
    *(
        KnownDifference(
            f"ldexp/{variant}/*/*", "raising", "x * 2**other takes a bool", "CUDA does the same: it has no such kernel"
        )
        for variant in ("mixed_dtypes", "zero_dim_cpu")
    ),
    KnownDifference(
        "nn.functional.linear_cross_entropy.chunked*/mixed_dtypes/*/*",
        "raising",
        CHUNKED,
        "torch/nn/modules/linear_cross_entropy.py: out_dtype= only if is_cuda",
    ),
    *(
        KnownDifference(
            f"nn.functional.embedding_bag/{variant}/*/*",
            "raising",
            "the fallback returns the CPU kernel's sizes; fake tensors promise those of CUDA's kernel",
            "torch/_meta_registrations.py: meta_embedding_bag compares device_hint(offsets) with the CPU",
            kernel=f"!{kernel}",
        )
        for variant, kernel in (("fakes", "_embedding_bag_forward_only"), ("backward_fakes", "_embedding_bag"))
    ),
    KnownDifference(
        "ldexp/zero_dim_cpu/*/*", "strides", "a product of two tensors has different strides from the CPU's own kernel"
    ),
    KnownDifference("nn.functional.pixel_*shuffle/*/*/*", "strides", SHUFFLE),
    KnownDifference(
        "nn.GroupNorm/*_channels_last/*/*",
        "strides",
        "PyTorch's formula makes gradients contiguous on every device except the CPU",
    ),
    *(
        KnownDifference(f"{name}/second_order/*/*", "strides", SUMMED)
        for name in ("linalg.lstsq*", "linalg.solve*", "linalg.tensorsolve", "ormqr")
    ),
    KnownDifference("nn.LSTMCell/*/*/*", "aliasing", "the fused cell's two biases share one gradient, as CUDA's do"),
    KnownDifference("narrow_copy/errors/*/*", "error", NARROW),
    *(
        KnownDifference(f"to/{variant}/*/*", "device", ELSEWHERE, ELSEWHERE_CUDA)
        for variant in ("numbers", "wide_numbers", "zero_dim_cpu")
    ),
    *(
        KnownDifference(f"{name}/wide_numbers/float16/*", "raising", WIDER, WIDER_CUDA, kernel=kernel)
        for name, kernel in (
            *((name, "add.out") for name in ("add", "_foreach_add")),
            *((name, "sub.out") for name in ("sub", "_foreach_sub", "rsub")),
            ("nn.functional.threshold", "threshold.out"),
        )
    ),
    *(
        KnownDifference(
            f"{name}/wide_numbers/*float16/*",
            "raising",
            "fill_ turns the number into a tensor on the device",
            "CUDA does the same: its fill_ converts by Scalar::to, which throws",
        )
        for name in ("full_like", "new_full", "where")
    ),
    KnownDifference(
        "_foreach_norm/backward*/float16/*",
        "value",
        "inf times a 0-dim tensor on the device, which is 0 in 16 bits, is NaN",
        "CUDA does the same: only the CPU reads 0-dim tensors as numbers, in 32 bits",
    ),
    KnownDifference(
        "add/out_dtype/bool/*",
        "raising",
        "alpha=True is refused unless out= is a bool",
        "CUDA does the same: its iterator has the dtype of out=, the CPU's iterator that of a temporary",
        kernel="add.out",
    ),
    KnownDifference(
        "*addmv/*/*/*",
        "shape",
        "a matrix without elements: the CPU's kernel takes the shape of self, PyTorch's meta function the number of rows",
        kernel="addmv.out",
    ),
    *(
        KnownDifference(
            f"*addmv/{variant}*/*/*",
            "raising",
            "a matrix without elements: the gradient of the CPU's result, whose shape is that of self, can't be computed",
            "PyTorch's meta function has the right shape",
            kernel="addmv.out",
        )
        for variant in ("backward", "second_order")
    ),
    *(
        KnownDifference(
            f"*nn.functional.{name}_norm/{values}/*/*",
            "value",
            "an infinite weight or deviation: the CPU multiplies both by the weight before it takes their difference, which is NaN",
            "CUDA takes the difference first, as kernels of this backend do",
            kernel="native_batch_norm",
        )
        for name in ("batch", "instance")
        for values in ("special_values", "not_finite")
    ),
    *(
        KnownDifference(
            f"*native_batch_norm*/{variant}/*/*",
            "raising",
            "weights with more elements than there are channels: the CPU takes them for contiguous inputs, and refuses them for others",
            "the operator itself checks nothing: at::batch_norm does, before it calls it",
            kernel="native_batch_norm",
        )
        for variant in ("transposed", "overlapping_inputs")
    ),
    KnownDifference(
        "native_layer_norm/special_values/*/*",
        "value",
        "the mean of numbers with an infinity is infinite; the CPU's running mean is NaN",
        "the CPU's mean() is infinite, too",
        kernel="native_layer_norm",
    ),
    KnownDifference(
        "nn.functional.pixel_unshuffle/zero_size/*/*",
        "shape",
        "without elements the CPU's kernel returns a copy of its input; PyTorch's decomposition returns the right shape",
    ),
    *(
        KnownDifference(
            f"{name}/wide_numbers/*int[!6]*/*", "error", LATE, kernel=kernel
        )  # it wraps around to 0, and divides
        for name, kernel in (
            *((f"div.{rounding}_rounding", "div.out_mode") for rounding in ("floor", "trunc")),
            ("fmod", "fmod.Tensor_out"),
            *((name, "remainder.Tensor_out") for name in ("__rmod__", "remainder")),
        )
    ),
    *(
        KnownDifference(f"nn.functional.{name}/mixed_dtypes/float*/*", "raising", HALVES, HALVES_CUDA, kernel=f"!{op}")
        for name, op in zip(MARGINS, (MARGINS[0], f"{MARGINS[1]}_forward"), strict=True)
    ),
    KnownDifference(
        "*index_put/mixed_dtypes/*/*",
        "raising",
        "a mask and one value of another dtype: PyTorch fills, which converts, only if the value is on the CPU",
        "CUDA does the same: canDispatchToMaskedFill asks for a value on the CPU",
        kernel="_index_put_impl_",
    ),
    KnownDifference(
        "rsub/special_values/*/*",
        "value",
        "alpha times a number overflows before it is added; a processor that can fuses the two",
        "the CPU does the same with ATEN_CPU_CAPABILITY=default",
        kernel="sub.out",
    ),
    *(
        KnownDifference(
            f"*{name}/not_finite/complex*/*",
            "value",
            "which parts of a complex product with an infinity are NaN depends on the order of its sums",
            "the CPU's own mm gives what this kernel gives for each matrix of the batch",
            kernel=f"{name}.out",
        )
        for name in ("baddbmm", "bmm")
    ),
    KnownDifference("index_put/inplace_small/*/*", "error", LATE, mode="!deterministic", kernel="_index_put_impl_"),
    *(
        KnownDifference(f"{name}/{variant}/*/*", "error", LATE, kernel=kernel)
        for name, variant, kernel in (
            ("*_softmax_backward_data", "mixed_dtypes", "_softmax_backward_data.out"),
            ("gather", "errors", "gather.out"),
            ("put", "inplace_small", "put_"),
            ("scatter", "errors", "scatter.src_out"),
            ("scatter", "inplace_small", "scatter.src_out"),
            ("scatter_add", "errors", "scatter_add.out"),
            ("scatter_add", "inplace_small", "scatter_add.out"),
            ("scatter_reduce.*", "inplace_small", "scatter_reduce.two_out"),
        )
    ),
)
