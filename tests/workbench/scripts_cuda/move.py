"""A helper that moves a batch to a device, or to the current one: needs a GPU."""

import torch
import torch.nn as nn

torch.manual_seed(0)


def to_gpu(x, gpu=None):
    return x.cuda(gpu, non_blocking=True)


def move_all(batch, device=None):
    if isinstance(batch, dict):
        return {key: move_all(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [move_all(value, device) for value in batch]
    return batch.cuda(device=device)


class Holder(nn.Module):
    def __init__(self, gpu_id=None):
        super().__init__()
        self.gpu_id = gpu_id
        self.net = nn.Linear(4, 2).cuda(self.gpu_id)

    def forward(self, x):
        return self.net(x)


holder = Holder()
batch = move_all({"x": torch.randn(3, 4), "y": [torch.ones(3, 2)]})
pair = list(map(torch.Tensor.cuda, (torch.ones(2), torch.zeros(2))))
loss = (holder(to_gpu(batch["x"].cpu())) - batch["y"][0]).square().mean() + pair[0].sum() + pair[1].sum()
RESULT = {"losses": [loss.item()], "on": loss.device.type}
