"""Draws one training step as torch.profiler saw it: docs/reference/profile.svg.

    trace_picture.py DEVICE [OUT.svg]     runs a small network on DEVICE, in an environment that has the backend, and draws it

Above, the threads of the host: ranges of the program, operators, calls of the device's API. Below, the device's streams. A line leads
from a call to the work that it queued.
"""

import json
import re
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/site"))
from pictures import WIDTH, rect, text  # noqa: E402

LEFT, ROW, TOP, DEPTH = 110, 24, 40, 5
LETTER = 7.2  # the width of one at SIZE
SIZE = 12
KINDS = {  # of events: the class of the shape, and its meaning
    "user_annotation": ("range", "range of the program"),
    "cpu_op": ("op", "operator"),
    "privateuse1_runtime": ("call", "call of the device API"),
    "kernel": ("kernel", "kernel"),
    "gpu_memcpy": ("copy", "copy"),
    "gpu_memset": ("fill", "fill"),
}
COLOURS = {  # on a light ground, on a dark one
    "range": ("#c7e9c0", "#1d4227"),
    "op": ("#bcdcf2", "#1b3a57"),
    "call": ("#fdd0a2", "#5c3a12"),
    "kernel": ("#6baed6", "#2a5f8f"),
    "copy": ("#fd8d3c", "#9a4b10"),
    "fill": ("#bcbddc", "#4a4a80"),
}


def step_of(device):
    """The events of the fastest of some training steps: the machine may have other work."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, foreach=False)
    x, y = torch.randn(128, 512, device=device), torch.randint(10, (128,)).to(device)

    def step():
        with record_function("step"):
            with record_function("forward"):
                loss = torch.nn.functional.cross_entropy(net(x), y)
            with record_function("backward"):
                loss.backward()
            with record_function("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
        torch.accelerator.synchronize()

    for _ in range(3):
        step()
    traces = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        for _ in range(60):
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
                step()
            prof.export_chrome_trace(str(path))
            traces.append(json.loads(path.read_text())["traceEvents"])
    return min(traces, key=lambda events: next(e["dur"] for e in events if e.get("name") == "step"))


def rows_of(events):
    """Each thread and stream with its events, by depth of nesting."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    drawn = {}
    for e in events:
        if e.get("cat") in KINDS and "#" not in e["name"]:  # PyTorch's own ranges have one
            drawn.setdefault((e["pid"], e["tid"]), []).append(e)
    works = ("kernel", "gpu_memcpy", "gpu_memset")
    for where in sorted(drawn, key=lambda at: (drawn[at][0]["cat"] in works, str(at))):
        levels = []
        for e in sorted(drawn[where], key=lambda e: (e["ts"], -e["dur"])):
            for level in levels:
                if level[-1]["ts"] + level[-1]["dur"] <= e["ts"]:
                    level.append(e)
                    break
            else:
                levels.append([e])
        device = drawn[where][0]["cat"] in works
        yield (
            re.sub(r"^\w+:(\d+) (stream \d+).*", r"device \1,\n\2", names.get(where, "")) if device else "host thread",
            levels[:DEPTH],
        )


def legend(y):
    x, words = 16, [(kind, about) for kind, about in KINDS.values()] + [(None, "line: from a call to its work")]
    for kind, about in words:
        if x + 30 + 6.4 * len(about) > WIDTH:
            x, y = 16, y + 22
        if kind:
            yield rect(kind, x, y, 14, 14, 3)
        yield text(x + (20 if kind else 0), y + 12, about, SIZE)
        x += 42 + 6.4 * len(about)


def picture(events):
    spans = [e for e in events if e.get("name") == "step" and e.get("cat") == "user_annotation"]
    begin = spans[0]["ts"]
    timed = [e for e in events if e.get("cat") in KINDS and e["ts"] >= begin]
    end = max(e["ts"] + e["dur"] for e in timed)
    scale = (WIDTH - LEFT - 16) / (end - begin)
    meta = [e for e in events if e.get("ph") == "M"]
    shapes, launches, works, y = [], {}, {}, TOP
    for name, levels in rows_of([*meta, *timed]):
        shapes += [text(8, y + 15 + 15 * n, part, SIZE) for n, part in enumerate(name.split("\n"))]
        for level in levels:
            for e in level:
                x, width = LEFT + (e["ts"] - begin) * scale, max(1.0, e["dur"] * scale)
                kind = KINDS[e["cat"]][0]
                number = e.get("args", {}).get("correlation")
                (launches if kind == "call" else works)[number] = x, y
                label = e["name"].removeprefix("aten::")
                title = f"<title>{escape(e['name'])}, {e['dur']:.0f} us</title>"
                shapes.append(rect(kind, f"{x:.1f}", y, f"{width:.1f}", ROW - 4, 2).replace("/>", f">{title}</rect>"))
                if width > LETTER * len(label) + 6:
                    shapes.append(text(f"{x + 3:.1f}", y + 15, label, SIZE))
            y += ROW
        y += max(ROW // 2, 34 - ROW * len(levels))
    for number, (x, at) in launches.items():
        if number in works:
            to_x, to_y = works[number]
            shapes.append(f'<path d="M{x:.1f} {at + ROW - 4}L{to_x:.1f} {to_y}"/>')
    shapes += [text(LEFT, 24, "0 us", SIZE), text(WIDTH - 16, 24, f"{end - begin:.0f} us", SIZE, 'text-anchor="end"')]
    light = ".ground{fill:#fff}text{fill:#1f2937}path{stroke:#6b7280;stroke-width:.6;fill:none}"
    dark = ".ground{fill:#1c2128}text{fill:#e6edf3}path{stroke:#adbac7}"
    for kind, (fill, dark_fill) in COLOURS.items():
        light, dark = f"{light}.{kind}{{fill:{fill}}}", f"{dark}.{kind}{{fill:{dark_fill}}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 54}" role="img" font-family="sans-serif">\n'
        f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>\n"
        f'<rect class="ground" width="{WIDTH}" height="{y + 54}"/>\n'
        + "\n".join([*shapes, *legend(y + 4)])
        + "\n</svg>\n"
    )


def main():
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/reference/profile.svg"
    out.write_text(picture(step_of(sys.argv[1])), encoding="utf-8")
    print(out)


if __name__ == "__main__":
    main()
