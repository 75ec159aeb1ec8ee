"""docs/guides/it-says.md: each message that it quotes is one that the sources, or PyTorch, print."""

import importlib.util
import mmap
import pathlib
import re

import pytest
from trees import ROOT

PAGE = ROOT / "docs/guides/it-says.md"
MESSAGES = re.findall(r"^### `(.*)`$", PAGE.read_text(encoding="utf-8"), re.M)
# Files of PyTorch and pytest that print the messages which aren't ours.
OTHERS = {
    "torch": ["__init__.py", "cuda/__init__.py", "serialization.py", "distributed/distributed_c10d.py", "amp/autocast_mode.py",
              "lib/libc10.so", "lib/libtorch_cpu.so", "lib/libtorch_python.so"],
    "_pytest": ["config/__init__.py"],
}  # fmt: skip


def words_of(message):
    """Its parts between names and values."""
    return [words.strip() for words in re.split(r"\.\.\.|(?:torch_)?mybackend|MYBACKEND", message) if words.strip()]


def pattern(message):
    """The words in their order, within one statement."""
    return r".{0,160}?".join(re.escape(words) for words in words_of(message))


def joined(text):
    """The text of a source, with its literals in one piece: a long message is on several lines."""
    return re.sub(r'"\s*\n\s*f?"', "", text)


@pytest.fixture(scope="module")
def sources():
    files = [path for folder in ("templates", "generator") for path in (ROOT / folder).rglob("*")]
    return [joined(path.read_text(encoding="utf-8")) for path in files if path.suffix in (".j2", ".cpp", ".py")]


def printed_by_others(message):
    for package, names in OTHERS.items():
        found = importlib.util.find_spec(package)
        for name in names if found else ():
            with pathlib.Path(found.submodule_search_locations[0], name).open("rb") as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                if all(content.find(words.encode()) >= 0 for words in words_of(message)):
                    return True
    return False


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_printed_by_something(message, sources):
    wanted = re.compile(pattern(message), re.DOTALL)
    if any(wanted.search(text) for text in sources):
        return
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch, which may print it, is not here")
    assert printed_by_others(message), f"neither templates/ nor generator/ nor PyTorch print: {message}"


def test_there_are_messages_and_each_leads_to_something_to_do():
    assert len(MESSAGES) == len(set(MESSAGES)) >= 25
    for entry in PAGE.read_text(encoding="utf-8").split("\n### ")[1:]:
        assert re.search(r"```sh\n|\]\(|`[^`]+\(.*\)`|Wait until|as above", entry.partition("\n")[2]), entry


def test_an_invented_message_would_be_seen(sources):
    assert not any(re.search(pattern("the device is made of cheese"), text) for text in sources)
    assert not printed_by_others("the device is made of cheese")
