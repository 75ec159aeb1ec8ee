# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""The table that torch.openreg.memory_summary() prints."""

from collections.abc import Callable
from typing import Any

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_COUNTS = ("", "K", "M", "G")
_KINDS = ("current", "peak", "allocated", "freed")
_RULE = 85


def _size(value: int, scale: int) -> str:
    """`value` in the unit that suits `scale`, so that the rows of one metric share a unit."""
    unit = 0
    while scale >= 768 << 10 and unit < len(_SIZES) - 1:
        value, scale, unit = value >> 10, scale >> 10, unit + 1
    return f"{value} {_SIZES[unit]}"


def _count(value: int, scale: int) -> str:
    unit = 0
    while scale >= 750_000 and unit < len(_COUNTS) - 1:
        value, scale, unit = value // 1000, scale // 1000, unit + 1
    return f"{value} {_COUNTS[unit]}".strip()


_POOLED: tuple[tuple[str, str, Callable[[int, int], str]], ...] = (
    ("allocated_bytes", "Allocated memory", _size),
    ("active_bytes", "Active memory", _size),
    ("requested_bytes", "Requested memory", _size),
    ("reserved_bytes", "Reserved memory", _size),
    ("inactive_split_bytes", "Non-releasable memory", _size),
    ("allocation", "Allocations", _count),
    ("active", "Active allocs", _count),
    ("segment", "Reserved segments", _count),
    ("inactive_split", "Non-releasable allocs", _count),
)
_OVERSIZE = (
    ("oversize_allocations", "Oversize allocations", _count),
    ("oversize_segments", "Oversize segments", _count),
)


def _row(name: str, values: list[str]) -> str:
    return f"| {name:<24}|" + "|".join(f"{value:>13} " for value in values) + "|"


def format_summary(index: int, stats: dict[str, Any], info: tuple[int, int], abbreviated: bool) -> str:
    """The table.

    Args:
        index: the device.
        stats: its memory_stats().
        info: (free, total) of the device, in bytes.
        abbreviated: leave out the small and the large pool.
    """
    rule = "|" + "-" * _RULE + "|"
    double = "|" + "=" * _RULE + "|"
    ooms, retries = stats.get("num_ooms", 0), stats.get("num_alloc_retries", 0)
    lines = [
        double,
        f"|{f'OpenReg memory summary, device {index}: {info[0]} of {info[1]} bytes free':^{_RULE}}|",
        rule,
        f"|{f'OOMs: {ooms}':^{_RULE // 2}}{f'alloc retries: {retries}':^{_RULE - _RULE // 2}}|",
        double,
        _row("Metric", ["Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed"]),
    ]
    pools = [("all", None)]
    if not abbreviated:
        pools += [("large_pool", "      from large pool"), ("small_pool", "      from small pool")]
    for metric, title, show in _POOLED:
        lines.append(rule)
        scales = [stats.get(f"{metric}.all.{kind}", 0) for kind in _KINDS]
        for pool, label in pools:
            values = [stats.get(f"{metric}.{pool}.{kind}", 0) for kind in _KINDS]
            shown = [show(value, scale) for value, scale in zip(values, scales, strict=True)]
            lines.append(_row(label or title, shown))
    for metric, title, show in _OVERSIZE:
        values = [stats.get(f"{metric}.{kind}", 0) for kind in _KINDS]
        lines += [rule, _row(title, [show(value, value) for value in values])]
    lines.append(double)
    return "\n".join(lines) + "\n"
