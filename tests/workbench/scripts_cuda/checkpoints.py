"""Loads a checkpoint in every way that map_location allows."""

import os
import tempfile

import torch
import torch.nn as nn

torch.manual_seed(5)
gpu = None
use_cuda = torch.cuda.is_available()
device = torch.device("cuda:0") if use_cuda else torch.device("cpu")
model = nn.Linear(4, 4).to(device)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    torch.save({"model": model.state_dict(), "epoch": 3}, path)
    ways = [
        torch.load(path, map_location=device),
        torch.load(path, map_location="cpu"),
        torch.load(path, map_location={"cuda:0": "cpu"}),
        torch.load(path, map_location=lambda storage, loc: storage),
        torch.load(path, map_location="cuda:0" if use_cuda else "cpu"),
    ]
    if use_cuda:
        map_location = {"cuda:%d" % 0: "cuda:%d" % 0}
        ways += [
            torch.load(path, map_location="cuda"),
            torch.load(path, "cuda:0"),
            torch.load(path, map_location=lambda storage, loc: storage.cuda(0)),
            torch.load(path, map_location=lambda s, l: s.cuda(gpu)),
            torch.load(path, map_location=lambda storage, _: storage.cuda()),
            torch.load(path, map_location=map_location),
        ]
    else:
        ways += [torch.load(path, map_location=lambda s, l: s)] * 6
weights = [way["model"]["weight"] for way in ways]
assert [w.is_cuda for w in weights] == [use_cuda, False, False, False, use_cuda] + [use_cuda] * 6
RESULT = {"losses": [w.sum().item() for w in weights], "on": weights[0].device.type}
