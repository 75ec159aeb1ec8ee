"""Runs the chapters of the book: each fenced block in its order, and compares what it prints with what the chapter says.

    book.py [--rewrite] [--touched] [CHAPTER ...]      default: all of docs/book/NN-*.md
    book.py --quotes [CHAPTER ...]                     quotes alone, in a tree that is only rendered

A chapter runs in a folder of its own, beside a tree `torch_mybackend` of the profile minimal that is as it was rendered; a chapter
that says `<!-- tree: none -->` makes its own, and one that saves files there says which: `<!-- tree: torch_mychip -->`. A chapter
that adds components and quotes their files names them for --quotes: `<!-- components: amp caching -->`. Blocks are chosen by their
language, and by a caption or a comment in the line before them:

    ```console              `$ command` lines and what they print; `> ` continues a command
    ```python               a script; the ```text block after it says what it prints
    Save as `PATH`:         the block becomes this file of the tree
    From `PATH`:            the block stands in this file of the tree, in this order; a line `// ...` or `# ...` leaves lines out
    <!-- fails -->          the block has to fail: a command ends with another code than 0
    <!-- not run -->        the block is there to be read

Other blocks are not looked at. `...` in what is printed stands for any text. With --rewrite, the chapter gets what was printed, where
it differs; a run that rewrites ends with exit code 1. A stale quote has to be rewritten by hand.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "docs/book"
SECONDS = 900  # for one command
_FENCE = re.compile(
    r"^(?:(?:<!-- (?P<comment>fails|not run) -->|(?P<caption>Save as|From) `(?P<path>[^`\n]+)`:)\n)?"
    r"```(?P<language>[a-z]+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """A fenced block: `begin` and `end` are those of its body in the chapter's text."""

    language: str
    mark: str  # "fails", "not run", "Save as", "From" or ""
    path: str
    body: str
    begin: int
    end: int
    line: int


@dataclass
class Run:
    """A chapter on its way: where it runs, with which environment, what is wrong, and what is to be rewritten."""

    folder: Path
    environment: dict[str, str]
    faults: list[str] = field(default_factory=list)
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    name: str = "torch_mybackend"

    @property
    def tree(self) -> Path:
        return self.folder / self.name


def blocks_of(text: str) -> list[Block]:
    return [
        Block(
            each["language"],
            each["comment"] or each["caption"] or "",
            each["path"] or "",
            each["body"],
            each.start("body"),
            each.end("body"),
            text.count("\n", 0, each.start("body")),
        )
        for each in _FENCE.finditer(text)
    ]


def agrees(said: str, printed: str) -> bool:
    """`...` in what a chapter says stands for any text, of several lines as well."""
    pattern = "".join(".*" if part == "..." else re.escape(part) for part in re.split(r"(\.\.\.)", said.rstrip()))
    return re.fullmatch(pattern, printed.rstrip(), re.DOTALL) is not None


def stale(quote: str, text: str) -> str | None:
    """The first part of a quote that the text does not hold behind the parts before it; indentation aside."""
    lines, at = [line.strip() for line in text.splitlines()], 0
    for part in re.split(r"^[ \t]*(?://|#) \.\.\.\n", quote, flags=re.MULTILINE):
        wanted = [line.strip() for line in part.strip("\n").splitlines()]
        for start in range(at, len(lines) - len(wanted) + 1):
            if lines[start : start + len(wanted)] == wanted:
                at = start + len(wanted)
                break
        else:
            return part.strip()
    return None


def execute(words: list[str], run: Run) -> tuple[int, str]:
    """Exit code and output. A command's first streams are one, as in a terminal."""
    process = subprocess.Popen(
        words,
        cwd=run.folder,
        env=run.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        printed = process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return -1, f"no end within {SECONDS} s"
    return process.returncode, "".join(line.rstrip() + "\n" for line in printed.splitlines())


def judge(run: Run, block: Block, what: str, code: int, printed: str, said: str) -> str:
    """The chapter's expected text; notes differences."""
    if (code != 0) != (block.mark == "fails"):
        wanted = "has to fail, and doesn't" if block.mark == "fails" else f"fails with code {code}"
        run.faults.append(f"line {block.line}: {what}: {wanted}:\n{printed}")
        return said
    if agrees(said, printed):
        return said
    run.faults.append(f"line {block.line}: {what}: prints\n{printed}instead of\n{said}")
    return printed


def run_console(run: Run, block: Block) -> None:
    out, command, said = [], [], []
    lines = [*block.body.splitlines(), "$ "]
    for line in lines:
        if line.startswith("$ ") and command:
            text = "\n".join(command)
            code, printed = execute(["bash", "-c", text], run)
            now = judge(run, block, command[0], code, printed, "".join(each + "\n" for each in said))
            out += ["$ " + command[0], *("> " + each for each in command[1:]), *now.splitlines()]
            command, said = [], []
        if line.startswith("$ "):
            command = [line[2:]]
        elif line.startswith("> ") and command and not said:
            command.append(line[2:])
        else:
            said.append(line)
    run.edits.append((block.begin, block.end, "".join(line + "\n" for line in out)))


def run_block(run: Run, block: Block, following: Block | None) -> None:
    target = run.tree / block.path
    if block.mark == "not run":
        return
    if block.mark == "Save as":
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.body, encoding="utf-8")
    elif block.mark == "From":
        part = stale(block.body, target.read_text(encoding="utf-8")) if target.is_file() else "no such file"
        if part is not None:
            run.faults.append(f"line {block.line}: the quote of {block.path} is stale:\n{part}")
    elif block.language == "console":
        run_console(run, block)
    elif block.language == "python":
        code, printed = execute([run.environment["PYTHON"], "-c", block.body], run)
        output = following if following and following.language == "text" else None
        now = judge(run, block, "the script", code, printed, output.body if output else "")
        if output:
            run.edits.append((output.begin, output.end, now))


