"""Draws docs/concepts/layers.svg, the layers of a backend: python scripts/site/layers.py. Edit the table here, then run it."""

import pathlib
from html import escape

OUT = pathlib.Path(__file__).resolve().parents[2] / "docs/concepts/layers.svg"
# (title, what it is, where it is in a tree, whose it is)
LAYERS = [
    ("Your program", "a + b, loss.backward(), torch.compile(model)", "", "user"),
    ("PyTorch", "dispatcher, autograd, composite operators", "", "pytorch"),
    ("Python package", "torch.NAME, autoload, Inductor, errors", "torch_NAME/", "generated"),
    ("Registrations", "operator and dispatch key: which kernel", "csrc/aten/Register*.cpp", "generated"),
    ("Kernels", "what computes; the fallback runs the CPU's code", "csrc/aten/native/", "yours"),
    ("Runtime", "guard, streams, events, allocator, hooks, generator", "csrc/runtime/, csrc/host/", "generated"),
    ("Device API", "a C API modelled on the CUDA runtime", "third_party/NAME/include/", "generated"),
    ("Simulator, OpenCL or your port", "one file to fill in for your own driver", "third_party/NAME/src/", "yours"),
    ("Driver and hardware", "or threads and memory of this machine", "", "user"),
]
COLORS = {
    "user": ("#f3f4f6", "#9ca3af"),
    "pytorch": ("#fdebd8", "#e08b3e"),
    "generated": ("#dcebfa", "#3b82c4"),
    "yours": ("#ddf3e0", "#3d9a50"),
}
LEGEND = [("generated", "openreg-gen writes it"), ("yours", "yours to write"), ("pytorch", "PyTorch")]
WIDTH, ROW, GAP, TOP = 760, 50, 8, 44


def text(x, y, words, size, extra=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" {extra}>{escape(words)}</text>'


def main():
    height = TOP + len(LAYERS) * (ROW + GAP) + 8
    shapes = [f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    x = 16
    for kind, words in LEGEND:
        fill, line = COLORS[kind]
        shapes.append(f'<rect x="{x}" y="14" width="16" height="16" rx="3" fill="{fill}" stroke="{line}"/>')
        shapes.append(text(x + 24, 27, words, 13))
        x += 200
    for number, (title, about, place, kind) in enumerate(LAYERS):
        y = TOP + number * (ROW + GAP)
        fill, line = COLORS[kind]
        shapes.append(
            f'<rect x="16" y="{y}" width="{WIDTH - 32}" height="{ROW}" rx="6" fill="{fill}" stroke="{line}" stroke-width="1.5"/>'
        )
        shapes.append(text(32, y + 21, title, 15, 'font-weight="600"'))
        shapes.append(text(32, y + 40, about, 13))
        shapes.append(text(WIDTH - 32, y + 30, place, 13, 'text-anchor="end" font-family="monospace"'))
    OUT.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif" fill="#1f2937">\n'
        "<title>The layers of a backend</title>\n" + "\n".join(shapes) + "\n</svg>\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
