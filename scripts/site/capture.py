"""Runs the first commands of the README and draws what a terminal shows: docs/start/first-run.svg.

    VIRTUAL_ENV=ENV capture.py [OUT.svg]     ENV is an environment with PyTorch, pytest and what builds need, and no backend

The commands really run, in a temporary folder; nothing that is drawn is written by hand. Long outputs are cut to their last lines,
and paths of the machine become short ones. Needs `rich`, and about two minutes of processor.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.text import Text

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("OPENREG_GEN", ROOT / "build/openreg-gen"))
STEPS = [  # command, how many of its lines are drawn: the first, or, if negative, the last
    ("openreg-gen new mybackend --profile minimal", 2),
    ("pip install --no-build-isolation -e 'torch_mybackend[test]'", -1),
    ("openreg-gen test -C torch_mybackend", -1),
    ("""python -c 'import torch; print(torch.ones(2, device="mybackend") + 1)'""", 2),
    ("openreg-gen add relu --strategy native -C torch_mybackend", 9),
]


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
    return {**os.environ, "PATH": path, "VIRTUAL_ENV": str(folder / "venv"), "COLUMNS": "100"}


def without_fonts(svg):
    """Rich asks a server for its font; a reader's own will do. It also cuts the last line below the letters: six more pixels."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = re.sub(r'(clip-terminal">\s*<rect [^>]*height=")([\d.]+)', lambda m: f"{m[1]}{float(m[2]) + 6}", svg)
    return svg.replace(
        "font-family: Fira Code, monospace", "font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace"
    )


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/start/first-run.svg")
    console = Console(record=True, width=100, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = environment(folder)
        for command, most in STEPS:
            words = shlex.split(command)
            if words[0] == "pip":
                words = ["python", "-m", *words, "-q", "--disable-pip-version-check"]
            start = time.monotonic()
            result = subprocess.run(
                words, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            seconds = time.monotonic() - start
            if result.returncode:
                sys.exit(f"{command}: {result.stdout}")
            print(command, f"{seconds:.1f} s\n{result.stdout}", flush=True)
            console.print(Text("$ ", "bold green") + Text(command, "bold"))
            lines = [line for line in result.stdout.replace(name, "~").splitlines() if line.strip()]
            for line in lines[most:] if most < 0 else lines[:most]:
                console.print(Text(line[:99]))
            if seconds > 2:
                console.print(Text(f"# {seconds:.0f} s", "dim"))
    svg = console.export_svg(title="From an empty folder to a device that PyTorch knows")
    out.write_text(without_fonts(svg), encoding="utf-8")
    print(out)


if __name__ == "__main__":
    main()
