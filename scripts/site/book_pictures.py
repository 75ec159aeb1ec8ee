"""Draws the pictures of docs/book, in the style of pictures.py, which runs this. Edit the tables here."""

from pictures import COLORS, LEGEND, TIP, WIDTH, arrow, box, drawing, text

# Tensors over one storage: name, sizes, strides, offset.
TENSORS = [
    ("x = arange(6.).view(2, 3)", "(2, 3)", "(3, 1)", "0"),
    ("x.t()", "(3, 2)", "(1, 3)", "0"),
    ("x[1]", "(3,)", "(1,)", "3"),
]

# States of a block of memory: column, row, title, what that means, whose code.
STATES = [
    (0, 0, "Device memory", "the driver has it", "user"),
    (1, 0, "In use", "a storage owns it", "generated"),
    (1, 1, "Waiting", "other streams still read it", "generated"),
    (0, 1, "Cached", "in the list of one stream", "generated"),
]
# From, to, the words beside the arrow.
CHANGES = [
    (0, 1, "Malloc"),
    (1, 2, ""),
    (2, 3, "their events passed"),
    (3, 0, "empty_cache(), or out of memory"),
    (3, 1, "a request of the same stream"),
]

# Two streams and an event: one run on the simulator, in ms after the first call, measured with the streams' own events, and on the
# host with its clock. slow_add_ is the operator of chapter 6, which takes half a second.
HOST = [
    (0.20, "slow_add_(x)"),
    (0.20, "event.record()"),
    (0.24, "side.wait_event(event)"),
    (0.32, "y.copy_(x)"),
    (0.33, "slow_add_(z)"),
]
WORK = [
    ("stream 0", 0, 504.0, "slow_add_(x)"),
    ("stream 0", 504.0, 1006.4, "slow_add_(z)"),
    ("side", 505.6, 505.6, "y.copy_(x)"),
]
EVENT = 504.0

# The bring-up ladder: what a rung needs, and what works then.
RUNGS = [
    ("1  Devices", "4 functions", "import torch sees them"),
    ("2  Memory", "12 functions", "tensors go there and back"),
    ("3  Streams and events", "15 functions", "work overlaps, and waits"),
    ("4  Operators", "1 function, and optional ones", "a + b"),
    ("5  Autograd", "none", "a network trains"),
]

NO_LEGEND: list[tuple[str, str]] = []


def tensor():
    shapes = [TIP]
    for row, (name, sizes, strides, offset) in enumerate(TENSORS):
        y = 20 + 84 * row
        shapes += box(16, y, 270, 68, "pytorch", name, f"sizes {sizes}   strides {strides}   offset {offset}")
        shapes.append(text(32, y + 58, "keys PrivateUse1, AutogradPrivateUse1", 12))
        shapes.append(arrow(286, y + 34, 350, 134))
    shapes += box(350, 100, 180, 68, "pytorch", "Storage", "24 bytes, 3 owners")
    shapes.append(arrow(530, 134, 570, 134))
    shapes += box(570, 92, 174, 84, "generated", "DataPtr", "address, device")
    shapes.append(text(586, 150, "context and deleter", 13))
    shapes.append(arrow(656, 176, 656, 290))
    fill, line = COLORS["user"]
    for cell in range(6):
        x = 456 + 48 * cell
        shapes.append(f'<rect x="{x}" y="290" width="48" height="36" fill="{fill}" stroke="{line}"/>')
        shapes.append(text(x + 14, 313, f"{cell}.0", 14))
    shapes.append(text(456, 346, "memory of the device", 13))
    shapes.append(text(32, 300, "A view is a tensor over the same storage.", 13))
    shapes.append(text(32, 320, "x[1] begins at element 3; nothing was copied.", 13))
    return drawing(364, "A tensor, its views, their storage and its memory", shapes, NO_LEGEND)


def block():
    width, height = 230, 56
    at = [(24 + 460 * column, 56 + 170 * row) for column, row, *_ in STATES]
    shapes = [TIP]
    for (x, y), (_, _, title, about, kind) in zip(at, STATES, strict=True):
        shapes += box(x, y, width, height, kind, title, about)
    lines = [
        (254, 84, 484, 84, 338, 76),
        (640, 112, 640, 226, 0, 0),
        (484, 254, 254, 254, 300, 276),
        (100, 226, 100, 112, 112, 150),
        (230, 226, 500, 112, 312, 214),
    ]
    for (*line, x, y), (_, _, words) in zip(lines, CHANGES, strict=True):
        shapes.append(arrow(*line))
        if x:
            shapes.append(text(x, y, words, 13))
    shapes.append(text(628, 172, "freed, after", 13, 'text-anchor="end"'))
    shapes.append(text(628, 189, "record_stream", 13, 'text-anchor="end"'))
    corner = (
        '<path d="M714 84H740V310H140V284" stroke="#4b5563" stroke-width="1.5" fill="none" marker-end="url(#tip)"/>'
    )
    shapes.append(corner)
    shapes.append(text(280, 330, "freed, and no other stream used it: at once", 13))
    return drawing(346, "The life of a block of memory", shapes, LEGEND[:1])


