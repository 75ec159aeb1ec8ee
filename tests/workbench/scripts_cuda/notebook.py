# %% [markdown]
# A notebook that was saved as a script

# %%
import torch

print(torch.cuda.is_available(), torch.version.cuda)

# %%
import math
from torch import nn

# %%
torch.manual_seed(0)
dev = "cuda" if torch.cuda.is_available() else "cpu"
if dev == "cuda":
    print(torch.cuda.get_device_name())
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)).to(dev)
opt = torch.optim.Adam(net.parameters(), 0.01)

# %%
history = []
for i in range(3):
    x = torch.rand(8, 2).to(dev)
    loss = (net(x) - math.pi).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(float(loss))

# %%
RESULT = {"losses": history, "on": str(next(net.parameters()).device).split(":")[0]}
assert str(dev).startswith("cuda") == torch.cuda.is_available()
assert x.is_cuda is (dev != "cpu")
print(f"on cuda: {x.is_cuda}, {torch.cuda.memory_allocated()} bytes")
