"""Work on a second stream; needs a GPU."""

import torch

torch.manual_seed(8)
overlap = True
x = torch.randn(16, 16).cuda()
side = torch.cuda.Stream()
maybe = torch.cuda.Stream(priority=-1) if overlap else None
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    y = x @ x
with torch.cuda.stream(maybe):
    z = x + 1
with torch.cuda.stream(None):
    x = x * 2
torch.cuda.current_stream().wait_stream(side)
if maybe is not None:
    maybe.synchronize()
done: "torch.cuda.Event" = torch.cuda.Event()
done.record()
done.synchronize()
assert isinstance(side, torch.cuda.Stream)
torch.cuda.synchronize()
RESULT = {"losses": [y.sum().item(), z.sum().item(), x.sum().item()], "on": y.device.type}
