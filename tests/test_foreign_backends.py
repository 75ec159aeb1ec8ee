"""The tools on other makers' backends: which runs are false, how statements are chosen, what the table in the docs has to have."""

import json
import re
import subprocess
import sys

import pytest
import torch
from trees import ROOT

sys.path.insert(0, str(ROOT / "tests/workbench"))
from clients import judge, night, statements  # noqa: E402
from clients.backends import CLIENTS  # noqa: E402

ROW = {"op": "relu", "calls": 2}
TRACE = """relu  <expression>
└─ aten::relu  (self=a float32[4]) -> #3 float32[4]
   │  PrivateUse1  kernel  {}
"""
BARE = "└─ aten::relu\n   │  PrivateUse1  kernel  /src/mine/kernels.py:7\n"
SWEPT = "12 cases of 2 tasks; modes: default\n\nall  0  {}\n"
RIGHT = "5 calls of 3 operators compared with the CPU; 0 differ\n"


@pytest.fixture
def judged(tmp_path):
    """The verdict on a run that printed and wrote this."""

    def run(tool, code=0, out="", err="", files=(), **expected):
        for name, text in dict(files).items():
            (tmp_path / name).write_text(text)
        return judge.judge(tool, judge.Done(code, out, err, tmp_path), **expected)

    return run


def traced(place):
    return {"out": TRACE.format(place), "files": {"trace.json": "{}", "trace.html": "<!doctype html>"}}


RECORDED = {"operators": ("relu",)}
PLACED = {"op": "relu", "file": "mine/kernels.py"}


@pytest.mark.parametrize(
    ("tool", "done", "word", "text"),
    [
        ("record", {"files": {"ops.json": json.dumps({"ops": [ROW]})}, **RECORDED}, "works", "1 operators, 2 calls"),
        ("record", {"files": {"ops.json": json.dumps({"ops": []})}, **RECORDED}, "FALSE", "relu not recorded"),
        ("record", {"files": {"ops.json": "Custom aten::empty\n{}"}, **RECORDED}, "FALSE", "can't be read"),
        ("record", {"code": 1, "err": "error: nothing was recorded\n", **RECORDED}, "refuses", "nothing was recorded"),
        ("record", {"code": 0, "err": "error: nothing was recorded\n", **RECORDED}, "FALSE", "can't be read"),
        ("record", {"code": None}, "FALSE", "no end"),
        ("record", {"code": 4, "err": "Traceback (most recent call last):\nKeyError: 1\n"}, "FALSE", "KeyError"),
        ("record", {"code": -11}, "FALSE", "exit code -11"),
        ("compare", {"err": RIGHT}, "works", "5 calls compared"),
        ("compare", {"err": "0 calls of 0 operators compared with the CPU; 0 differ\n"}, "FALSE", "0 calls compared"),
        ("compare", {"err": ""}, "FALSE", "doesn't say how many"),
        ("compare", {"code": 1, "err": RIGHT.replace("0 differ", "2 differ")}, "FALSE", "a right script differs"),
        ("compare, a wrong kernel", {"err": RIGHT}, "FALSE", "0 differences"),
        ("sweep", {"out": SWEPT.format(0), "files": {"sweep.jsonl": "{}"}}, "works", "12 cases, 0 differ"),
        ("sweep", {"out": "0 cases of 2 tasks\n", "files": {"sweep.jsonl": "{}"}}, "FALSE", "0 cases"),
        ("sweep", {"code": 1, "out": SWEPT.format(12), "files": {"sweep.jsonl": "{}"}}, "FALSE", "each of 12 cases"),
        ("sweep", {"code": 0, "out": SWEPT.format(3), "files": {"sweep.jsonl": "{}"}}, "FALSE", "exit code 0"),
        (
            "sweep",
            {
                "code": 1,
                "out": SWEPT.format(3),
                "files": {"sweep.jsonl": '{"found": [["a", "b", "in openreg_gen/x.py"]]}'},
            },
            "FALSE",
            "the sweep's own",
        ),
        ("trace", {**traced("/src/mine/kernels.py:7"), **PLACED}, "works", "relu at kernels.py:7"),
        ("trace", {**traced("/src/mine/kernels.py:7"), **PLACED, "out": BARE}, "works", "relu at kernels.py:7"),
        ("trace", {**traced("/lib/torch/library.py:931"), **PLACED}, "FALSE", "torch/library.py"),
        ("trace", {"out": "softmax\n", **PLACED}, "FALSE", "no kernel of relu"),
        ("sanitize", {"code": 3, "err": "error: no trace hooks\nhint: ...\n"}, "refuses", "no trace hooks"),
        ("replay", {"out": "it still differs\n", "package": "mine"}, "FALSE", "it says: it still differs"),
        ("upstream", {"err": "Ran 0 tests in 0.1s\n", "tests": 4, "fail": 1}, "FALSE", "0 tests"),
        (
            "upstream",
            {"code": 1, "err": "Ran 4 tests in 0.1s\n\nOK\n", "tests": 4, "fail": 1},
            "FALSE",
            "of which 1 fails",
        ),
        ("audit", {"out": json.dumps({"registered": 0, "interfaces": []})}, "FALSE", "0 operators"),
        ("try", {"files": {"try.json": '{"runs": {"a": {"cases": 0}}}'}, "kernel": "relu"}, "FALSE", "0 cases"),
        ("new --from", {"out": "{}", "kernel": "relu"}, "FALSE", "can't be read"),
    ],
)
def test_a_run_is_judged_by_what_it_proves(judged, tool, done, word, text):
    verdict = judged(tool, **done)
    assert verdict.word == word and text in verdict.text


