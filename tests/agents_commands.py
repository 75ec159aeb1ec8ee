"""Every command of a tree's AGENTS.md, in order: on the installed tree $TREE, with openreg-gen and the Python of the environment on
PATH. It builds, so `scripts/nightly.sh workflows` runs it; tests/test_agents.py has what needs no build."""

import os
import pathlib
import re
import subprocess


def commands(tree):
    text = (tree / "AGENTS.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
    return [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]


def run(command, tree):
    done = subprocess.run(["bash", "-c", command], cwd=tree, text=True, capture_output=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def test_all_of_them():
    tree = pathlib.Path(os.environ["TREE"])
    for command in commands(tree):
        print(run(command, tree))
