"""The report of a sweep: rows by cause, news since an earlier sweep, kernels that ran."""

import json

import pytest
from openreg_gen.sweep import baseline, causes, reached, report, results
from openreg_gen.sweep.cases import Selection, Task
from openreg_gen.sweep.context import Context
from openreg_gen.sweep.known import FURTHER, KnownDifference, KnownDifferences
from openreg_gen.sweep.results import Finding
from openreg_gen.testing import opinfos


def finding(case, category="value", detail="text", **more):
    return Finding("default", case, category, detail, **{"known": None, **more})


def row_of(cause):
    return cause.state, cause.category, cause.kind, [f.case for f in cause.findings]


def test_a_cause_is_one_row_for_all_operators():
    refused = "mine raises RuntimeError: {} is not supported for [2, {}], storage 0x7f{}; the CPU does not"
    found = [
        finding("add/conj/complex64/1", "raising", refused.format("Copying", 3, "01")),
        finding("mul/out_neg/complex64/1.2", "raising", refused.format("Copying", "3, 4", "aa")),
        finding("mul/conj/complex64/0", "raising", refused.format("Negating", 3, "01")),
        finding("sub/forward/float32/0", "raising", refused.format("Copying", 3, "01")),
    ]
    copying = ("new", "raising", "unusual arguments", ["add/conj/complex64/1", "mul/out_neg/complex64/1.2"])
    rows = [row_of(cause) for cause in causes.causes(found)]
    assert rows == [
        ("new", "raising", "forward", ["sub/forward/float32/0"]),
        copying,
        ("new", "raising", "unusual arguments", ["mul/conj/complex64/0"]),
    ]


@pytest.mark.parametrize(
    "text, same",
    [
        ("result 0 has shape (3, 4)", "result 12 has shape (1,)"),
        ("off by 1.5e-05 (up to 1e-5 allowed)", "off by inf (up to 0.1 allowed)"),
        ("result 0 is on mine:1, not mine:0", "result 0 is on mine:0, not mine:1"),
        ("Greatest absolute difference: nan at index (0, 1)", "Greatest absolute difference: 3 at index (1,)"),
    ],
)
def test_texts_are_the_same_but_for_their_numbers(text, same):
    assert causes.same_text(text) == causes.same_text(same)
    assert causes.same_text("result 0 is on mine:1") != causes.same_text("result 0 is on cpu")
    assert causes.same_text("no float32 kernel") != causes.same_text("no int64 kernel")


def test_what_every_program_meets_comes_before_unusual_arguments():
    cases = ["neg", "mixed_dtypes", "fakes", "noncontiguous", "backward", "forward", "train", "optional"]
    found = [finding(f"add/{variant}/float32/0", detail=variant) for variant in cases]
    found += [finding("add/neg/float32/1", "crash"), finding("add/forward/float32/1", known=FURTHER)]
    found += [finding(f"many/forward/float32/{i}", detail="often") for i in range(3)]
    found += [finding("add/forward/float32/9", detail="then", old=True)]
    assert [(c.state, c.findings[0].case.split("/")[1]) for c in causes.causes(found)] == [
        *(("new", "neg"), ("new", "forward"), ("new", "forward"), ("new", "backward"), ("new", "train")),
        *(("new", "noncontiguous"), ("new", "fakes")),
        *(("new", "mixed_dtypes"), ("new", "neg"), ("new", "optional")),
        *(("same", "forward"), ("known", "forward")),
    ]


def kept_with(path, *rows, **outcome):
    kept = results.Results(path, "mine", Selection())
    for subject, found in rows:
        counts = {"forward": 3, "out": 3}
        kept.add("default", Task(subject, "float32"), {"counts": counts, "found": found, **outcome})
    return kept


