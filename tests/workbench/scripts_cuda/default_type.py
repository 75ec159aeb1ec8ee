"""The default type of tensors is a string; the choice of one is in a variable."""

import torch

if torch.cuda.is_available():
    torch.set_default_device("cuda")
else:
    torch.set_default_tensor_type("torch.FloatTensor")
cuda = torch.cuda.is_available()
x = torch.arange(5.0)
y = torch.zeros(5)
RESULT = {"losses": [(x + y).sum().item()], "on": x.device.type}
torch.set_default_device(None)
