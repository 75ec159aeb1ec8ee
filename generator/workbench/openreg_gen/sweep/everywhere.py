"""Differences from the CPU that every PrivateUse1 backend has, since PyTorch itself treats its devices so.

Some hold only where the backend has a kernel of its own, or only where it has none: `kernel`.
"""

from .known import Known

SHAPE = "only the shape of the other tensor is read"
SHAPE_CUDA = "CUDA does the same: PyTorch asks such an argument for its sizes, which no device has a part in"
COPIED = "the other tensor is copied into a copy of self, and copies go from any device to any other"
COPIED_CUDA = "CUDA does the same: copy_() takes a source of any device, and a copy of self is where self is"
NARROW = "no kernel of the backend's own: PyTorch's decomposition checks the dimension itself"
SHUFFLE = "PyTorch's decomposition leaves its result contiguous; the CPU's kernel keeps the layout"
SUMMED = "a sum of gradients has the strides of its first term, and PyTorch sums those of accelerators in another order"
CHUNKED = "PyTorch's own Python code asks for mixed products where the device is not the CPU"
ELSEWHERE = "to(other) moves to where the other tensor is, and that one is on the CPU"
ELSEWHERE_CUDA = "CUDA does the same: to(other) takes the device of any tensor"
WIDER = "the kernel computes in float, which holds the number"
WIDER_CUDA = "CUDA's add, elu and softplus do the same: their numbers are of opmath_type"
COLUMNS = "as fake tensors promise of any device but the CPU, and as CUDA has them"
MARGINS = ("multi_margin_loss", "multilabel_margin_loss")
HALVES = "falling back, half precision is computed in float"
HALVES_CUDA = "CUDA's kernels take half precision (dtypesIfCUDA of PyTorch's OpInfos)"
LATE = "the kernel finds the error when it runs, and the next call reports it, as with CUDA's assertions"

EVERYWHERE: tuple[Known, ...] = (
    Known("nonzero_static/*/*/*", "strides", COLUMNS, kernel="nonzero_static"),
    *(
        Known(f"{name}/two_devices/*/*", "raising", SHAPE, SHAPE_CUDA)
        for name in ("broadcast_tensors", "expand_as", "reshape_as", "resize_as_", "view_as")
    ),
    *(
        Known(f"{name}_scatter/two_devices/*/*", "raising", COPIED, COPIED_CUDA)
        for name in ("as_strided", "diagonal", "select", "slice")
    ),
    *(
        Known(f"{name}/zero_dim_cpu/*/*", "device", COPIED, COPIED_CUDA)
        for name in ("as_strided_scatter", "resize_as_")
    ),
    *(
        Known(f"{name}.tensor_overload/two_devices/*/*", "raising", "both ends are read as numbers", "CUDA: item()")
        for name in ("linspace", "logspace")
    ),
    Known(
        "nn.functional.ctc_loss/two_devices/*/*",
        "raising",
        "lengths are moved to the CPU, wherever they are",
        "CUDA does the same: ctc_loss.Tensor moves lengths to the CPU",
    ),
    Known(
        "optim.NAdam/*/*/*",
        "device",
        "its mu_product is on the CPU, unless capturable",
        "CUDA does the same: torch/optim/nadam.py",
    ),
    *(
        Known(
            f"ldexp/{variant}/*/*", "raising", "x * 2**other takes a bool", "CUDA does the same: it has no such kernel"
        )
        for variant in ("mixed_dtypes", "zero_dim_cpu")
    ),
    Known(
        "nn.functional.linear_cross_entropy.chunked*/mixed_dtypes/*/*",
        "raising",
        CHUNKED,
        "torch/nn/modules/linear_cross_entropy.py: out_dtype= where is_cuda, and no other device has it",
    ),
    *(
        Known(
            f"nn.functional.embedding_bag/{variant}/*/*",
            "raising",
            "falling back, it has the sizes of the CPU's kernel; fake tensors promise those of CUDA's",
            "torch/_meta_registrations.py: meta_embedding_bag asks device_hint(offsets) for the CPU",
            kernel=f"!{kernel}",
        )
        for variant, kernel in (("fakes", "_embedding_bag_forward_only"), ("backward_fakes", "_embedding_bag"))
    ),
    Known("ldexp/zero_dim_cpu/*/*", "strides", "a product of two tensors has other strides than the CPU's own kernel"),
    Known("nn.functional.pixel_*shuffle/*/*/*", "strides", SHUFFLE),
    Known(
        "nn.GroupNorm/*_channels_last/*/*",
        "strides",
        "PyTorch's formula makes gradients contiguous wherever the device is not the CPU",
    ),
    *(
        Known(f"{name}/second_order/*/*", "strides", SUMMED)
        for name in ("linalg.lstsq*", "linalg.solve*", "linalg.tensorsolve", "ormqr")
    ),
    Known("nn.LSTMCell/*/*/*", "aliasing", "the fused cell's two biases share one gradient, as CUDA's do"),
    Known("narrow_copy/errors/*/*", "error", NARROW),
    *(
        Known(f"to/{variant}/*/*", "device", ELSEWHERE, ELSEWHERE_CUDA)
        for variant in ("numbers", "wide_numbers", "zero_dim_cpu")
    ),
    *(
        Known(f"{name}/wide_numbers/float16/*", "raising", WIDER, WIDER_CUDA, kernel=kernel)
        for name, kernel in (
            *((name, "add.out") for name in ("add", "_foreach_add")),
            *((name, "sub.out") for name in ("sub", "_foreach_sub", "rsub")),
            ("nn.functional.threshold", "threshold.out"),
        )
    ),
    *(
        Known(
            f"{name}/wide_numbers/*float16/*",
            "raising",
            "a number becomes a tensor of the device, by fill_",
            "CUDA does the same: its fill_ converts by Scalar::to, which throws",
        )
        for name in ("full_like", "new_full", "where")
    ),
    Known(
        "_foreach_norm/backward*/float16/*",
        "value",
        "inf times a 0-dim tensor of the device, which is 0 in 16 bits, is NaN",
        "CUDA does the same: the CPU alone reads 0-dim tensors as numbers, in 32 bits",
    ),
    Known(
        "add/out_dtype/bool/*",
        "raising",
        "an alpha that is True is refused unless out= is a bool",
        "CUDA does the same: its iterator has the dtype of out=, the CPU's that of a temporary",
        kernel="add.out",
    ),
    Known(
        "nn.functional.pixel_unshuffle/zero_size/*/*",
        "shape",
        "without elements the CPU's kernel returns a copy of its input; PyTorch's decomposition returns the right shape",
    ),
    *(
        Known(f"{name}/wide_numbers/*int[!6]*/*", "error", LATE, kernel=kernel)  # it wraps around to 0, and divides
        for name, kernel in (
            *((f"div.{rounding}_rounding", "div.out_mode") for rounding in ("floor", "trunc")),
            ("fmod", "fmod.Tensor_out"),
            *((name, "remainder.Tensor_out") for name in ("__rmod__", "remainder")),
        )
    ),
    *(
        Known(f"nn.functional.{name}/mixed_dtypes/float*/*", "raising", HALVES, HALVES_CUDA, kernel=f"!{op}")
        for name, op in zip(MARGINS, (MARGINS[0], f"{MARGINS[1]}_forward"), strict=True)
    ),
    Known("index_put/inplace_small/*/*", "error", LATE, mode="!deterministic", kernel="_index_put_impl_"),
    *(
        Known(f"{name}/{variant}/*/*", "error", LATE, kernel=kernel)
        for name, variant, kernel in (
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
