"""The type of tensors in a variable, as old scripts have it."""

import torch

torch.manual_seed(2)
cuda = True if torch.cuda.is_available() else False
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
valid = Tensor(4, 1).fill_(1.0)
x = torch.rand(4, 1).type(Tensor)
loss = (x - valid).abs().mean()
assert isinstance(x, torch.cuda.FloatTensor) or not cuda
RESULT = {"losses": [loss.item()], "on": loss.device.type}
