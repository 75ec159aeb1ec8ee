# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Known differences from the CPU, intended or impossible to fix in this backend. `openreg-gen sweep --device openreg` reads
them from torch.openreg._workbench. Yours to edit.

An entry has the cases that differ (subject/variant/dtype/index, as globs), the category and the reason. If its cases no longer
differ, a whole sweep fails, so that you remove it. `crash`, `hang`, `raising`, `device`, `dtype` and `value` need `cites`:
PyTorch's issue, or how CUDA does the same. `mode`: only in that mode; `kernel`: only if the backend has a kernel of that operator;
with a `!` before it, only if it doesn't. Differences that every backend has are in the workbench's own list.
"""

from typing import NamedTuple


class KnownDifference(NamedTuple):
    case: str
    category: str
    reason: str
    cites: str = ""
    mode: str = "*"
    kernel: str = ""


# The most known differences of a category that a sample of the sweep may find in one mode. They include the workbench's own
# entries, except those that depend on a kernel. These numbers may only fall.
MOST: dict[str, int] = {"raising": 32, "device": 23, "strides": 29, "aliasing": 2, "error": 1}

LAYOUT_3D = "convolutions keep channels_last; on the CPU, 3-d convolutions do so only for some dtypes"
EVAL_STATISTICS = "CUDA does the same (torch/_decomp/decompositions.py, native_batch_norm_helper); the CPU returns none"
LATE = "the kernel finds the error when it runs, and the next call reports it, as with CUDA's assertions"

DIFFERENCES: list[KnownDifference] = [
    KnownDifference(
        "nn.BCELoss/autocast/*/*",
        "raising",
        "autocast refuses binary_cross_entropy, as the spec's preset says",
        "CUDA does the same: aten/src/ATen/autocast_mode.cpp",
    ),
    *(
        KnownDifference(
            f"{name}/{case}", category, "saved statistics in eval as torch.compile sees them", EVAL_STATISTICS
        )
        for name in ("_native_batch_norm_legit", "native_batch_norm")
        for case, category in (("*/*/*", "shape"), ("zero_size/*float16/*", "dtype"))
    ),
    KnownDifference(
        "nn.functional.scaled_dot_product_attention/second_order/*/*",
        "raising",
        "the gradient of a fused kernel has no gradient",
        "CUDA does the same: derivative for aten::_scaled_dot_product_efficient_attention_backward is not implemented",
    ),
    KnownDifference(
        "nn.functional.scaled_dot_product_attention/*/*/*",
        "strides",
        "a fused kernel's results have the layout that PyTorch requires of that operator, not that of matrix products",
    ),
    KnownDifference("nn.functional.conv_transpose3d/channels_last/*/*", "strides", LAYOUT_3D),
    KnownDifference("nn.*Conv*3d/*_channels_last/*/*", "strides", LAYOUT_3D),
    KnownDifference("nn.functional.nll_loss/zero_size/*/*", "error", LATE, kernel="nll_loss_forward.output"),
]
