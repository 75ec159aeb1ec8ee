"""Writes tests/golden/: the files of other kinds of trees than generated_example/. scripts/regenerate.sh calls it.

    golden.py OUT EXAMPLE KIND=TREE ... [--whole NAME=TREE ...]

OUT/paths.txt       each path, and in which form each tree has it: `a` is generated_example's, where that has it; `-`: it does not
OUT/KIND.txt        the forms that no tree before this one has: as differences from form `a`, or as a text if that form is the first
OUT/whole.txt       trees that differ too much from generated_example to be shown: their numbers of files and lines, and a hash

Of a form of more than MOST lines, the file has only the counts and a hash: review the template instead.
"""

import difflib
import hashlib
import pathlib
import sys

MOST = 30
Tree = dict[str, bytes]


def read(root: pathlib.Path) -> Tree:
    """Reads the files of a tree, except those in .openreg-gen/."""
    paths = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {path.as_posix(): (root / path).read_bytes() for path in paths if path.parts[0] != ".openreg-gen"}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def differences(old: bytes, new: bytes) -> list[str]:
    """Without line numbers: those move when lines that both have come or go."""
    lines = difflib.unified_diff(old.decode().splitlines(), new.decode().splitlines(), n=0, lineterm="")
    return ["@@" if line.startswith("@@") else line for line in list(lines)[2:]]


def shown(path: str, first: bytes | None, form: bytes, letter: str) -> list[str]:
    """A form's lines in KIND.txt."""
    lines = [f"+{line}" for line in form.decode().splitlines()] if first is None else differences(first, form)
    if len(lines) > MOST:
        removed = sum(line.startswith("-") for line in lines)
        added = sum(line.startswith("+") for line in lines)
        return [f"=== {path} {letter}: +{added} -{removed} {digest(form)}"]
    return [f"=== {path} {letter}", *lines]


def golden(example: Tree, kinds: dict[str, Tree]) -> dict[str, list[str]]:
    """Lines by the name of the file."""
    out: dict[str, list[str]] = {name: [] for name in kinds}
    rows = []
    for path in sorted(set(example).union(*kinds.values())):
        forms = [example[path]] if path in example else []
        letters = ""
        for name, tree in kinds.items():
            if path not in tree:
                letters += "-"
                continue
            if tree[path] not in forms:
                first = forms[0] if forms else None
                forms.append(tree[path])
                out[name] += shown(path, first, tree[path], chr(ord("a") + len(forms) - 1))
            letters += chr(ord("a") + forms.index(tree[path]))
        rows.append(f"{'a' if path in example else '-'}{letters} {path}")
    legend = ["generated_example", *kinds]
    bars = [f"{'|' * number}{name}" for number, name in enumerate(legend)]
    return {"paths": bars + rows} | out


def main() -> None:
    out, example = pathlib.Path(sys.argv[1]), read(pathlib.Path(sys.argv[2]))
    words = sys.argv[3:]
    split = words.index("--whole") if "--whole" in words else len(words)
    kinds, whole = ({name: read(pathlib.Path(tree)) for name, tree in (word.split("=", 1) for word in part)}
                    for part in (words[:split], words[split + 1 :]))  # fmt: skip
    files = golden(example, kinds)
    files["whole"] = []
    for name, tree in whole.items():
        all_of_it = "".join(f"{path}\n{digest(data)}\n" for path, data in tree.items()).encode()
        lines = sum(data.count(b"\n") for data in tree.values())
        files["whole"].append(f"{name}: {len(tree)} files, {lines} lines, {digest(all_of_it)}")
    out.mkdir(exist_ok=True)
    for name, lines in files.items():
        (out / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
