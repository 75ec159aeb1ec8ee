"""Draws the pictures of docs/concepts, and of docs/book (book_pictures.py), in one style: python scripts/site/pictures.py.

Edit the tables here or there, then run it.
"""

import pathlib
from html import escape

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
# What a colour means, in every picture; fill and line on a light ground, and on a dark one.
KINDS = {
    "given": ("your program, the hardware", "#f3f4f6", "#9ca3af", "#2d333b", "#768390"),
    "pytorch": ("PyTorch", "#fdebd8", "#e08b3e", "#4a3218", "#e08b3e"),
    "generated": ("openreg-gen writes it", "#dcebfa", "#3b82c4", "#1b3a57", "#539bd8"),
    "yours": ("you write it", "#ddf3e0", "#3d9a50", "#1d4227", "#57ab5a"),
    "shared": ("both write it", "#ece4fb", "#8b5cf6", "#3b2d5c", "#a78bfa"),
    "conflict": ("a conflict", "#fde2e2", "#d64545", "#55211f", "#e5534b"),
}
STYLE = (
    ".ground{fill:#ffffff}text,.tip{fill:#1f2937}.arrow,.tip{stroke:#4b5563;stroke-width:1.5}.tip{fill:#4b5563}.arrow{fill:none}"
    ".axis{stroke:#d1d5db}"
)
DARK = ".ground{fill:#1c2128}text{fill:#e6edf3}.arrow,.tip{stroke:#adbac7}.tip{fill:#adbac7}.axis{stroke:#545d68}"
WIDTH = 760
TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
)

# Rows of boxes: title, what it is, where it is in a tree, whose it is.
LAYERS = [
    [("Your program", "a + b, loss.backward(), torch.compile(model)", "", "given")],
    [("PyTorch", "dispatcher, autograd, composite operators", "", "pytorch")],
    [("Python package", "torch.NAME, autoload, errors", "torch_NAME/", "generated")],
    [("Registrations", "operator and dispatch key: which kernel", "csrc/aten/Register*.cpp", "generated")],
    [("Kernels", "what computes an operator on the device", "csrc/aten/native/", "yours")],
    [("Host code", "the fallback: runs the CPU's kernel instead", "csrc/host/", "generated")],
    [("Runtime", "guard, streams, events, allocator, hooks, generator", "csrc/runtime/", "generated")],
    [("Device API", "a C API modelled on the CUDA runtime", "third_party/NAME/include/", "generated")],
    [
        ("Simulator or OpenCL", "third_party/NAME/src/", "", "generated"),
        ("or your port to your driver", "third_party/NAME/src/port.cpp", "", "yours"),
    ],
    [("Driver and hardware", "or threads and memory of this machine", "", "given")],
]

# (column, row, title, what it does, whose it is), then arrows between boxes, with words beside them
CALL = [
    (0, 0, "a + b", "add.Tensor", "given"),
    (0, 1, "AutogradPrivateUse1", "records the gradient", "pytorch"),
    (0, 2, "PrivateUse1: default kernel", "allocates the result, calls add.out", "pytorch"),
    (1, 2, "empty: your device's memory", "RegisterMinimal.cpp", "generated"),
    (0, 3, "PrivateUse1: add.out", "registered, or else the fallback", "generated"),
    (0, 4, "Kernel", "queued on the current stream", "yours"),
    (1, 4, "Fallback", "the CPU's kernel; the host waits", "generated"),
]
ARROWS = [
    (0, 1, ""),
    (1, 2, "redispatch"),
    (2, 3, ""),
    (2, 4, ""),
    (4, 5, "a kernel"),
    (4, 6, "no kernel"),
]


def text(x, y, words, size, extra=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" {extra}>{escape(words)}</text>'


def rect(kind, x, y, width, height, rx=6):
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{rx}"/>'


def box(x, y, width, height, kind, title, about, place=""):
    yield rect(kind, x, y, width, height)
    yield text(x + 16, y + 21, title, 15, 'font-weight="600"')
    yield text(x + 16, y + 40, about, 13)
    if place:
        yield text(x + width - 16, y + 30, place, 13, 'text-anchor="end" font-family="monospace"')


def arrow(x, y, to_x, to_y, extra=""):
    return f'<path class="arrow" d="M{x} {y}L{to_x} {to_y}" {extra}{" " if extra else ""}marker-end="url(#tip)"/>'


def legend(kinds):
    x = 16
    for kind in kinds:
        yield rect(kind, x, 14, 16, 16, 3)
        yield text(x + 24, 27, KINDS[kind][0], 13)
        x += 44 + 7 * len(KINDS[kind][0])


def style(kinds):
    """In a dark window the picture has a dark ground, whatever page shows it."""
    light, dark = STYLE, DARK
    for kind in kinds:
        _, fill, line, dark_fill, dark_line = KINDS[kind]
        light += f".{kind}{{fill:{fill};stroke:{line};stroke-width:1.5}}"
        dark += f".{kind}{{fill:{dark_fill};stroke:{dark_line}}}"
    return f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"


def drawing(height, title, shapes):
    """The legend says each colour that the shapes have; they leave the first 40 pixels to it."""
    shapes = list(shapes)
    kinds = [kind for kind in KINDS if any(f'class="{kind}"' in shape for shape in shapes)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif">\n'
        f'<title>{escape(title)}</title>\n{style(kinds)}\n<rect class="ground" width="{WIDTH}" height="{height}"/>\n'
        + "\n".join([*legend(kinds), *shapes])
        + "\n</svg>\n"
    )


def layers():
    height, gap, top = 50, 8, 44
    shapes = []
    for number, row in enumerate(LAYERS):
        width = (WIDTH - 32 + gap) // len(row) - gap
        for column, (title, about, place, kind) in enumerate(row):
            at = 16 + column * (width + gap), top + number * (height + gap)
            shapes += box(*at, width, height, kind, title, about, place)
    return drawing(top + len(LAYERS) * (height + gap) + 8, "The layers of a backend", shapes)


def call():
    row, gap, top, width = 50, 34, 48, 320
    shapes = [TIP]
    at = [(16 + column * (width + 88), top + number * (row + gap)) for column, number, *_ in CALL]
    for (x, y), (_, _, title, about, kind) in zip(at, CALL, strict=True):
        shapes += box(x, y, width, row, kind, title, about)
    for begin, end, words in ARROWS:
        (x, y), (to_x, to_y) = at[begin], at[end]
        if x == to_x:
            line, place = (x + 60, y + row, x + 60, to_y), (x + 72, y + row + 21)
        elif y == to_y:
            line, place = (x + width, y + row / 2, to_x, y + row / 2), (x + width + 8, y + 18)
        else:
            line, place = (x + width, y + row / 2, to_x + 60, to_y), (to_x + 56, to_y - 18)
        shapes.append(arrow(*line))
        if words:
            shapes.append(text(*place, words, 13))
    rows = 1 + max(number for _, number, *_ in CALL)
    return drawing(top + rows * (row + gap) - gap + 16, "How a + b reaches a kernel", shapes)


def every_picture():
    """Paths below docs, and the functions that draw them."""
    import book_pictures  # which imports this module

    return {"concepts/layers.svg": layers, "concepts/dispatch.svg": call} | book_pictures.PICTURES


def main():
    for path, draw in every_picture().items():
        (DOCS / path).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
