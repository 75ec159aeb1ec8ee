from __future__ import annotations

import argparse

import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F

parser = argparse.ArgumentParser(description='variational autoencoder')
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--no-cuda', action='store_true', default=False,
                    help='disables CUDA training')
parser.add_argument('--seed', type=int, default=1)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(args.seed)
device = torch.device('cuda' if args.cuda else 'cpu')
kwargs = {'num_workers': 0, 'pin_memory': True} if args.cuda else {}
data = torch.utils.data.TensorDataset(torch.rand(32, 10))
loader = torch.utils.data.DataLoader(data, batch_size=8, **kwargs)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.mu = nn.Linear(10, 8), nn.Linear(8, 3)
        self.logvar, self.fc3 = nn.Linear(8, 3), nn.Linear(3, 10)

    def forward(self, x, eps):
        h = F.relu(self.fc1(x))
        mu, logvar = self.mu(h), self.logvar(h)
        return self.fc3(mu + eps * torch.exp(0.5 * logvar)), mu, logvar


model = VAE()
if args.cuda:
    model.cuda()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
losses = []
for _epoch in range(args.epochs):
    for (batch,) in loader:
        eps = torch.randn(len(batch), 3)
        if args.cuda:
            batch, eps = batch.cuda(), eps.cuda()
        out, mu, logvar = model(batch, eps)
        kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
        loss = F.binary_cross_entropy_with_logits(out, batch) + kld
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
RESULT = {'losses': losses, 'on': out.device.type}
