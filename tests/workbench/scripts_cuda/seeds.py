"""Seeds everything, and saves all random states."""

import os
import random

import torch


def seed_everything(seed: int = 42, deterministic: bool = True):
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = deterministic
    torch.backends.cudnn.benchmark = not deterministic


def state():
    return {"torch": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all()}


def restore(saved):
    torch.set_rng_state(saved["torch"])
    torch.cuda.set_rng_state_all(saved["cuda"])


seed_everything()
device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
saved = state()
first = torch.rand(3), torch.rand(3, device=device)
restore(saved)
second = torch.rand(3), torch.rand(3, device=device)
assert all(torch.equal(a, b) for a, b in zip(first, second))
assert len(saved["cuda"]) == torch.cuda.device_count()
RESULT = {"losses": first[0].tolist(), "on": first[1].device.type}
