"""Runs the first commands of the README and draws what a terminal shows: docs/start/first-run.svg.

    VIRTUAL_ENV=ENV capture.py [OUT.svg]     ENV is an environment with PyTorch, pytest and what builds need, and no backend
    capture.py --tests NUMBER                compares the number of tests in the picture, and changes nothing

The commands really run, in a temporary folder; nothing that is drawn is written by hand. Long outputs are cut to their last or first
lines, and paths of the machine become short ones. tests/test_site.py compares what is quick: new and add.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from html import escape, unescape

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("OPENREG_GEN", ROOT / "build/openreg-gen"))
PICTURE = ROOT / "docs/start/first-run.svg"
STEPS = [  # command, how many of its lines are drawn: the first, or, if negative, the last
    ("openreg-gen new mybackend --profile minimal", 2),
    ("pip install --no-build-isolation -e 'torch_mybackend[test]'", -1),
    ("openreg-gen test -C torch_mybackend", -1),
    ("""python -c 'import torch; print(torch.ones(2, device="mybackend") + 1)'""", 2),
    ("openreg-gen add relu --strategy native -C torch_mybackend", 12),
    ("openreg-gen test relu -C torch_mybackend", -1),
]
COLUMNS, SIZE, LINE = 96, 14, 20  # characters; pixels of a letter and of a line
# Without a build, Next: names the first one.
NOT_BUILT, BUILT = (
    "python -m pip install --no-build-isolation -v -e 'torch_mybackend[test]'",
    "cmake --build torch_mybackend/build",
)
QUICK = ("openreg-gen new ", "openreg-gen add ")


def shown(printed, most):
    lines = [line.rstrip()[:COLUMNS] for line in printed.splitlines() if line.strip()]
    return lines[most:] if most < 0 else lines[:most]


def draw(steps):
    """A terminal, dark on every page; a line of it is one element."""
    lines = [line for command, printed in steps for line in ("$ " + command, *printed)]
    width, height = round(COLUMNS * SIZE * 0.602) + 32, len(lines) * LINE + 28
    rows = []
    for number, line in enumerate(lines):
        style = ' class="command"' if line.startswith("$ ") else ""
        rows.append(f'<text x="16" y="{28 + number * LINE}"{style}>{escape(line, quote=False)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-size="{SIZE}"'
        " font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\">\n"
        "<title>From an empty folder to a device that PyTorch knows</title>\n"
        "<style>text{white-space:pre;fill:#d0d7de}.command{fill:#7ee787;font-weight:600}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#1c2128"/>\n' + "\n".join(rows) + "\n</svg>\n"
    )


def read(picture):
    """The steps of a picture: commands, and the lines that it shows of each."""
    steps = []
    for line in re.findall(r"<text[^>]*>(.*?)</text>", picture.read_text(encoding="utf-8")):
        if line.startswith("$ "):
            steps.append((unescape(line[2:]), []))
        else:
            steps[-1][1].append(unescape(line))
    return steps


def differences(steps, run):
    """Of the quick commands: lines of the picture that differ from the output of `run` for the same words."""
    if [command for command, _ in steps] != [command for command, _ in STEPS]:
        return ["the picture has other commands"]
    found = []
    for (command, lines), (_, most) in zip(steps, STEPS, strict=True):
        if not command.startswith(QUICK):
            continue
        now = [line.replace(NOT_BUILT, BUILT) for line in shown(run(shlex.split(command)), most)]
        if lines != now:
            found.append(f"{command}: shows {lines}, and prints {now}; run scripts/site/capture.py")
    return found


def environment(folder):
    """The environment of VIRTUAL_ENV seen from a fresh one, so that its own stays without a backend."""
    base = pathlib.Path(os.environ["VIRTUAL_ENV"]) / "bin/python"
    subprocess.run([base, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    ask = 'import sys; print("\\n".join(p for p in sys.path if p.endswith(("site-packages", "dist-packages"))))'
    paths = subprocess.run([base, "-c", ask], check=True, capture_output=True, text=True).stdout
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    (pathlib.Path(site) / "base.pth").write_text(paths)
    path = f"{folder / 'venv/bin'}:{COMMAND.parent}:{base.parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "VIRTUAL_ENV": str(folder / "venv"), "COLUMNS": str(COLUMNS)}


def compare_tests(number):
    """Ends with an error if the picture shows another number of tests than a minimal tree has."""
    passed = re.search(r"(\d+) passed", " ".join(read(PICTURE)[2][1]))
    if passed is None or passed[1] != number:
        sys.exit(
            f"{PICTURE}: shows {passed and passed[1]} tests, and a minimal tree has {number}: scripts/site/capture.py"
        )


def main():
    if sys.argv[1:2] == ["--tests"]:
        return compare_tests(sys.argv[2])
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    steps = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = environment(folder)
        for command, most in STEPS:
            words = shlex.split(command)
            if words[0] == "pip":
                words = ["python", "-m", *words, "-q", "--disable-pip-version-check"]
            result = subprocess.run(
                words, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            if result.returncode:
                sys.exit(f"{command}: {result.stdout}")
            print(command, result.stdout, sep="\n", flush=True)
            steps.append((command, shown(result.stdout.replace(name, "~"), most)))
    out.write_text(draw(steps), encoding="utf-8")
    print(out)


if __name__ == "__main__":
    main()
