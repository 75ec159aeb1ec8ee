"""Random lives of a tree, under the real command: specs that change, owners who edit, move, take and delete files, runs
that are killed, undone, done again. No line of an owner is lost, a second generate changes nothing, and in the end the tree
is a fresh render plus the owner's lines.

Three seeds; OPENREG_GEN_LIVES=50 tries more. tests/tree/property_test.cpp lives 200 lives of smaller trees.
"""

import json
import os
import random
import re
import subprocess
import time

import pytest
from trees import COMMAND, GENERATED, MANIFEST, SHARED, files

OPS = ["nonzero", "sin", "atan2.out", "argmax.out"]
MARKER = re.compile(r"<<<<<<< |\|\|\|\|\|\|\| |=======$|>>>>>>> ")


class Life:
    def __init__(self, seed, tree, run, env, torch):
        self.random = random.Random(seed)
        self.tree, self.run, self.env, self.torch = tree, run, env, torch
        self.lines, self.history = [], []

    def command(self, *argv):
        """Runs it, as one that may be refused; never with a fault of its own."""
        answer = self.run(*argv, cwd=self.tree, code=None)
        self.history.append(" ".join(argv) + f" -> {answer.returncode}")
        assert answer.returncode in (0, 1, 2), (self.history, answer.stderr)
        return answer.returncode

    def mend(self):
        for path in files(self.tree).values():
            if ".openreg-gen" in path.parts or path.suffix not in (".md", ".py", ".toml"):
                continue
            lines = path.read_text().splitlines(keepends=True)
            if any(line.startswith("<<<<<<< ") for line in lines):
                path.write_text("".join(line for line in lines if not MARKER.match(line)))

    def generate(self, *options):
        code = self.command("generate", *options)
        if code == 1:
            self.mend()
            code = self.command("generate", *options)
        if code == 0:
            before = {name: path.read_bytes() for name, path in files(self.tree).items()}
            assert self.command("generate") == 0
            after = {name: path.read_bytes() for name, path in files(self.tree).items()}
            assert before == after, self.history
        return code

    def describe(self):
        spec = self.tree / "mybackend.yaml"
        text = re.sub(r"^  description: .*\n", "", spec.read_text(), flags=re.MULTILINE)
        line = f"  description: Words {self.random.randrange(1000)}."
        spec.write_text(re.sub(r"^(  name: mybackend\b.*)", rf"\1\n{line}", text, count=1, flags=re.MULTILINE))
        self.generate()

    def edit(self):
        kernels = [p for p in self.tree.rglob("*.cpp") if "[openreg-gen aten::" in p.read_text()]
        path = self.random.choice([self.tree / SHARED, self.tree / "pyproject.toml", self.tree / GENERATED, *kernels])
        if not path.exists():
            return
        lines = path.read_text().splitlines(keepends=True)
        line = f"{'#' if path.suffix != '.cpp' else '//'} owner's line {len(self.lines)}.\n"
        lines.insert(self.random.randrange(3, len(lines)), line)
        path.write_text("".join(lines))
        self.lines.append(line)
        self.history.append(f"edit {path.relative_to(self.tree)}")

    def move(self):
        kernels = [p for p in self.tree.rglob("*.cpp") if "[openreg-gen aten::" in p.read_text()]
        path = self.random.choice(kernels)
        path.rename(path.with_name(f"moved_{self.random.randrange(1000)}_{path.name}"))
        self.history.append(f"move {path.name}")

    def take(self):
        name = self.random.choice([SHARED, "pyproject.toml", GENERATED, "csrc/runtime/Stream.h"])
        path = self.tree / name
        lines = path.read_text() if path.exists() else ""
        if self.random.random() < 0.5 and not any(line in lines for line in self.lines):
            path.unlink(missing_ok=True)  # not wanted
        assert self.command("own", name) == 0, self.history

    def taken(self):
        listed = json.loads((self.tree / MANIFEST).read_text())["files"]
        return [
            name for name, file in listed.items() if file["class"] == "owned" and "id" not in file and file["template"]
        ]

    def give_back(self):
        taken = self.taken()
        if taken:
            self.command("disown", "--yes", self.random.choice(taken))

    def operators(self):
        verb = self.random.choice(["add", "remove"])
        self.command(verb, self.random.choice(OPS))

    def kill(self):
        verb = self.random.choice([["add", self.random.choice(OPS)], ["generate", "--force"], ["undo"]])
        argv = [COMMAND, *verb] + (["--torch", self.torch] if verb != ["undo"] else [])
        child = subprocess.Popen(
            argv, cwd=self.tree, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(self.random.random())
        child.kill()
        child.wait()
        self.history.append("killed " + " ".join(verb))

    def step(self):
        kinds = [self.describe, self.edit, self.edit, self.edit, self.move, self.operators, self.operators, self.kill]
        kinds += [self.take, self.give_back, lambda: self.command("undo"), lambda: self.generate("--force")]
        self.random.choice(kinds)()
        self.mend()
        everything = [path.read_text(errors="replace") for path in self.tree.rglob("*") if path.is_file()]
        for line in self.lines:
            assert any(line in text for text in everything), (line, self.history)


@pytest.mark.parametrize("seed", range(int(os.environ.get("OPENREG_GEN_LIVES", "3"))))
def test_a_life_of_a_tree(openreg_gen, environment, tree, tmp_path, seed):
    env, torch = environment
    (tmp_path / "temporary").mkdir()
    life = Life(seed, tree, openreg_gen, dict(env, TMPDIR=str(tmp_path / "temporary")), torch)
    for _ in range(12):
        life.step()
    assert life.generate("--force") == 0, life.history
    if taken := life.taken():
        life.command("disown", "--yes", *taken)
        life.mend()
        assert life.generate("--force") == 0, life.history
    assert not life.taken()
    openreg_gen("generate", "--check", cwd=tree)
    fresh = tmp_path / "fresh"
    openreg_gen("new", "mybackend", "--spec", tree / "mybackend.yaml", "--out", fresh)
    entries = json.loads((fresh / MANIFEST).read_text())["files"]
    now = json.loads((tree / MANIFEST).read_text())["files"]
    for name, entry in entries.items():
        if entry["class"] == "owned":
            assert (tree / now[name].get("at", name)).is_file(), (name, life.history)
            continue
        text = (tree / name).read_text().splitlines(keepends=True)
        assert [line for line in text if line not in life.lines] == (fresh / name).read_text().splitlines(
            keepends=True
        ), (name, life.history)
