#!/usr/bin/env python3
"""Lists phrases in comments, strings and pages that readers stumble over, as AGENTS.md asks not to write them.

    english.py [PATH ...]      default: every tracked file except rendered ones

It knows patterns, not English: read each line that it prints. tests/test_english.py limits their number.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Phrase, and what to write instead.
SLIPS = (
    (r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer|more\b|less\b|such\b|need\b|way\b|doubt\b)\w", "negate the verb: is not a ..."),
    (r"\bha(?:s|ve) not(?: got)?\b(?=[.,;:)]| an?\b)", "doesn't have"),
    (r"\b(?:one|two|three|four|eight) (?:queue|list|thread|file|row|line|kernel|call|byte|name)s? an? "
     r"(?:device|stream|thread|call|tensor|file|kernel|operator|item|element|line)\b", "per device, per call"),
    (r"\b(?:mend|mends|mended|mending)\b", "fix, resolve, recover"),
    (r"\b(?:is|are) none of\b|\bthat are none\b", "say what it is instead"),
    (r"(?:^|[.;:] )Who (?!is\b[^?]*\?)[^?]*$|\bwho (?:asks|gives|gets|has|only|runs|takes|wants|waits)\b", "name the thread, the caller, the user"),
    (r"(?:^|[.;:|] )What (?:an?|the|is|are|was|had|has|does|needs|no|can|else)\b[^?]*$", "name the thing: no what-clause as subject"),
    (r"\ball else\b|\bas it is if it is\b|\bas if it were not there\b", "everything else, unchanged, ignored"),
    (r"\b(?:the tool|the device|the user|PyTorch|the CPU)'s(?=[.,;:)]| and\b| or\b|$)", "name the noun after the possessive"),
    (r"\bfor good\b|\bone after the other\b|\brendered anew\b", "permanently, in order, rendered again"),
)  # fmt: skip
PATTERNS = [(re.compile(pattern), instead) for pattern, instead in SLIPS]
RENDERED = ("generated_example/", "tests/golden/", "tests/frozen/", "tests/bad_specs/", "specs/decompositions")
CODE = (".cpp", ".h", ".j2", ".py", ".sh", ".cl", ".yaml", ".txt")
ITSELF = ("scripts/english.py", "tests/test_english.py")


def prose(path, line):
    """A page's line as it is; of code the comment and the longer strings."""
    if path.endswith((".md", ".md.j2")):
        return line
    return " ".join(a or b for a, b in re.findall(r"(?://|#|--)(.*)|\"([^\"]{12,})\"", line))


def slips(paths):
    """(path, line number, phrase, what to write instead), one per line of text."""
    for path in paths:
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
            text = prose(path, line)
            for pattern, instead in PATTERNS:
                if match := pattern.search(text):
                    yield path, number, match[0].strip(), instead
                    break


def tracked():
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    pages = [name for name in names if name.endswith((".md", *CODE)) and not name.startswith(RENDERED)]
    return [name for name in pages if name not in ITSELF and (ROOT / name).is_file()]


if __name__ == "__main__":
    for path, number, phrase, instead in slips(sys.argv[1:] or tracked()):
        print(f"{path}:{number}: '{phrase}': {instead}")