def test_the_terminal_shows_a_cause_once(tmp_path):
    wrong = [(name, [[f"{name}/forward/float32/{i}", "value", f"off by {i}"] for i in range(2)]) for name in "abcdefgh"]
    kept = kept_with(tmp_path / "r.jsonl", *wrong)
    found = list(kept.findings(KnownDifferences(), ["default"]))
    said = report.text(Context("mine"), kept, found, [], ["default"], 40).splitlines()
    line = said.index("value: 16 cases of 8 operators: a 2, b 2, c 2, d 2, e 2, f 2 and 2 more: off by 0")
    assert said[line + 1].endswith(" --device mine --case a/forward/float32/0")
    assert sum(text.startswith("value:") for text in said) == 1


def test_where_the_cpu_is_further_off_is_no_fault_of_the_device():
    assert KnownDifferences().find("default", "add/forward/float32/0", "reference") == FURTHER
    assert results.stale(KnownDifferences().own, [], [Task("add", "float32")], ["default"]) == []


def row(case, category="value"):
    return [case, category, "text"]


def test_a_baseline_says_what_is_new_fixed_and_the_same(tmp_path):
    old = kept_with(
        tmp_path / "old.jsonl",
        (
            "add",
            [
                row("add/forward/float32/0"),
                row("add/forward/float32/1"),
                row("add/out/float32/0"),
                row("add/gone/float32/0"),
            ],
        ),
        ("mul", [row("mul/forward/float32/0")]),
    )
    with old.path.open("a") as file:
        file.write('{"schema": 2, "sel')  # the run was killed
    kept = kept_with(
        tmp_path / "new.jsonl",
        ("add", [row("add/forward/float32/1"), row("add/forward/float32/2"), row("add/out/float32/0", "crash")]),
        ("sub", [row("sub/forward/float32/0")]),
    )
    loaded = baseline.load(tmp_path / "old.jsonl", "mine")
    known = KnownDifferences([KnownDifference("sub/*/*/*", "value", "as it is", "CUDA")])
    found = loaded.marked(list(kept.findings(known, ["default"])))
    assert {f.case: f.state for f in found} == {
        "add/forward/float32/1": "same",
        "add/forward/float32/2": "new",
        "add/out/float32/0": "new",  # in another way
        "sub/forward/float32/0": "known",
    }
    # mul didn't run now, nor did the variant "gone".
    assert loaded.fixed(found, kept, ["default"]) == [("default", "add/forward/float32/0")]
    said = report.text(Context("mine"), kept, found, [], ["default"], 40, loaded)
    assert said.startswith(
        "Of 12 cases on mine, 2 differ from the CPU and didn't in the baseline; 1 differs as in the baseline; 1 differs for a known"
    )
    assert f"Since {tmp_path}/old.jsonl: 2 new, 1 fixed, 1 the same.\nfixed: add/forward/float32/0" in said
    assert "value: add/forward/float32/1" not in said
    document = report.document(Context("mine"), kept, found, ["default"], loaded)
    assert '"fixed":[["default","add/forward/float32/0"]]' in report.page(Context("mine"), document)


@pytest.mark.parametrize(
    "text, says",
    [
        (None, "No such file"),
        ("", "has no results"),
        ("a thesis\n", "line 1 is not the result of a task of a sweep"),
        ('{"title": 1}\n', "line 1 is not the result of a task of a sweep"),
        ("[1]\n", "line 1 is not the result of a task of a sweep"),
        ("GOOD\nrubbish\nGOOD\n", "line 2 is not the result of a task of a sweep"),
        ("OTHER\n", "has format 99; this version reads format 2"),
        ("DEVICE\n", "is of the device 'yours', not 'mine'"),
    ],
)
def test_a_baseline_that_is_none_is_named(tmp_path, text, says):
    good = {
        "schema": results.SCHEMA,
        "selection": "s",
        "device": "mine",
        "mode": "default",
        "subject": "add",
        "dtype": "float32",
        "found": [],
    }
    path = tmp_path / "old.jsonl"
    if text is not None:
        lines = {"GOOD": good, "OTHER": {**good, "schema": 99}, "DEVICE": {**good, "device": "yours"}}
        for name, line in lines.items():
            text = text.replace(name, json.dumps(line))
        path.write_text(text)
    with pytest.raises(baseline.BaselineError) as raised:
        baseline.load(path, "mine")
    assert str(raised.value).startswith(f"--baseline {path}: ")
    assert says in str(raised.value)


