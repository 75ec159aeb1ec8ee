# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""What streams, events and memory do, for a sanitizer: PyTorch calls these callbacks after torch._C._activate_gpu_trace().

fire_hook() of csrc/runtime/Functions.h is where calls come from. A stream's number is c10::Stream::hash(), an event's is its handle,
a block's is its address. A stream or event that was queried and has finished is reported as synchronized, and record_stream() as an
event that has the block's address.

Nothing is reported of what is freed or deleted. That often happens while Python handles an exception, which PyTorch's call of a hook
would lose. The next block or event of the same number says it, too.
"""

import sys

from torch._utils import CallbackRegistry

# Whether memory that is freed waits for the device; otherwise the next tensor may get it while work is still queued.
FREE_WAITS = False
_DEVICE = "openreg"
EventCreationCallbacks: CallbackRegistry[int] = CallbackRegistry(f"{_DEVICE} event creation")
EventDeletionCallbacks: CallbackRegistry[int] = CallbackRegistry(f"{_DEVICE} event deletion")
EventRecordCallbacks: CallbackRegistry[int, int] = CallbackRegistry(f"{_DEVICE} event record")
EventWaitCallbacks: CallbackRegistry[int, int] = CallbackRegistry(f"{_DEVICE} event wait")
EventSynchronizationCallbacks: CallbackRegistry[int] = CallbackRegistry(f"{_DEVICE} event synchronization")
StreamCreationCallbacks: CallbackRegistry[int] = CallbackRegistry(f"{_DEVICE} stream creation")
StreamSynchronizationCallbacks: CallbackRegistry[int] = CallbackRegistry(f"{_DEVICE} stream synchronization")
DeviceSynchronizationCallbacks: CallbackRegistry[[]] = CallbackRegistry(f"{_DEVICE} device synchronization")
MemoryAllocationCallbacks: CallbackRegistry[int] = CallbackRegistry(f"{_DEVICE} memory allocation")
MemoryDeallocationCallbacks: CallbackRegistry[int] = CallbackRegistry(f"{_DEVICE} memory deallocation")


def _register() -> None:
    """PyTorch imports this module by its name in torch.openreg."""
    sys.modules["torch.openreg._gpu_trace"] = sys.modules[__name__]
