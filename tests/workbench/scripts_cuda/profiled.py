"""Profiles a step with the activities of the CPU and of CUDA."""

import torch
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
net = torch.nn.Linear(8, 8)
x = torch.randn(4, 8)
if torch.cuda.is_available():
    net, x = net.cuda(), x.cuda()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as prof:
    with record_function("step"):
        loss = net(x).square().mean()
sort = "cuda_time_total" if torch.cuda.is_available() else "cpu_time_total"
assert "step" in prof.key_averages().table(sort_by=sort, row_limit=5)
RESULT = {"losses": [loss.item()], "on": loss.device.type}
