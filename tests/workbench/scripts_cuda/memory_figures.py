"""Prints how much memory is used, on machines with and without a device."""

import torch


def report(prefix=""):
    allocated = torch.cuda.memory_allocated() / 1024**2
    peak = torch.cuda.max_memory_allocated() / 1024**2
    stats = torch.cuda.memory_stats()
    print(f"{prefix} allocated {allocated:.2f} MB, peak {peak:.2f} MB, {len(stats)} figures")
    return allocated


def describe(done, total):
    mem = f"{torch.cuda.memory_reserved() / 1e9 if torch.cuda.is_available() else 0:.3g}G"
    return ("%10s" * 2 + "%10.4g") % (f"{done}/{total}", mem, torch.cuda.memory_reserved() / 1e9)


before = report("before")
x = torch.ones(1024, 1024, device="cuda" if torch.cuda.is_available() else "cpu")
bar = [describe(i, 2) for i in range(2)]
after = report("after")
if torch.cuda.is_available():
    torch.cuda.reset_peak_memory_stats()
    free, total = torch.cuda.mem_get_info()
    print(f"{(total - free) / 2**20:.1f} MiB of {torch.cuda.get_device_properties(0).total_memory} bytes")
torch.cuda.empty_cache()
RESULT = {"losses": [x.sum().item(), after > before], "on": x.device.type}
assert not torch.cuda.is_initialized() or torch.cuda.is_available()
