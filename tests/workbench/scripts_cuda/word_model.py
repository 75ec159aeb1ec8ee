"""A recurrent language model, with `--cuda` and a warning if it is not used."""

import argparse
import math

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true", help="use CUDA")
parser.add_argument("--seed", type=int, default=11)
args = parser.parse_args()

torch.manual_seed(args.seed)
if torch.cuda.is_available():
    if not args.cuda:
        print("WARNING: you have a CUDA device, so you should probably run with --cuda")
        args.cuda = True
    torch.cuda.manual_seed(args.seed)
device = torch.device("cuda" if args.cuda else "cpu")


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.encoder = nn.Embedding(words, width)
        self.cell = nn.Linear(2 * width, width)
        self.decoder = nn.Linear(width, words)
        self.width = width

    def forward(self, x):
        hidden = self.init_hidden(x.size(1))
        out = []
        for step in self.encoder(x):
            hidden = torch.tanh(self.cell(torch.cat([step, hidden], 1)))
            out.append(self.decoder(hidden))
        return torch.stack(out)

    def init_hidden(self, size):
        weight = next(self.parameters())
        return weight.new_zeros(size, self.width)


model = Model(9, 6).to(device)
text = (torch.arange(40) * 5 % 9).view(10, 4).to(device)
criterion = nn.CrossEntropyLoss()
losses = []
for epoch in range(2):
    model.zero_grad()
    loss = criterion(model(text[:-1]).flatten(0, 1), text[1:].flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-5.0)
    losses.append(math.exp(loss.item()))
with open("model.pt", "wb") as f:
    torch.save(model.state_dict(), f)
with open("model.pt", "rb") as f:
    model.load_state_dict(torch.load(f, map_location=device))
RESULT = {"losses": losses, "on": model.decoder.weight.device.type}
