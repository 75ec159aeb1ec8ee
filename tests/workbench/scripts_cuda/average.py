"""A moving average of the weights, which may live on another device."""

from copy import deepcopy
from typing import Optional

import torch
import torch.nn as nn


class ModelEma(nn.Module):
    def __init__(self, model: nn.Module, decay: float = 0.9, device: Optional[str] = None) -> None:
        super().__init__()
        self.module = deepcopy(model).eval()
        self.decay, self.device = decay, device
        if self.device is not None:
            self.module.to(device=device)

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for mine, other in zip(self.module.state_dict().values(), model.state_dict().values(), strict=True):
            if self.device is not None:
                other = other.to(device=self.device)
            mine.copy_(self.decay * mine + (1.0 - self.decay) * other)


torch.manual_seed(1)
model = nn.Linear(3, 3)
model = model.cuda() if torch.cuda.is_available() else model
ema = ModelEma(model, device="cuda" if torch.cuda.is_available() else "cpu")
cold = ModelEma(model, device="cpu")
losses = []
for _ in range(3):
    with torch.no_grad():
        model.weight.mul_(1.5)
    ema.update(model)
    cold.update(model)
    losses += [ema.module.weight.sum().item(), cold.module.weight.sum().item()]
RESULT = {"losses": losses, "on": ema.module.weight.device.type}
