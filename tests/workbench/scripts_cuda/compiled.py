"""TorchScript functions, which know no globals."""

import warnings

import torch

warnings.simplefilter("ignore")


@torch.jit.script
def mask(x: torch.Tensor) -> torch.Tensor:
    if x.is_cuda:
        return x * 2.0
    return x + 1.0


use_cuda = torch.cuda.is_available()
x = torch.ones(3, device="cuda") if use_cuda else torch.ones(3)
y = mask(x.cpu())
RESULT = {"losses": y.tolist(), "on": x.device.type}
