"""Generator against discriminator, with `--ngpu` devices."""

import argparse
import random

import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true", default=False, help="enables cuda")
parser.add_argument("--ngpu", type=int, default=1, help="number of devices")
parser.add_argument("--manualSeed", type=int, default=7)
opt = parser.parse_args()
random.seed(opt.manualSeed)
torch.manual_seed(opt.manualSeed)

if torch.cuda.is_available() and not opt.cuda:
    opt.cuda = True
device = torch.device("cuda:0" if opt.cuda and torch.cuda.is_available() else "cpu")
ngpu = int(opt.ngpu)


class Net(nn.Module):
    def __init__(self, ngpu, sizes):
        super().__init__()
        self.ngpu = ngpu
        self.main = nn.Sequential(nn.Linear(sizes[0], 8), nn.LeakyReLU(0.2), nn.Linear(8, sizes[1]))

    def forward(self, input):
        if input.is_cuda and self.ngpu > 1:
            return nn.parallel.data_parallel(self.main, input, range(self.ngpu))
        return self.main(input)


netG, netD = Net(ngpu, (4, 6)).to(device), Net(ngpu, (6, 1)).to(device)
criterion = nn.BCEWithLogitsLoss()
optimizerD = optim.Adam(netD.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.01, betas=(0.5, 0.999))
losses = []
for step in range(3):
    real = torch.randn(5, 6).to(device)
    label = torch.full((5, 1), 1.0, device=device)
    fake = netG(torch.randn(5, 4).to(device))
    netD.zero_grad()
    errD = criterion(netD(real), label) + criterion(netD(fake.detach()), label * 0)
    errD.backward()
    optimizerD.step()
    netG.zero_grad()
    errG = criterion(netD(fake), label)
    errG.backward()
    optimizerG.step()
    losses += [errD.item(), errG.item()]
RESULT = {"losses": losses, "on": fake.device.type}
