"""Mixed precision by torch.amp, and a scaler whose device is not given."""

import torch
import torch.nn as nn

torch.manual_seed(2)
use_amp = True
use_cuda = torch.cuda.is_available()
device = "cuda" if use_cuda else "cpu"
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
other = torch.amp.GradScaler(init_scale=1024.0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
losses, types = [], []
for step in range(4):
    x = torch.randn(4, 8).to(device)
    if step % 2:
        with torch.autocast("cuda", dtype=torch.float16, enabled=use_amp):
            out = net(x)
    else:
        with torch.autocast(device_type="cuda"):
            out = net(x)
    loss = out.float().square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    losses.append(loss.item())
    types.append(str(out.dtype))
RESULT = {"losses": losses, "types": types, "scale": other.get_scale(), "on": out.device.type}