FOUND = {
    "device": "mine",
    "ops": [{"op": f"op{n}", "coverage": "native", "how": "a kernel of the backend"} for n in range(30)]
    + [{"op": "relu", "coverage": "missing", "how": "no kernel, and no fallback"}],
    "interfaces": [{"name": "torch.mine.set_device()", "verdict": "answers"}, {"name": "no such", "verdict": "wrong"}],
    "findings": [{"kind": "some dtypes only", "op": "op1", "text": ""}],
    "unlocks": [{"op": "as_strided", "waiting": ["stack", "cat"]}],
}
FACTS = {"dtypes": [{"op": "op1", "takes": "float32", "refuses": {"bool": "no", "int64": "no"}}]}


def test_statements_are_of_all_kinds_and_the_same_each_time():
    first = statements.candidates(FOUND, FACTS, "mine")
    assert first == statements.candidates(FOUND, FACTS, "mine") != statements.candidates(FOUND, FACTS, "yours")
    assert {each.kind for each in first[:5]} == {"native", "missing", "dtypes", "interface that answers", "unlocks"}
    assert len(first) == 30 + 1 + 2 + 1 + 1


# What the CPU does is known: "PrivateUse1" has no kernel of anything here.
TRUE = [
    {"kind": "composite", "op": "softmax.int"},
    {"kind": "interface that answers", "name": "Tensor.item()", "verdict": "answers"},
]
FALSE = [
    {"kind": "native", "op": "relu", "key": "PrivateUse1"},
    {"kind": "composite", "op": "hypot.out"},
    {"kind": "missing", "op": "softmax.int"},
    {"kind": "interface that wrong", "name": "Tensor.item()", "verdict": "wrong"},
    {"kind": "dtypes", "op": "hypot", "takes": ["float32"], "refuses": "float64"},
    {"kind": "unlocks", "op": "relu", "waiting": "hypot"},
]


def test_the_checker_knows_what_is_true():
    lines = "".join(json.dumps(each) + "\n" for each in (*TRUE, *FALSE))
    done = subprocess.run(
        [sys.executable, statements.CHECKER, "cpu", "json"], input=lines, capture_output=True, text=True, timeout=300
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["true"] for each in answers] == [True] * len(TRUE) + [False] * len(FALSE), answers


def test_the_table_in_the_docs_has_every_client_and_tool():
    page = night.PAGE.read_text()
    words = night.words_of(page)
    assert list(words) == [client.name for client in CLIENTS]
    for name, rows in words.items():
        assert list(rows) == night.TOOLS, name
        assert set(rows.values()) <= {judge.WORKS, judge.REFUSES, "not run"}, name
    assert re.search(r"^Run on 20\d\d-\d\d-\d\d, at commit [0-9a-f]{10}\+?[.,]", page, re.M)
    assert f"{len(night.backends.SUBJECTS.split())} operators" in page


def test_a_tool_that_worked_and_refuses_is_worse():
    page = f"{night.BEGIN}\n| tool | one |\n|---|---|\n| record | works: 2 |\n| trace | refuses: no |\n{night.END}"
    found = {"one": {tool: judge.Verdict(judge.REFUSES, "why") for tool in ("record", "trace")}}
    assert night.worse(found, page) == ["one: record worked, and now refuses: why"]


def test_every_client_is_somewhere():
    for client in CLIENTS:
        assert client.sources is None or client.sources.is_dir()
        assert client.traced[2].endswith((".py", ".cpp"))


def test_the_missing_kernel_is_added_under_the_key_that_lacks_it():
    from clients import check_statement

    kind = torch._C._get_privateuse1_backend_name()
    for named, key in ((kind, "PrivateUse1"), (f"Sparse{kind}", "SparsePrivateUse1"), ("CPU", "CPU")):
        error = NotImplementedError(
            f"Could not run 'aten::add' with arguments from the '{named}' backend. This could be"
        )
        assert check_statement.key_of(error) == key
    assert check_statement.key_of(RuntimeError("another")) == "PrivateUse1"
