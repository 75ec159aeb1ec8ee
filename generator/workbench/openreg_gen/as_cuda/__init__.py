"""Runs code that says `cuda` on another device.

    python -m openreg_gen.as_cuda --device NAME script.py [arguments]

    from openreg_gen.as_cuda import as_cuda
    with as_cuda("mybackend"): ...

While it is on, `torch.cuda` has the names of `openreg_gen.cuda_names.ROWS`, and "cuda" names the device wherever PyTorch takes
one. Tensors say the truth: `tensor.device.type` is NAME. PyTorch's own modules still see the real torch.cuda, so that they don't
take CUDA's paths. Importing this package changes nothing, and after the context every name is what it was.
"""

from .context import as_cuda

__all__ = ["as_cuda"]
