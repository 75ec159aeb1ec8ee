# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg: what fell back to the CPU, and what that cost.

`OPENREG_FALLBACK=none`, `cpu`, `copy` or `alias` in the environment overrides how operators fall back; `none` makes each an error.
"""

from dataclasses import dataclass

from .. import _C


@dataclass(frozen=True)
class FallbackCount:
    """Calls of one operator that ran its CPU kernel in place of one for the device."""

    op: str
    """Its name, such as "aten::cumsum.out"."""
    kind: str
    """"copy": on copies of its arguments. "alias": on the device's memory. What the last call did."""
    calls: int
    bytes_to_host: int
    bytes_to_device: int
    seconds: float
    """Time of the calling threads, waiting included."""


class FallbackReport(tuple[FallbackCount, ...]):
    """The operators that fell back, the costliest first. Prints as a table."""

    @property
    def calls(self) -> int:
        return sum(count.calls for count in self)

    @property
    def bytes_moved(self) -> int:
        return sum(count.bytes_to_host + count.bytes_to_device for count in self)

    @property
    def seconds(self) -> float:
        return sum(count.seconds for count in self)

    def __str__(self) -> str:
        if not self:
            return "nothing fell back to the CPU"
        head = ("operator", "how", "calls", "to host", "to device", "ms")
        rows = [
            (
                count.op,
                count.kind,
                str(count.calls),
                _readable(count.bytes_to_host),
                _readable(count.bytes_to_device),
                f"{count.seconds * 1e3:.3f}",
            )
            for count in self
        ]
        to_host = _readable(sum(count.bytes_to_host for count in self))
        to_device = _readable(sum(count.bytes_to_device for count in self))
        total = ("total", "", str(self.calls), to_host, to_device, f"{self.seconds * 1e3:.3f}")
        widths = [max(len(row[i]) for row in (head, *rows, total)) for i in range(len(head))]
        lines = []
        for row in (head, *rows, total):
            texts = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
            texts += [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
            lines.append("  ".join(texts).rstrip())
        return "\n".join(lines)


def fallback_report() -> FallbackReport:
    """What fell back in this process since it started, or since `reset_fallback_report()`."""
    counts = [FallbackCount(*fields) for fields in _C._fallback_counts()]
    return FallbackReport(sorted(counts, key=lambda count: (-count.seconds, count.op)))


def reset_fallback_report() -> None:
    """Start counting again."""
    _C._reset_fallback_counts()


def _readable(size: int) -> str:
    if size < 1024:
        return f"{size} B"
    power = min((size.bit_length() - 1) // 10, 4)
    return f"{size / 1024**power:.1f} {'KMGT'[power - 1]}iB"