def streams():
    left, scale = 110, 0.6
    rows = {"host": 50, "stream 0": 130, "side": 200}
    shapes = [TIP]
    for name, y in rows.items():
        shapes.append(text(16, y + 20, name, 14, 'font-weight="600"'))
        shapes.append(f'<path d="M{left} {y + 32}H{WIDTH - 16}" stroke="#d1d5db"/>')
    for number, (_, words) in enumerate(HOST):
        x = left + 126 * number
        fill, line = COLORS["user"]
        shapes.append(f'<rect x="{x}" y="50" width="120" height="28" rx="4" fill="{fill}" stroke="{line}"/>')
        shapes.append(text(x + 60, 68, words, 9, 'text-anchor="middle" font-family="monospace"'))
    for name, begin, end, words in WORK:
        x, y, width = left + begin * scale, rows[name], max(4, (end - begin) * scale)
        fill, line = COLORS["generated"]
        shapes.append(
            f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="28" rx="4" fill="{fill}" stroke="{line}"/>'
        )
        shapes.append(text(x + 8, y + 19, words, 13, 'font-family="monospace"'))
    x = left + EVENT * scale
    shapes.append(f'<path d="M{left} 214H{x - 4:.0f}" stroke="#e08b3e" stroke-width="2" stroke-dasharray="6 4"/>')
    shapes.append(text(left + 8, 196, "side waits for it; nobody else does", 13))
    shapes.append(arrow(x, 158, x + 1, 200))
    shapes.append(f'<circle cx="{x:.0f}" cy="158" r="5" fill="#e08b3e"/>')
    shapes.append(text(x + 10, 176, "event", 13))
    shapes.append(text(left, 40, f"five calls; the last one returned after {HOST[-1][0]} ms", 13))
    for time in (0, 250, 500, 750, 1000):
        shapes.append(text(left + time * scale, 262, f"{time} ms", 12, 'text-anchor="middle"'))
    return drawing(276, "Two streams and an event", shapes, NO_LEGEND)


def ownership():
    shapes = [TIP]
    texts = [
        (16, "generated", "Last render", "what openreg-gen wrote then"),
        (270, "yours", "Your file", "with your changes"),
        (524, "generated", "New render", "what it would write now"),
    ]
    for x, kind, title, about in texts:
        shapes += box(x, 48, 220, 54, kind, title, about)
        shapes.append(arrow(x + 110, 102, 380 + (x - 270) * 0.3, 150))
    shapes += box(260, 150, 240, 54, "user", "Merge in three ways", "lines that one side changed")
    shapes.append(arrow(300, 204, 150, 250))
    shapes.append(arrow(460, 204, 610, 250))
    shapes += box(16, 250, 300, 54, "yours", "Your file, with both changes", "one side or none changed each line")
    shapes += box(444, 250, 300, 54, "pytorch", "A conflict, with markers", "both changed a line: you decide")
    rows = [
        ("generated", "generated", "openreg-gen replaces it, and refuses if you edited it"),
        ("user", "shared", "merged, as above"),
        ("yours", "owned", "never touched again: kernels, the port, the spec"),
    ]
    for number, (kind, name, words) in enumerate(rows):
        y = 330 + 30 * number
        fill, line = COLORS[kind]
        shapes.append(f'<rect x="16" y="{y}" width="110" height="24" rx="4" fill="{fill}" stroke="{line}"/>')
        shapes.append(text(28, y + 17, name, 13, 'font-weight="600"'))
        shapes.append(text(140, y + 17, words, 13))
    return drawing(430, "Whose file it is, and how a merge works", shapes, LEGEND[:2])


def ladder():
    shapes = [TIP]
    for number, (title, needs, works) in enumerate(RUNGS):
        x, y = 16 + 100 * number, 300 - 62 * number
        shapes += box(x, y, 310, 50, "yours", title, needs)
        shapes.append(
            text(x + 322 if number < 4 else x - 12, y + 30, works, 13, "" if number < 4 else 'text-anchor="end"')
        )
    shapes.append(
        text(16, 378, "A test of each function fails until it is filled in; rungs above a red one are skipped.", 13)
    )
    return drawing(394, "The bring-up ladder", shapes, LEGEND[1:2])


PICTURES = {f"book/{each.__name__}.svg": each for each in (tensor, block, streams, ownership, ladder)}
