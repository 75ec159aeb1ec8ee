"""Super resolution: `--cuda` on a machine without a device is an error."""

import argparse
import sys

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true", help="use cuda?")
parser.add_argument("--gpuids", default=[0], nargs="+", type=int)
opt = parser.parse_args(sys.argv[1:])
opt.cuda = opt.cuda or torch.cuda.is_available()
if opt.cuda and not torch.cuda.is_available():
    raise Exception("No GPU found, please run without --cuda")

torch.manual_seed(5)
use_cuda = opt.cuda and torch.cuda.is_available()
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1), nn.PixelShuffle(2))
criterion = nn.MSELoss()
if use_cuda:
    torch.cuda.set_device(opt.gpuids[0])
    with torch.cuda.device(0):
        model = model.cuda()
        criterion = criterion.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
small, large = torch.rand(2, 1, 4, 4), torch.rand(2, 1, 8, 8)
if use_cuda:
    small, large = small.cuda(), large.cuda()
losses = []
for _ in range(3):
    loss = criterion(model(small), large)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
out = model.cpu()(small.cpu())
RESULT = {"losses": losses + [out.sum().item()], "on": loss.device.type}
