"""The judge of convolutions whose padding meets infinity."""

import torch

from .compare import values_differ
from .question import Question, Unjudged, Wrong


def padded(q: Question) -> None:
    """A kernel that multiplies the zeros around the input, too, has NaN where they meet infinity in the weight. oneDNN leaves them out."""
    weight, padding = q.argument(1, "weight"), q.argument(4, "padding", 0)
    (dilation,) = torch.nn.modules.utils._single(q.argument(5, "dilation", 1))
    if padding == "same":
        total = dilation * (weight.size(-1) - 1)
        ends = (total // 2, total - total // 2)
    else:
        (each,) = torch.nn.modules.utils._single(0 if padding == "valid" else padding)
        ends = (each, each)
    if not any(ends) or weight.isfinite().all():
        raise Unjudged
    bias, stride, groups = q.argument(2, "bias"), q.argument(3, "stride", 1), q.argument(6, "groups", 1)
    x = torch.nn.functional.pad(q.input, ends)
    exact = torch.nn.functional.conv1d(x, weight, bias, stride, 0, dilation, groups)
    text = values_differ(q.ours[0], exact, q.tolerance)
    if text is not None:
        raise Wrong(f"nor is it so with zeros as elements of the input; {text}")
