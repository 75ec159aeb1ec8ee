"""The exercises of the book: a tree from `openreg-gen new NAME --lesson N` holds one at a time.

An exercise is a file with a gap or a fault, which is the learner's, and a test that fails until it is right. The spec's `lesson`
says which it is; going on raises the number and renders the tree again, which keeps what the learner wrote.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .lessons import LESSONS, Lesson

__all__ = ["Lesson", "LearnError", "Outcome", "Tree", "all_lessons"]

_BUILD_SECONDS, _TEST_SECONDS = 1800, 300


class LearnError(Exception):
    """What keeps an exercise from being shown, checked or left; its text says what to do."""


def all_lessons() -> list[Lesson]:
    """In their order: the first is lesson 1."""
    return list(LESSONS)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check, and its output."""

    passed: bool
    text: str


def _command() -> str:
    found = os.environ.get("OPENREG_GEN") or shutil.which("openreg-gen")
    if not found:
        raise LearnError("openreg-gen is not on the PATH; install it, or set OPENREG_GEN to the program")
    return found


def _run(words: list[str], folder: Path, seconds: int) -> Outcome:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Outcome(False, f"{' '.join(words)}: no answer within {seconds} s")
    return Outcome(done.returncode == 0, done.stdout + done.stderr)


class Tree:
    """A tree with an exercise. Raises LearnError if `folder` is in none."""

    def __init__(self, folder: Path) -> None:
        manifest = Path(".openreg-gen/manifest.json")
        here = folder.resolve()
        found = next((each for each in (here, *here.parents) if (each / manifest).is_file()), None)
        if found is None:
            raise LearnError(f"{folder} is not in a tree; make one: openreg-gen new mybackend --lesson 1")
        self.root = found
        self.spec = found / json.loads((found / manifest).read_text(encoding="utf-8"))["spec"]
        self._state = found / "exercises/progress.json"

    def lesson(self) -> Lesson:
        """The one that the tree holds."""
        match = re.search(r"^lesson: (\d+)$", self.spec.read_text(encoding="utf-8"), re.MULTILINE)
        if match is None:
            raise LearnError(f"{self.spec.name} has no line `lesson: N`; add `lesson: 1`, then openreg-gen generate")
        return all_lessons()[int(match[1]) - 1]

    def _remembered(self) -> dict[str, list[str]]:
        if self._state.is_file():
            found: dict[str, list[str]] = json.loads(self._state.read_text(encoding="utf-8"))
            return found
        return {"solved": [], "hinted": []}

    def _remember(self, kind: str, word: str) -> None:
        state = self._remembered()
        state[kind].append(word)
        self._state.write_text(json.dumps(state) + "\n", encoding="utf-8")

    def solved(self) -> set[str]:
        return set(self._remembered()["solved"])

    def _openreg_gen(self, *words: str) -> None:
        outcome = _run([_command(), *words], self.root, _TEST_SECONDS)
        if not outcome.passed:
            raise LearnError(outcome.text.strip())

    def take(self) -> None:
        """Makes the exercise's file the learner's, if it is one of openreg-gen's."""
        file = self.lesson().file
        if "Generated: do not edit" in (self.root / file).read_text(encoding="utf-8")[:400]:
            self._openreg_gen("own", file)

    def go_to(self, number: int) -> None:
        """Renders the tree again with another exercise; what the learner wrote stays."""
        text = self.spec.read_text(encoding="utf-8")
        self.spec.write_text(re.sub(r"^lesson: \d+$", f"lesson: {number}", text, flags=re.MULTILINE), encoding="utf-8")
        try:
            self._openreg_gen("generate")
        except LearnError:
            self.spec.write_text(text, encoding="utf-8")
            raise
        self.take()

    def reset(self) -> None:
        """Gives the exercise's file its first text. The learner's is kept beside it, as FILE.mine."""
        lesson = self.lesson()
        file = self.root / lesson.file
        text = file.read_text(encoding="utf-8")
        # Without the mark by which openreg-gen would take the copy for the file itself; a file that was taken has none.
        lines = [line for line in text.splitlines(True) if "[openreg-gen " not in line]
        file.with_name(file.name + ".mine").write_text("".join(lines), encoding="utf-8")
        if "[openreg-gen " in text:
            file.unlink()
            self._openreg_gen("generate")
        else:
            self._openreg_gen("disown", lesson.file, "--yes")
        self.take()

    def build(self) -> Outcome:
        """Compiles what changed."""
        cache = self.root / "build/CMakeCache.txt"
        if not cache.is_file():
            raise LearnError(f"not built yet: {sys.executable} -m pip install --no-build-isolation -e {self.root}")
        match = re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache.read_text(encoding="utf-8"), re.MULTILINE)
        cmake = match[1] if match and Path(match[1]).exists() else "cmake"
        return _run([cmake, "--build", str(self.root / "build")], self.root, _BUILD_SECONDS)

    def check(self) -> Outcome:
        """Builds, then runs the exercise's test. Remembers that it passed."""
        lesson = self.lesson()
        outcome = self.build()
        if not outcome.passed:
            errors = [line for line in outcome.text.splitlines() if "error:" in line or "FAILED" in line]
            return Outcome(False, "\n".join(errors) or outcome.text)
        words = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", lesson.test]
        outcome = _run(words, self.root, _TEST_SECONDS)
        if outcome.passed and lesson.word not in self.solved():
            self._remember("solved", lesson.word)
        said = [line[4:] for line in outcome.text.splitlines() if line.startswith("E   ")]
        return outcome if outcome.passed else Outcome(False, "\n".join(said) or outcome.text)

    def hint(self) -> tuple[int, str]:
        """The next hint and its number; the last one again once all were given."""
        lesson = self.lesson()
        given = self._remembered()["hinted"].count(lesson.word)
        if given < len(lesson.hints):
            self._remember("hinted", lesson.word)
        number = min(given, len(lesson.hints) - 1)
        return number + 1, lesson.hints[number]

    def apply_solution(self) -> None:
        """Puts the solution in the exercise's place, under the file's own header."""
        lesson = self.lesson()
        file = self.root / lesson.file
        ours = (self.root / lesson.solution).read_text(encoding="utf-8")
        head = [line for line in file.read_text(encoding="utf-8").splitlines(True)[:4] if "openreg-gen" in line]
        body = [line for i, line in enumerate(ours.splitlines(True)) if i > 1]
        file.write_text("".join(head + body), encoding="utf-8")
