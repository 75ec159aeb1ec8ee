"""Mixed precision by torch.cuda.amp: without CUDA, both are off."""

import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast, custom_bwd, custom_fwd

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Square(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @custom_bwd
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 1)

    @autocast()
    def forward(self, x):
        return self.two(Square.apply(self.one(x)))


net = Net().to(device)
scaler = GradScaler()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
losses, types = [], []
for _ in range(3):
    optimizer.zero_grad()
    x, y = torch.randn(4, 8).to(device), torch.ones(4, 1).to(device)
    with autocast():
        out = net(x)
    loss = nn.functional.mse_loss(out.float(), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    losses.append(loss.item())
    types.append(str(out.dtype))
RESULT = {"losses": losses, "types": types, "scale": scaler.get_scale(), "on": out.device.type}
