"""Moves the tensors of a stored call to a device. `openreg-gen replay --pytest` copies this function into the test."""

import torch


def placed(tensors, places, device):  # type: ignore[no-untyped-def]
    """Copies of the tensors on `device`, or on the CPU; strides stay, and tensors that share memory still do, if the device has set_."""
    storages, found = {}, []
    for host, index in zip(tensors, places, strict=True):
        where = torch.device("cpu") if index is None or device == "cpu" else torch.device(device, index)
        key = (host.untyped_storage()._cdata, where)
        try:
            if key not in storages:
                data = torch.empty(0, dtype=torch.uint8).set_(host.untyped_storage())
                storages[key] = data.to(where, copy=True).untyped_storage()
            x = torch.empty(0, dtype=host.dtype, device=where)
            x.set_(storages[key], host.storage_offset(), host.size(), host.stride())
        except RuntimeError:  # a device without set_: this tensor alone
            found.append(host.to(where, copy=True))
            continue
        x = torch._conj(x) if host.is_conj() else x
        found.append(torch._neg_view(x) if host.is_neg() else x)
    return found
