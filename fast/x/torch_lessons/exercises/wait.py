# Owned by you: openreg-gen wrote it once, and never will again.
# Move or rename it as you like; it is found by this mark: [openreg-gen lessons/wait.py]
# Two streams: one computes, one sends the result on. Neither may make the host wait.
import torch


def add_on_one_copy_on_another(x, side):
    """Adds 1 to x on the current stream, then copies x on the stream `side`. Returns the copy."""
    torch.ops.lesson.slow_add_(x, 1.0)
    with side:
        y = torch.empty_like(x).copy_(x)
    return y
