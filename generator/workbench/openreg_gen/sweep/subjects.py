"""Which subjects the words of the command line name: globs of subjects, or ATen operators that have samples."""

import difflib
import fnmatch
import sys
from collections.abc import Collection, Iterable

import torch

from ..testing import opinfos

REACHING = 3  # subjects of an operator that none is about


class UnknownSubjects(ValueError):
    """Words that name nothing: a line for each."""


def _plain(word: str) -> str:
    return word.removeprefix("aten::").removeprefix("aten.")


def _of_operator(word: str) -> list[str]:
    """The subjects of aten::relu, abs.out or aten.add.Tensor: those about it, else the first that reach it."""
    first, _, overload = _plain(word).partition(".")
    packet = getattr(torch.ops.aten, first, None) if first.isidentifier() else None
    overloads = [] if packet is None else packet.overloads()
    if (overload or next(iter(overloads), "")) not in overloads:
        return []
    base = first.removesuffix("_")
    found = [info.full_name for info in opinfos.database().values() if base in opinfos.names(info)]
    if not found:  # such as _softmax: found out by running all samples, once
        opinfos.say = lambda text: print(text, file=sys.stderr)
        overloads = [f"{first}.{each}".removesuffix(".default") for each in overloads]
        found = [info.full_name for info in opinfos.find(*overloads)][:REACHING]
    return found


def _suggestion(word: str, known: Collection[str]) -> str:
    """A subject that ends like a word, or is spelled like it; "" if there is none."""
    tails = {subject.rpartition(".")[2]: subject for subject in sorted(known, reverse=True)}
    name = _plain(word)
    spellings = {**tails, **{subject: subject for subject in known}}
    close = [spelling for spelling in (name, name.partition(".")[0]) if spelling in spellings]
    close = close or difflib.get_close_matches(name, spellings, 1, 0.75)
    return spellings[close[0]] if close else ""


def named(words: Iterable[str], known: Collection[str]) -> set[str]:
    """The subjects that words name. Raises UnknownSubjects if one of them names none."""
    found: set[str] = set()
    wrong = []
    for word in words:
        matched = [word] if word in known else [each for each in known if fnmatch.fnmatchcase(each, word)]
        matched = matched or [subject for subject in _of_operator(word) if subject in known]
        if not matched:
            meant = _suggestion(word, known)
            wrong.append(f"{word}: no subject matches" + (f"; did you mean {meant}?" if meant else ""))
        found.update(matched)
    if wrong:
        raise UnknownSubjects("\n".join(wrong))
    return found
