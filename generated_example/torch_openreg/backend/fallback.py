# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg: what the host computed instead of the device, and its cost.

That is each operator that fell back to the CPU. On a device whose launched functions do not reach its memory it is also
each kernel that runs on copies on the host: first versions that nobody has replaced yet, loops, the copies and casts that the
device does not do itself. The costliest row names the kernel to write next.

`OPENREG_FALLBACK=none`, `cpu`, `copy` or `alias` in the environment overrides how operators fall back. `none` makes each
an error, and each kernel that runs on copies, too; only copies, casts and fills still run.
"""

from dataclasses import dataclass

from .. import _C


@dataclass(frozen=True)
class FallbackCount:
    """Calls of one operator that the host computed instead of the device, for one reason."""

    op: str
    """Its name, such as "aten::cumsum.out"."""
    kind: str
    """"copy": on copies of its arguments. "alias": on the device's memory. As in the last call."""
    calls: int
    bytes_to_host: int
    bytes_to_device: int
    seconds: float
    """Time of the calling threads; with "copy", from when the stream's earlier work was done."""
    strategy: str = ""
    """Of its kernel in openreg.yaml, such as "in_tree"; "minimal" if it comes with the backend, empty if it has none."""
    reason: str = ""
    """Why the host computed it, such as "no kernel"."""
    cause: str = "fallback"
    """"fallback": the operator fell back. "kernel": its kernel ran on copies. "move": a copy, cast or fill, never refused."""


class FallbackReport(tuple[FallbackCount, ...]):
    """Work that the host did for the device, the costliest first. Prints as a table."""

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
            return "nothing was computed on the host"
        head = ("operator", "strategy", "reason", "how", "calls", "to host", "to device", "ms")
        rows = [
            (
                count.op,
                count.strategy or "-",
                count.reason,
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
        total = ("total", "", "", "", str(self.calls), to_host, to_device, f"{self.seconds * 1e3:.3f}")
        widths = [max(len(row[i]) for row in (head, *rows, total)) for i in range(len(head))]
        lines = []
        for row in (head, *rows, total):
            texts = [text.ljust(width) for text, width in zip(row[:4], widths[:4], strict=True)]
            texts += [text.rjust(width) for text, width in zip(row[4:], widths[4:], strict=True)]
            lines.append("  ".join(texts).rstrip())
        return "\n".join(lines)


def fallback_report() -> FallbackReport:
    """The work of the host in this process since it started, or since `reset_fallback_report()`."""
    counts = [FallbackCount(*fields) for fields in _C._fallback_counts()]
    return FallbackReport(sorted(counts, key=lambda count: (-count.seconds, count.op, count.reason)))


def reset_fallback_report() -> None:
    """Start counting again."""
    _C._reset_fallback_counts()


def _readable(size: int) -> str:
    if size < 1024:
        return f"{size} B"
    power = min((size.bit_length() - 1) // 10, 4)
    return f"{size / 1024**power:.1f} {'KMGT'[power - 1]}iB"


def _fallbacks() -> list[tuple[str, int, int, float, str, str]]:
    """The same for the workbench: operator, calls, bytes, seconds, reason, cause."""
    rows = _C._fallback_counts()
    return [(op, calls, up + down, time, why, cause) for op, _, calls, up, down, time, _, why, cause in rows]