def test_kernels_that_no_case_reached_are_named(tmp_path):
    names = [f"aten::k{i:02}" for i in range(20)] + ["mine::own"]
    assert reached.line(["a"], {"a"}) == "1 of 1 kernels of this backend ran."
    assert reached.line(names, {"aten::k00", "mine::own"}, 2) == (
        "2 of 21 kernels of this backend ran; not reached: k01, k02 and 17 more, all of them on the page"
    )
    kept = kept_with(tmp_path / "a.jsonl", ("add", []), kernels=["aten::add.out"])
    assert kept.kernels(["default"]) == {"aten::add.out"}
    assert kept.kernels(["other"]) is None
    kept_with(kept.path, ("mul", []))  # by an earlier version
    assert results.Results(kept.path, "mine", Selection()).kernels(["default"]) is None


def test_a_listener_hears_the_device_only(device):
    import torch

    listener = reached.Listener()
    assert "aten::empty.memory_format" in listener.names
    x = torch.ones(3, device=device, requires_grad=True)
    listener.begin()
    torch.relu(x)
    torch.empty(3, device=device)
    listener.begin()  # takes over what it heard: nothing
    assert listener.ran == set()
    listener.on()
    (x * 2).sum().backward()
    y = torch.empty(3, device=device)
    listener.off()
    y.exp()
    listener.end()
    assert "aten::empty.memory_format" in listener.ran
    assert not any("exp" in name or "relu" in name for name in listener.ran)


def test_subjects_of_the_fallback_are_counted(tmp_path):
    """Where nothing differs because the CPU computed both sides, the first lines say so."""
    fell = {"kernels": ["aten::empty.memory_format", "aten::_copy_from"], "fell_back": ["aten::add.out"]}
    kept = kept_with(tmp_path / "a.jsonl", ("add", []), **fell)
    said = (
        "1 of 1 operators was computed by the CPU fallback: no kernel of mine was checked, only its memory and copies"
    )
    assert report.text(Context("mine"), kept, [], [], ["default"], 40).splitlines()[1] == said
    made = report.document(Context("mine"), kept, [], ["default"])
    assert made["fallback"] == said and made["by_fallback"] == ["add"] and said in made["verdict"]
    kept.add(
        "default",
        Task("mul", "float32"),
        {"counts": {"forward": 1}, "found": [], "kernels": ["aten::mul.out"], "fell_back": []},
    )
    said = "1 of 2 operators was computed by the CPU fallback"
    assert report.text(Context("mine"), kept, [], [], ["default"], 40).splitlines()[1] == said
    silent = kept_with(tmp_path / "b.jsonl", ("add", []))  # of an earlier version, or a deaf one
    assert report.document(Context("mine"), silent, [], ["default"])["fallback"] == ""


@pytest.mark.parametrize(
    "subject, kernels, fell_back, whom",
    [
        ("add", ["aten::add.out"], [], "kernel"),
        ("add", ["aten::add.out"], ["aten::clamp_min.out"], "kernel"),  # which the kernel, or its test, called
        ("add", ["aten::mul.out"], ["aten::add.out"], "fallback"),  # mul on the CPU, in the fallback of add
        ("add", ["aten::add.out"], ["aten::add.out"], "fallback"),  # registered, but as the fallback
        ("softmax", ["aten::_softmax.out"], ["aten::exp.out"], "kernel"),
        ("softmax", ["aten::_copy_from"], ["aten::_softmax.out"], "fallback"),
        ("view", ["aten::view"], ["aten::sum.IntList_out"], "parts"),
        ("nn.Linear", ["aten::_copy_from"], ["aten::addmm.out"], "fallback"),
        ("ones", ["aten::empty.memory_format"], [], "parts"),
    ],
)
def test_who_computed_a_subject(subject, kernels, fell_back, whom):
    info = opinfos.database().get(subject)
    assert reached.by_whom(info, set(kernels), set(fell_back)) == whom
