# Written by openreg-gen from openreg.yaml.
# Shared: rendered, then yours to edit; `backend` in the spec changes what is rendered.
"""Differences from the CPU that are meant, or that can't be fixed in this backend: `openreg-gen sweep --device openreg` knows
them by torch.openreg._workbench. Yours to edit.

An entry says which cases differ (subject/variant/dtype/index, as globs), in what, and why. If its cases no longer differ, the
whole sweep fails, so that you take it out. `crash`, `hang`, `raising`, `device`, `dtype` and `value` need `cites`: PyTorch's
own issue, or how CUDA does the same. `mode`: only there; `kernel`: only where the backend has a kernel of that operator; with
a `!` before it, everywhere else. Differences that every backend has are in the workbench's own list.
"""

from typing import NamedTuple


class Known(NamedTuple):
    case: str
    category: str
    reason: str
    cites: str = ""
    mode: str = "*"
    kernel: str = ""


# How many cases of a category a sample of the sweep may find known in a mode, the workbench's own entries included, those that
# depend on a kernel not. These numbers may only fall.
MOST: dict[str, int] = {"raising": 32, "device": 23, "strides": 29, "aliasing": 2, "error": 1}

LAYOUT_3D = "convolutions keep channels_last; the CPU's in three dimensions do so only for some dtypes"
EVAL_STATISTICS = "CUDA does the same (torch/_decomp/decompositions.py, native_batch_norm_helper); the CPU has none"
LATE = "the kernel finds the error when it runs, and the next call reports it, as with CUDA's assertions"

DIFFERENCES: list[Known] = [
    Known(
        "nn.BCELoss/autocast/*/*",
        "raising",
        "autocast refuses binary_cross_entropy, as the spec's preset says",
        "CUDA does the same: aten/src/ATen/autocast_mode.cpp",
    ),
    *(
        Known(f"{name}/{case}", category, "saved statistics in eval as torch.compile sees them", EVAL_STATISTICS)
        for name in ("_native_batch_norm_legit", "native_batch_norm")
        for case, category in (("*/*/*", "shape"), ("zero_size/*float16/*", "dtype"))
    ),
    Known(
        "nn.functional.scaled_dot_product_attention/second_order/*/*",
        "raising",
        "the gradient of a fused kernel has none of its own",
        "CUDA does the same: derivative for aten::_scaled_dot_product_efficient_attention_backward is not implemented",
    ),
    Known(
        "nn.functional.scaled_dot_product_attention/*/*/*",
        "strides",
        "a fused kernel's results have the layout that PyTorch wants of that operator, not the one of matrix products",
    ),
    Known("nn.functional.conv_transpose3d/channels_last/*/*", "strides", LAYOUT_3D),
    Known("nn.*Conv*3d/*_channels_last/*/*", "strides", LAYOUT_3D),
    Known("nn.functional.nll_loss/zero_size/*/*", "error", LATE, kernel="nll_loss_forward.output"),
]
