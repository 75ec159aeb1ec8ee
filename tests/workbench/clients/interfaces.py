"""Calls of PyTorch's interfaces, by the audit's names of them: written for the checks, not with the audit's code.

Each is a program's text with the device's name in `d`. If it raises nothing, the interface answers.
"""

_TENSOR = "x = torch.arange(4.0).to(d)\n"
_SAVED = _TENSOR + "import io; f = io.BytesIO(); torch.save(x, f); f.seek(0)\n"

CALLS = {
    "torch.accelerator.current_accelerator()": "assert torch.accelerator.current_accelerator().type == d",
    "hooks: deviceCount": "assert torch._C._accelerator_hooks_device_count() > 0",
    "hooks: getCurrentDevice": "torch._C._accelerator_hooks_get_current_device()",
    "torch.accelerator.device_count()": "assert torch.accelerator.device_count() > 0",
    "torch.accelerator.current_device_index()": "assert torch.accelerator.current_device_index() == 0",
    "torch.accelerator.set_device_index()": "torch.accelerator.set_device_index(0)",
    "torch.accelerator.synchronize()": "torch.accelerator.synchronize()",
    "torch.accelerator.get_device_capability()": "torch.accelerator.get_device_capability()",
    "torch.Stream(device)": "torch.Stream(device=d)",
    "torch.accelerator.current_stream()": "torch.accelerator.current_stream()",
    "torch.Event(device): record, query": "e = torch.Event(device=d)\ne.record()\ne.synchronize()\nassert e.query()",
    "Event.elapsed_time()": (
        "a, b = (torch.Event(device=d, enable_timing=True) for _ in 'ab')\n"
        "a.record()\nb.record()\nb.synchronize()\nassert a.elapsed_time(b) >= 0"
    ),
    "torch.empty(0, device)": "assert torch.empty(0, 3, device=d).cpu().shape == (0, 3)",
    "torch.accelerator.memory_allocated()": (
        "m = torch.accelerator.memory_allocated()\nx = torch.empty(1 << 20, dtype=torch.uint8, device=d)\n"
        "assert torch.accelerator.memory_allocated() - m >= 1 << 20"
    ),
    "torch.accelerator.memory_reserved()": "torch.accelerator.memory_reserved()",
    "torch.accelerator.memory_stats()": "assert len(torch.accelerator.memory_stats())",
    "torch.accelerator.get_memory_info()": "f, t = torch.accelerator.get_memory_info()\nassert 0 <= f <= t > 0",
    "torch.accelerator.empty_cache()": "torch.accelerator.empty_cache()",
    "torch.accelerator.empty_host_cache()": "torch.accelerator.empty_host_cache()",
    "Tensor.is_pinned()": "assert not torch.ones(2).is_pinned()",
    "Tensor.pin_memory()": "x = torch.ones(2).pin_memory()\nassert x.is_pinned()\nassert x.to(d).cpu().sum() == 2",
    "Tensor.resize_()": _TENSOR + "x.resize_(9)\nassert x.shape == (9,) and x[:4].cpu().tolist() == [0, 1, 2, 3]",
    "torch.Generator(device)": "assert torch.Generator(device=d).device.type == d",
    "Generator.manual_seed()": "g = torch.Generator(device=d)\ng.manual_seed(7)\nassert g.initial_seed() == 7",
    "torch.amp.is_autocast_available()": "assert torch.amp.is_autocast_available(d)",
    "torch.get_autocast_dtype()": "torch.get_autocast_dtype(d)",
    "Tensor.to(device), cpu()": _TENSOR + "assert x.device.type == d and x.cpu().tolist() == [0, 1, 2, 3]",
    "a copy of strided tensors": "y = torch.arange(6).view(2, 3).t()\nassert torch.equal(y.to(d).cpu(), y)",
    "Tensor.to(dtype)": _TENSOR + "assert x.to(torch.int64).cpu().tolist() == [0, 1, 2, 3]",
    "Tensor.item()": _TENSOR + "assert x[2].item() == 2",
    "print(tensor)": _TENSOR + "assert d in repr(x)",
    "tensor[mask]": _TENSOR
    + "m = torch.tensor([True, False, True, False]).to(d)\nassert x[m].cpu().tolist() == [0, 2]",
    "copy.deepcopy(tensor)": _TENSOR + "import copy\nassert copy.deepcopy(x).cpu().tolist() == [0, 1, 2, 3]",
    "nn.Module.to(device)": "assert torch.nn.Linear(2, 2).to(d).weight.device.type == d",
    "Tensor.NAME(), is_NAME, Module.NAME()": (
        "x = getattr(torch.ones(2), d)()\nassert getattr(x, 'is_' + d)\ngetattr(torch.nn.Linear(2, 2), d)()"
    ),
    "Tensor.untyped_storage()": (
        _TENSOR
        + "s = x.untyped_storage()\nassert s.device.type == d and s.nbytes() == 16\nassert s.clone().device.type == d"
    ),
    "with torch.device(device):": "with torch.device(d):\n    assert torch.ones(2).device.type == d",
    "torch.save(), torch.load()": _SAVED + "assert torch.load(f).device.type == d",
    "torch.load(map_location='cpu')": _SAVED + "assert torch.load(f, map_location='cpu').tolist() == [0, 1, 2, 3]",
    "torch.from_dlpack(tensor)": (
        _TENSOR + "from torch.utils.dlpack import from_dlpack\nassert from_dlpack(x).cpu().tolist() == [0, 1, 2, 3]"
    ),
    "torch.profiler": (
        "from torch.profiler import ProfilerActivity, profile, supported_activities\n"
        "assert ProfilerActivity.PrivateUse1 in supported_activities()\n"
        "with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]):\n    torch.empty(2, device=d)"
    ),
    "torch.NAME": "assert getattr(torch, d, None) is not None",
    "torch.NAME.is_available()": "assert getattr(torch, d).is_available()",
    "torch.NAME.device_count()": "assert getattr(torch, d).device_count() > 0",
    "torch.NAME.current_device()": "assert getattr(torch, d).current_device() == 0",
    "torch.NAME.set_device()": "getattr(torch, d).set_device(0)",
    "with torch.NAME.device(0):": "with getattr(torch, d).device(0):\n    torch.empty(1, device=d)",
    "torch.NAME.synchronize()": "getattr(torch, d).synchronize()",
    "torch.NAME._is_in_bad_fork()": "assert getattr(torch, d)._is_in_bad_fork() is False",
    "torch.NAME.manual_seed_all()": "getattr(torch, d).manual_seed_all(7)",
    "Dynamo's device interface": (
        "from torch._dynamo.device_interface import get_interface_for_device\nget_interface_for_device(d)"
    ),
    "the device's backend": "import torch.distributed as c\nassert d in c.Backend.default_device_backend_map",
}
