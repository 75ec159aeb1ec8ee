"""Kernels in Python, by torch.library."""

import torch

_library = torch.library.Library("aten", "IMPL")


def frac(self):
    return (self.cpu() - self.cpu().trunc()).to(self.device)


def sinc(self):
    return torch.sinc(self.cpu()).to(self.device)


_library.impl("frac", frac, "PrivateUse1")
_library.impl("sinc", sinc, "PrivateUse1")
