"""Says that it needs a device, and stops; then the rest of it needs no tests."""

import torch

torch.manual_seed(1)


def run():
    if not torch.cuda.is_available():
        print("no GPU")
        return torch.zeros(2)
    torch.cuda.empty_cache()
    print(torch.cuda.memory_allocated(), torch.cuda.get_device_capability())
    with torch.cuda.amp.autocast():
        out = torch.ones(2, 2).cuda() @ torch.ones(2, 2).cuda()
    torch.cuda.synchronize()
    return out.float().flatten()[:2]


out = run()
RESULT = {"losses": out.tolist(), "on": out.device.type}
