"""Optional CUDA extensions, and half precision by hand."""

import torch
import torch.nn as nn

try:
    from apex_that_is_not_there import amp

    HAS_APEX = True
except ImportError:
    amp = None
    HAS_APEX = False

try:
    from torch.amp import autocast
except ImportError:
    from torch.cuda.amp import autocast

torch.manual_seed(0)
is_gpu = torch.cuda.is_available() and torch.cuda.device_count() > 0
net = nn.Linear(4, 4)
if is_gpu:
    net = net.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
if HAS_APEX and is_gpu:
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
losses = []
for _ in range(2):
    x = torch.ones(2, 4)
    if is_gpu:
        x = x.cuda(non_blocking=True)
    with autocast("cuda", enabled=False):
        loss = net(x).square().mean()
    if HAS_APEX:
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
    else:
        loss.backward()
    optimizer.step()
    losses.append(loss.item())
RESULT = {"losses": losses, "on": loss.device.type}
