"""Plants races in a copy of generated_example's device and allocator, one after another, and counts the seeds that find each:
scripts/nightly.sh schedules.

races.py TREE [--seeds 1000] [--race WORD ...]

A run is tests/schedule/order_test.cpp, which waits for what it needs and for nothing more. Of each race it says in how many seeds, and
in as many runs without one, its numbers were wrong. Without a race none may be.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import programs
import seeds

DEVICE = "third_party/openreg/src/"
CACHE = "csrc/runtime/caching/"


class Race(NamedTuple):
    file: str
    changes: dict[str, str]
    more: dict[str, dict[str, str]] = {}  # changes of other files


RACES = {
    "a stream that is idle doesn't wait for an event": Race(
        DEVICE + "event_api.cpp",
        {"    if (mark->happened()) return": "    if (mark->happened() || target->idle()) return"},
    ),
    "a small copy doesn't wait for what is queued": Race(
        DEVICE + "stream.cpp",
        {
            "    wait();\n    std::lock_guard lock(submission_);": "    std::lock_guard lock(submission_);",
            "    if (!done(submitted_.load())) continue;\n": "",
        },
    ),
    "a copy reads the host's bytes when its turn comes": Race(
        DEVICE + "copy_api.cpp",
        {"    if (reads_pageable && !writes_pageable && size": "    if (reads_pageable && size != 8 && size"}
        | {"    const bool must_wait = reads_pageable ||": "    const bool must_wait ="},
    ),
    "a graph is launched on another stream": Race(
        DEVICE + "graph_api.cpp", {"    target->launch(found);": "    find_stream(nullptr)->launch(found);"}
    ),
    "memory that several streams used waits for one of them": Race(
        CACHE + "DeviceCache.cpp",
        {"uses = std::move(block->stream_uses);": "uses(1, block->stream_uses.front());"},
    ),
    "an event counts as happened if an earlier one of its stream has": Race(
        CACHE + "PendingEvents.h",
        {
            "      while (!queue.entries.empty() && happened(queue.use, queue.entries.front())) {": "      bool known = false;\n"
            "      while (!queue.entries.empty() && (known = known || happened(queue.use, queue.entries.front()))) {"
        },
    ),
    "an event that a block waits for is recorded again": Race(
        CACHE + "PendingEvents.h",
        {
            "std::vector<std::vector<orEvent_t>> free_;": "std::vector<std::vector<orEvent_t>> free_, made_;\n  size_t next_ = 0;"
        },
        {
            CACHE + "PendingEvents.cpp": {
                "      free_[device].pop_back();\n": "      free_[device].pop_back();\n"
                "    } else if (made_.resize(std::max(made_.size(), device + 1)); made_[device].size() >= 16) {\n"
                "      event = made_[device][next_++ % 16];\n",
                "  if (orEventRecord(event, use.stream) == orSuccess) {\n": "  if (const std::lock_guard<std::mutex> lock(mutex_);"
                " std::find(made_[device].begin(), made_[device].end(), event) == made_[device].end()) {\n"
                "    made_[device].push_back(event);\n  }\n"
                "  if (orEventRecord(event, use.stream) == orSuccess) {\n",
            }
        },
    ),
    "a default stream is taken for that of another device": Race(
        CACHE + "DeviceCache.cpp", {"  if (!(use == own) &&": "  if (use.stream != own.stream &&"}
    ),
    "memory that was freed during a capture is free at its end": Race(
        CACHE + "PrivatePools.cpp",
        {
            "    cache_.wait_for_uses(lock, block);": "    block->stream_uses.clear();\n    cache_.retire(block, nullptr);"
        },
    ),
    "an event happens at once if nothing is queued": Race(
        DEVICE + "event_api.cpp",
        {
            "    target->submit(Stream::Touches::kNothing, [mark] {": "    if (target->drained()) mark->happen();\n"
            "    else target->submit(Stream::Touches::kNothing, [mark] {"
        },
        {
            DEVICE + "stream.h": {
                "  bool idle();": "  bool idle();\n  bool drained() const { return !has_task(); }",
                "  std::uint64_t taken_ = 0;": "  std::atomic<std::uint64_t> taken_{0};",
            }
        },
    ),
    "a copy is staged where an earlier one may still be": Race(
        DEVICE + "copy_api.cpp",
        {
            "  auto staging = std::make_shared<const std::vector<char>>(bytes, bytes + size);": "  thread_local std::vector<char> a[4];\n"
            "  thread_local int next = 0;\n  auto* const staging = &a[next++ % 4];\n"
            "  staging->reserve(kStagingLimit);\n  staging->assign(bytes, bytes + size);"
        },
    ),
}


def copy_of(tree: Path, folder: Path) -> Path:
    copy = folder / "tree"
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns("build", "lib", "__pycache__", "*.so"))
    test = Path(__file__).with_name("order_test.cpp")
    shutil.copy(test, copy / programs.PROGRAMS["order"].alone)
    return copy


def plant(tree: Path, race: Race) -> dict[Path, str]:
    """Returns the texts of the files as they were."""
    before = {}
    for file, changes in {race.file: race.changes, **race.more}.items():
        path = tree / file
        before[path] = text = path.read_text()
        for old, new in changes.items():
            if text.count(old) != 1:
                raise SystemExit(f"{file} has {text.count(old)} times: {old}")
            text = text.replace(old, new)
        path.write_text(text)
    return before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--race", action="append", default=[], help="only races with this word")
    given = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_of(given.tree.resolve(), Path(folder))
        for name, race in {"no race": None, **RACES}.items():
            if given.race and race is not None and not any(word in name for word in given.race):
                continue
            before = plant(tree, race) if race is not None else {}
            command = programs.build("order", tree, Path(folder))
            runs = range(given.seeds)
            found, plain = (len(seeds.run_seeds(command, runs, kind, limit=60)) for kind in (False, True))
            print(f"figures: {name}: {found} of {given.seeds} seeds, {plain} of as many runs without one", flush=True)
            if race is None:
                status |= found + plain != 0
            else:
                status |= found == 0
                for path, text in before.items():
                    path.write_text(text)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
