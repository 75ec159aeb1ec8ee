"""The library of a device's collectives, as torch.distributed knows it."""

import torch.distributed as dist


def library_of(kind: str) -> tuple[str | None, str]:
    """Its name; or None and why there is none. A rendered backend names the component that would bring one."""
    name = dist.Backend.default_device_backend_map.get(kind) if dist.is_available() else None
    if name is None:
        return None, f"no backend is registered for {kind}: torch.distributed.Backend.register_backend()"
    plugin = dist.Backend._plugins.get(name.upper())
    needs = getattr(plugin.creator_fn, "needs", None) if plugin is not None else None
    return (None, str(needs)) if needs else (name, "")
