"""Draws the pictures of docs/book, in the style of pictures.py, which runs this. Edit the tables here."""

from pictures import TIP, WIDTH, arrow, box, drawing, rect, text

# Tensors over one storage: name, sizes, strides, offset.
TENSORS = [
    ("x = arange(6.).view(2, 3)", "(2, 3)", "(3, 1)", "0"),
    ("x.t()", "(3, 2)", "(1, 3)", "0"),
    ("x[1]", "(3,)", "(1,)", "3"),
]

# States of a block of memory: column, row, title, what that means, whose code.
STATES = [
    (0, 0, "Device memory", "the driver has it", "given"),
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


def tensor():
    shapes = [TIP]
    for row, (name, sizes, strides, offset) in enumerate(TENSORS):
        y = 48 + 84 * row
        shapes += box(16, y, 270, 68, "pytorch", name, f"sizes {sizes}   strides {strides}   offset {offset}")
        shapes.append(text(32, y + 58, "keys PrivateUse1, AutogradPrivateUse1", 12))
        shapes.append(arrow(286, y + 34, 350, 162))
    shapes += box(350, 128, 180, 68, "pytorch", "Storage", "24 bytes, 3 owners")
    shapes.append(arrow(530, 162, 570, 162))
    shapes += box(570, 120, 174, 84, "generated", "DataPtr", "address, device")
    shapes.append(text(586, 178, "context and deleter", 13))
    shapes.append(arrow(656, 204, 656, 318))
    for cell in range(6):
        x = 456 + 48 * cell
        shapes.append(rect("given", x, 318, 48, 36, 0))
        shapes.append(text(x + 14, 341, f"{cell}.0", 14))
    shapes.append(text(456, 374, "memory of the device", 13))
    shapes.append(text(32, 328, "A view is a tensor over the same storage.", 13))
    shapes.append(text(32, 348, "x[1] begins at element 3; nothing was copied.", 13))
    return drawing(392, "A tensor, its views, their storage and its memory", shapes)


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
    shapes.append('<path class="arrow" d="M714 84H740V310H140V284" marker-end="url(#tip)"/>')
    shapes.append(text(280, 330, "freed, and no other stream used it: at once", 13))
    return drawing(346, "The life of a block of memory", shapes)


def streams():
    left, scale = 110, 0.6
    rows = {"host": 92, "stream 0": 188, "side": 258}
    shapes = [TIP]
    for name, y in rows.items():
        shapes.append(text(16, y + 20, name, 14, 'font-weight="600"'))
        below = 64 if name == "host" else 32
        shapes.append(f'<path class="axis" d="M{left} {y + below}H{WIDTH - 16}"/>')
    for number, (_, words) in enumerate(HOST):  # in two rows, so that the words fit
        x, y = left + 112 * number, 92 + 32 * (number % 2)
        shapes.append(rect("given", x, y, 184, 28, 4))
        shapes.append(text(x + 92, y + 18, words, 12.5, 'text-anchor="middle" font-family="monospace"'))
    for name, begin, end, words in WORK:
        x, y, width = left + begin * scale, rows[name], max(4, (end - begin) * scale)
        shapes.append(rect("generated", f"{x:.0f}", y, f"{width:.0f}", 28, 4))
        shapes.append(text(x + 8, y + 19, words, 13, 'font-family="monospace"'))
    x = left + EVENT * scale
    shapes.append(f'<path class="arrow" d="M{left} 272H{x - 4:.0f}" stroke-dasharray="6 4"/>')
    shapes.append(text(left + 8, 254, "side waits for it; nobody else does", 13))
    shapes.append(arrow(x, 216, x + 1, 258))
    shapes.append(f'<circle class="tip" cx="{x:.0f}" cy="216" r="5"/>')
    shapes.append(text(x + 10, 234, "event", 13))
    shapes.append(text(left, 78, f"five calls; the last one returned after {HOST[-1][0]} ms", 13))
    for time in (0, 250, 500, 750, 1000):
        shapes.append(text(left + time * scale, 320, f"{time} ms", 12, 'text-anchor="middle"'))
    return drawing(334, "Two streams and an event", shapes)


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
    shapes += box(260, 150, 240, 54, "shared", "Merge in three ways", "lines that one side changed")
    shapes.append(arrow(300, 204, 150, 250))
    shapes.append(arrow(460, 204, 610, 250))
    shapes += box(16, 250, 300, 54, "shared", "Your file, with both changes", "one side or none changed each line")
    shapes += box(444, 250, 300, 54, "conflict", "A conflict, with markers", "both changed a line: you decide")
    rows = [
        ("generated", "openreg-gen replaces it, and refuses if you edited it"),
        ("shared", "merged, as above"),
        ("owned", "never touched again: kernels, the port, the spec"),
    ]
    for number, (name, words) in enumerate(rows):
        y = 330 + 30 * number
        shapes.append(rect("yours" if name == "owned" else name, 16, y, 110, 24, 4))
        shapes.append(text(28, y + 17, name, 13, 'font-weight="600"'))
        shapes.append(text(140, y + 17, words, 13))
    return drawing(430, "Whose file it is, and how a merge works", shapes)


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
    return drawing(394, "The bring-up ladder", shapes)


PICTURES = {f"book/{each.__name__}.svg": each for each in (tensor, block, streams, ownership, ladder)}
