"""Folds what happened several times in a row, as the steps of a loop: one copy, and how often."""

from collections import defaultdict

from .events import Event

_LONGEST = 2_000  # events of one round of a loop


def fold(events: list[Event]) -> list[Event]:
    """The events, with rounds that are alike as one "repeat" of the first; inside of each event too.

    Two events are alike if their kinds, names, places, tensors' shapes and children are; times and memory may differ.
    """
    marks: dict[object, int] = {}
    signs = [_sign(event, marks) for event in events]
    for event in events:
        event.children = fold(event.children)
    return _fold(events, signs)


def _sign(event: Event, marks: dict[object, int]) -> int:
    """A number that events have in common if they are alike."""
    key = (
        event.kind,
        event.name,
        event.place,
        tuple((tensor.dtype, tensor.shape) for tensor in event.inputs),
        event.fields.get("error"),
        event.fields.get("leaf", {}).get("label"),
        tuple(_sign(child, marks) for child in event.children),
    )
    return marks.setdefault(key, len(marks))


def _fold(events: list[Event], signs: list[int]) -> list[Event]:
    places: dict[int, list[int]] = defaultdict(list)
    for index, sign in enumerate(signs):
        places[sign].append(index)
    out: list[Event] = []
    index = 0
    while index < len(events):
        length, times = _round(signs, index, places[signs[index]])
        if times < 2:
            out.append(events[index])
            index += 1
            continue
        last = events[index + length * times - 1]
        first = events[index]
        repeat = Event("repeat", "", first.start, last.start + last.duration - first.start, first.thread)
        repeat.fields["times"] = times
        repeat.children = _fold(events[index : index + length], signs[index : index + length])
        out.append(repeat)
        index += length * times
    return out


def _round(signs: list[int], start: int, alike: list[int]) -> tuple[int, int]:
    """The length and number of the rounds that begin at `start`, covering as much as possible; (1, 1) for none."""
    best = (1, 1)
    for next_one in alike:
        length = next_one - start
        if length <= 0:
            continue
        if length > _LONGEST:
            break
        times = 1
        while signs[start : start + length] == signs[start + times * length : start + (times + 1) * length]:
            times += 1
        if times > 1 and length * times > best[0] * best[1]:
            best = (length, times)
    return best
