"""Draws a part of a Chrome trace of torch.profiler as an SVG: the rows of threads above, those of streams below, arrows from
launches to kernels. Usage: trace_picture.py TRACE.json OUT.svg [RANGE]; RANGE: the name of a record_function() range to show.
"""

import json
import sys
from html import escape

WIDTH, LEFT, ROW, TOP, DEPTH = 1000, 170, 18, 28, 5
COLORS = {
    "cpu_op": "#9ecae1",
    "privateuse1_runtime": "#fdae6b",
    "user_annotation": "#c7e9c0",
    "gpu_user_annotation": "#c7e9c0",
    "kernel": "#6baed6",
    "gpu_memcpy": "#fd8d3c",
    "gpu_memset": "#bcbddc",
}


LEGEND = {
    "cpu_op": "operator",
    "privateuse1_runtime": "call of the device API",
    "user_annotation": "range of the program",
    "kernel": "kernel",
    "gpu_memcpy": "copy",
    "gpu_memset": "fill",
}


def legend(y: int) -> str:
    """The meanings of the colours, in one row, and of a line."""
    shapes, x = [], LEFT
    for kind, words in LEGEND.items():
        shapes.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLORS[kind]}"/>')
        shapes.append(f'<text x="{x + 16}" y="{y + 10}">{words}</text>')
        x += 36 + 6 * len(words)
    return "".join([*shapes, f'<text x="{x}" y="{y + 10}">line: from a launch to what it queued</text>'])


def rows_of(events: list[dict]) -> list[tuple[str, list[list[dict]]]]:
    """Each thread or stream with its events, by depth of nesting."""
    names = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e.get("name") == "thread_name" and "name" in e["args"]
    }
    drawn: dict[tuple, list[dict]] = {}
    for e in events:
        if e.get("cat") in COLORS:
            drawn.setdefault((e["pid"], e["tid"]), []).append(e)
    rows = []
    for where in sorted(drawn, key=lambda w: (drawn[w][0]["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"), str(w))):
        levels: list[list[dict]] = []
        for e in sorted(drawn[where], key=lambda e: (e["ts"], -e["dur"])):
            for level in levels:
                if level[-1]["ts"] + level[-1]["dur"] <= e["ts"]:
                    level.append(e)
                    break
            else:
                levels.append([e])
        device = any(e["cat"] == "kernel" for e in drawn[where])
        name = names.get(where, "") if device else "host thread"
        rows.append((name, levels[:DEPTH]))
    return rows


def picture(events: list[dict], wanted: str | None) -> str:
    if wanted is not None:
        spans = [e for e in events if e.get("name") == wanted and e.get("cat", "").endswith("user_annotation")]
        begin, end = min(e["ts"] for e in spans), max(e["ts"] + e["dur"] for e in spans)
        events = [
            e for e in events if "ts" not in e or "dur" not in e or (e["ts"] + e["dur"] >= begin and e["ts"] <= end)
        ]
    timed = [e for e in events if e.get("cat") in COLORS]
    begin, end = min(e["ts"] for e in timed), max(e["ts"] + e["dur"] for e in timed)
    scale = (WIDTH - LEFT) / (end - begin)
    shapes, places, y = [], {}, TOP
    for name, levels in rows_of(events):
        shapes.append(f'<text x="4" y="{y + 13}">{escape(name)}</text>')
        for level in levels:
            for e in level:
                x, width = LEFT + (e["ts"] - begin) * scale, max(0.6, e["dur"] * scale)
                places[(e["cat"] == "privateuse1_runtime", e.get("args", {}).get("correlation"))] = (x, y)
                title = f"<title>{escape(e['name'])}, {e['dur']:.1f} us</title>"
                shapes.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 3}" fill="{COLORS[e["cat"]]}">{title}</rect>'
                )
                if width > 6.5 * len(e["name"]):
                    shapes.append(f'<text x="{x + 2:.1f}" y="{y + 11}" class="in">{escape(e["name"])}</text>')
            y += ROW
        y += ROW // 2
    for (launch, number), (x, at) in list(places.items()):
        there = places.get((False, number))
        if launch and there is not None:
            shapes.append(f'<path d="M{x:.1f} {at + ROW - 3} L{there[0]:.1f} {there[1]}"/>')
    axis = f'<text x="{LEFT}" y="16">0 us</text><text x="{WIDTH - 60}" y="16">{end - begin:.0f} us</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 12} {y + 24}" font-family="sans-serif" font-size="11">'
        "<style>.in{font-size:9px}path{stroke:#888;stroke-width:.4;fill:none}</style>"
        f'<rect width="{WIDTH + 12}" height="{y + 24}" fill="white"/>{axis}{"".join(shapes)}{legend(y + 4)}</svg>\n'
    )


def main() -> None:
    trace, out, *rest = sys.argv[1:]
    with open(trace) as file:
        events = json.load(file)["traceEvents"]
    with open(out, "w") as file:
        file.write(picture(events, rest[0] if rest else None))


if __name__ == "__main__":
    main()
