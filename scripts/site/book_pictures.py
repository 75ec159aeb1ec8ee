"""Draws the pictures of docs/book, in the style of pictures.py, which runs this. Edit the tables here."""

from pictures import TIP, WIDTH, arrow, box, drawing, rect, text

# Tensors over one storage: name, sizes, strides, offset.
TENSORS = [
    ("x = arange(6.0).view(2, 3)", "(2, 3)", "(3, 1)", "0"),
    ("y = x.t()", "(3, 2)", "(1, 3)", "0"),
    ("z = x[:, 1]", "(2,)", "(3,)", "1"),
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

# The script of chapter 6 with an event: the calls of the host, in the order of the script, and the work on each stream in ms. slow_add_
# takes half a second; the host reaches event.synchronize() within a millisecond, and waits there.
CALLS = ["slow_add_(x)", "event.record()", "side.wait_event(event)", "y = empty_like(x).copy_(x)", "event.query()"]
HOST_WAITS = "event.synchronize()"
EVENT = 500.0

# The bring-up ladder: what a rung needs, and what works then.
RUNGS = [
    ("1  Devices", "4 functions", "import torch sees them"),
    ("2  Memory", "12 functions", "tensors go there and back"),
    ("3  Streams and events", "15 functions", "work overlaps, and waits"),
    ("4  Operators", "1 function, and optional ones", "a + b"),
    ("5  Autograd", "none", "a network trains"),
]


def tensor():
    """The tensors of the script in chapter 2."""
    shapes = [TIP]
    for row, (name, sizes, strides, offset) in enumerate(TENSORS):
        y = 76 + 84 * row
        shapes += box(16, y, 300, 68, "pytorch", name, f"sizes {sizes}  strides {strides}")
        shapes.append(text(32, y + 58, f"offset {offset}  float32  PrivateUse1, ...", 14))
        shapes.append(arrow(316, y + 34, 372, 194))
    shapes.append(text(16, 62, "TensorImpl: one per tensor", 14))
    shapes.append(text(372, 62, "StorageImpl: one per allocation", 14))
    shapes += box(372, 160, 168, 68, "pytorch", "StorageImpl", "24 bytes")
    shapes.append(text(388, 218, "counted: 3 tensors", 14))
    shapes.append(arrow(540, 194, 584, 194))
    shapes += box(584, 152, 160, 92, "generated", "DataPtr", "address, device")
    shapes.append(text(600, 212, "context", 14))
    shapes.append(text(600, 232, "deleter", 14))
    first, cell = 400, 56
    shapes.append(arrow(600, 244, first + 4, 356))
    for number in range(6):
        x = first + cell * number
        shapes.append(rect("given", x, 358, cell, 36, 0))
        shapes.append(text(x + 16, 381, f"{number}.0", 15))
        shapes.append(text(x + cell / 2, 412, f"{number}", 14, 'text-anchor="middle"'))
    shapes.append(text(first, 434, "memory of the device, its elements counted", 14))
    shapes.append(text(16, 350, "Each arrow on the left is a Storage.", 14))
    shapes.append(text(16, 372, "z begins at element 1, and its next", 14))
    shapes.append(text(16, 394, "element is 3 further: 1.0 and 4.0.", 14))
    shapes.append(text(16, 416, "Nothing was copied.", 14))
    return drawing(450, "Three tensors, their StorageImpl, its DataPtr and its memory", shapes)


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
    """The script of chapter 6 with an event. The calls take no time that one could see, so they have a list of their own."""
    left, scale, calls = 120, 0.9, 26
    begin = left + 60
    x = begin + EVENT * scale
    shapes = [TIP, text(16, 66, "The host calls, within a millisecond:", 15, 'font-weight="600"')]
    for number, words in enumerate(CALLS):
        shapes.append(text(40, 92 + calls * number, f"{number + 1}.  {words}", 15, 'font-family="monospace"'))
    top = 92 + calls * len(CALLS) + 14
    shapes.append(text(16, top, "Then time passes:", 15, 'font-weight="600"'))
    rows = {"host": top + 16, "stream 0": top + 64, "side": top + 130}
    for name, y in rows.items():
        shapes.append(text(16, y + 21, name, 15, 'font-weight="600"'))
        shapes.append(f'<path class="axis" d="M{left} {y + 36}H{WIDTH - 16}"/>')
    shapes.append(rect("given", begin, rows["host"], x - begin, 30, 4))
    shapes.append(
        text(begin + 12, rows["host"] + 20, f"{len(CALLS) + 1}.  {HOST_WAITS}", 15, 'font-family="monospace"')
    )
    shapes.append(rect("generated", begin, rows["stream 0"], x - begin, 30, 4))
    shapes.append(text(begin + 12, rows["stream 0"] + 20, "slow_add_(x)", 15, 'font-family="monospace"'))
    shapes.append(f'<circle class="tip" cx="{x:.0f}" cy="{rows["stream 0"] + 15}" r="6"/>')
    shapes.append(text(x + 14, rows["stream 0"] + 20, "event", 15))
    shapes.append(f'<path class="arrow" d="M{begin} {rows["side"] + 15}H{x - 4:.0f}" stroke-dasharray="6 4"/>')
    shapes.append(text(begin + 12, rows["side"] + 6, "side waits for the event", 15))
    shapes.append(arrow(x, rows["stream 0"] + 21, x, rows["side"] - 2))
    shapes.append(rect("generated", f"{x:.0f}", rows["side"], 6, 30, 4))
    shapes.append(text(x + 14, rows["side"] + 20, "copy_(x)", 15, 'font-family="monospace"'))
    bottom = rows["side"] + 62
    for time in (0, 250, 500):
        shapes.append(text(begin + time * scale, bottom, f"{time} ms", 14, 'text-anchor="middle"'))
    return drawing(bottom + 18, "Two streams and an event", shapes)


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