def run_chapter(run: Run, text: str) -> str:
    """Runs all blocks; returns the chapter with what they printed."""
    blocks = blocks_of(text)
    for i, block in enumerate(blocks):
        run_block(run, block, blocks[i + 1] if i + 1 < len(blocks) else None)
    for begin, end, now in sorted(run.edits, reverse=True):
        text = text[:begin] + now + text[end:]
    return text


def git(tree: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(tree), *words], check=True, capture_output=True)


def fresh_tree(run: Run, build: bool = True) -> None:
    """As it was rendered; what a chapter changed is built back. Installed each time: a chapter may have installed its own."""
    command = [run.environment["OPENREG_GEN"], "new", "mybackend", "--profile", "minimal", "--out", str(run.tree)]
    if (run.tree / ".git").is_dir():  # of an earlier run, perhaps of other templates
        git(run.tree, "reset", "-q", "--hard")
        git(run.tree, "clean", "-qfd")
        command = [run.environment["OPENREG_GEN"], "generate", "-C", str(run.tree)]
    subprocess.run(command, check=True, capture_output=True, env=run.environment)
    git(run.tree, "init", "-q")
    git(run.tree, "add", "-A")
    name = ["-c", "user.name=book", "-c", "user.email=book@localhost"]
    git(run.tree, *name, "commit", "-q", "--allow-empty", "-m", "rendered")
    if not build:
        return
    install = [run.environment["PYTHON"], "-m", "pip", "install", "-q", "--no-build-isolation", "-e", str(run.tree)]
    subprocess.run(install, check=True, env=run.environment | {"CCACHE_BASEDIR": str(run.tree)})


MOST = 1  # of the chapters that a change touches: CI has two minutes for the book


def touched(paths: Iterable[str], chapters: list[Path]) -> list[Path]:
    """Chapters that differ, and all of them if the runner does."""
    paths = set(paths)
    if "scripts/book.py" in paths:
        return chapters
    return [chapter for chapter in chapters if str(chapter.relative_to(ROOT)) in paths]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build/book", help="where the trees are; default: build/book"
    )
    parser.add_argument("--python", type=Path, default=ROOT / ".venv/book/bin/python", help="its environment")
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--quotes", action="store_true", help="look at quotes alone")
    parser.add_argument("--touched", action="store_true")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="numbers, such as 05")
    options = parser.parse_args()
    chapters = sorted(BOOK.glob("[0-9][0-9]-*.md"))
    if options.touched:
        sys.path.insert(0, str(ROOT / "scripts"))
        import choose

        base = choose.base_of_change()[0]
        chapters = choose.some_of_commit(touched(choose.changed_paths(base), chapters) if base else chapters, MOST)
    if options.chapters:
        chapters = [chapter for chapter in chapters if chapter.name[:2] in options.chapters]
    command = Path(os.environ.get("OPENREG_GEN", ROOT / "build/openreg-gen"))
    # Chapter 0 commits the tree, as its reader does.
    author = {f"GIT_{who}_{what}": "book@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = (
        author
        | os.environ
        | {
            "PATH": f"{options.python.parent}:{command.parent}:{os.environ['PATH']}",
            "OPENREG_GEN": str(command),
            "PYTHON": str(options.python),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONPATH": str(ROOT / "generator/workbench"),
            "NO_COLOR": "1",
        }
    )
    environment.pop("OPENREG_GEN_PYTHON", None)  # which the tools would run instead
    if not options.quotes:
        environment["VIRTUAL_ENV"] = str(options.python.parent.parent)
    failed = 0
    for chapter in chapters:
        text = chapter.read_text(encoding="utf-8")
        if options.quotes:
            run = Run(options.work, environment)
            run.folder.mkdir(parents=True, exist_ok=True)
            fresh_tree(run, build=False)
            if components := re.search(r"^<!-- components: (.*) -->$", text, re.MULTILINE):
                command = [run.environment["OPENREG_GEN"], "add", "component", *components[1].split()]
                subprocess.run([*command, "-C", str(run.tree)], check=True, capture_output=True, env=run.environment)
            for block in blocks_of(text):
                if block.mark == "From":
                    run_block(run, block, None)
        elif own := re.search(r"^<!-- tree: (\w+) -->$", text, re.MULTILINE):
            run = Run(options.work / "none", environment)
            if own[1] != "none":
                run.name = own[1]
            shutil.rmtree(run.folder, ignore_errors=True)
            run.folder.mkdir(parents=True)
            uninstall = [environment["PYTHON"], "-m", "pip", "uninstall", "-q", "-y", "torch-mybackend"]
            subprocess.run(uninstall, check=True, capture_output=True, env=environment)  # of an earlier run
        else:
            run = Run(options.work, environment)
            run.folder.mkdir(parents=True, exist_ok=True)
            fresh_tree(run)
        now = text if options.quotes else run_chapter(run, text)
        failed += bool(run.faults)
        print(f"{'FAILED' if run.faults else 'ok':6}  {chapter.name}", flush=True)
        for fault in run.faults:
            print("        " + fault.replace("\n", "\n        "))
        if options.rewrite and now != text:
            chapter.write_text(now, encoding="utf-8")
    print(f"figures: {len(chapters)} chapters, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
