"""The command's peers, given the same work: copier and cookiecutter a tree like ours, torchgen its backend stubs."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def templatize(text: str, name: str) -> str:
    """Text that renders to itself with `name` for "openreg": as many substitutions as the real tree has names."""
    text = re.sub(r"(\{\{|\{%|\{#)", r'{{ "\1" }}', text)
    return text.replace("openreg", f"{{{{ {name} }}}}")


def like_tree(tree: pathlib.Path, to: pathlib.Path, name: str, suffix: str) -> None:
    for path in sorted(tree.rglob("*")):
        inside = path.relative_to(tree)
        if path.is_file() and inside.parts[0] != ".openreg-gen":
            out = to / (str(inside).replace("openreg", f"{{{{ {name} }}}}") + suffix)
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(templatize(path.read_text(), name))


def copier(*words) -> list:
    return [sys.executable, "-m", "copier", *words]


def copier_command(tree: pathlib.Path, scratch: pathlib.Path) -> list:
    source = scratch / "copier"
    like_tree(tree, source, "name", ".jinja")
    (source / "copier.yml").write_text("name: {type: str, default: openreg}\n")
    return copier("copy", "--quiet", "--defaults", source)


def cookiecutter_command(tree: pathlib.Path, scratch: pathlib.Path) -> list:
    source = scratch / "cookiecutter"
    like_tree(tree, source / "{{ cookiecutter.name }}", "cookiecutter.name", "")
    (source / "cookiecutter.json").write_text('{"name": "openreg"}\n')
    return [sys.executable, "-m", "cookiecutter", "--no-input", source, "--output-dir"]


def torchgen_command(scratch: pathlib.Path) -> list:
    spec = scratch / "stubs.yaml"
    ops = ["abs.out", "maximum.out", "hypot.out", "relu", "relu_", "sub.Tensor", "empty.memory_format", "as_strided"]
    lines = ["backend: PrivateUse1", "cpp_namespace: openreg", "device_guard: True", "supported:"]
    spec.write_text("\n".join(lines + [f"- {op}" for op in ops]) + "\n")
    (scratch / "stubs").mkdir()
    return [sys.executable, "-m", "torchgen.gen_backend_stubs", "-s", spec, "-o", scratch / "stubs"]
