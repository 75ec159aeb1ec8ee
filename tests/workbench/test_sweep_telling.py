"""Samples of the sweep: they show faults of kernels, and only subjects that exist are run."""

import json
import os
import pathlib

import pytest
import torch
from openreg_gen.sweep import cases, subjects, telling
from openreg_gen.sweep.cases import Selection, Task
from openreg_gen.testing import opinfos

HERE = pathlib.Path(__file__).parent
pytestmark = pytest.mark.skipif(not opinfos.database(), reason="PyTorch's OpInfos need numpy and expecttest")

# The kernels of wrong_kernels.py, and the subjects with their samples.
FOUND = {
    **{"relu": "nn.functional.relu", "neg": "neg", "add.Tensor": "add", "gather": "gather", "mul.Tensor": "mul"},
    **{"hypot": "hypot", "floor_divide": "floor_divide", "amax": "amax", "cumsum": "cumsum", "where.self": "where"},
}
ALSO_FOUND = {
    **{"mm": "mm", "prod.dim_int": "prod", "copysign.Tensor": "copysign", "triu": "triu", "sub.Tensor": "sub"},
    **{"logaddexp": "logaddexp", "roll": "roll"},
}
# None of PyTorch's samples of these dtypes has three dimensions, more than 32 elements in a row, or bytes.
NOT_FOUND = {"sum.dim_IntList": "sum", "_softmax": "softmax", "minimum": "minimum"}


def differing(run_python, tmp_path, device, wrong, *words):
    """The subjects that a sample finds different where these kernels are wrong."""
    environment = {"PYTHONPATH": os.pathsep.join([str(HERE.parents[1] / "generator/workbench"), str(HERE)])}
    plugged = ("--device", device, "--import", "wrong_kernels", "--jobs", "2", "--fresh", *words)
    command = ("-m", "openreg_gen.sweep", "--sample", *plugged, *wrong.values())
    run_python(*command, code=1, WRONG_KERNELS=" ".join(wrong), **environment)
    rows = [json.loads(line) for line in (tmp_path / "sweep.jsonl").read_text().splitlines()]
    assert {row["subject"] for row in rows} == set(wrong.values())
    return {row["subject"] for row in rows if any(category == "value" for _, category, _ in row["found"])}


def test_wrong_kernels_are_found(device, run_python, tmp_path):
    found = differing(run_python, tmp_path, device, FOUND)
    assert found <= set(FOUND.values()) and len(found) >= 9, set(FOUND.values()) - found


@pytest.mark.nightly
def test_of_more_wrong_kernels_nearly_all_are_found(device, run_python, tmp_path):
    wrong = {**ALSO_FOUND, **NOT_FOUND}
    assert differing(run_python, tmp_path, device, wrong) == set(ALSO_FOUND.values())


def test_the_first_pick_has_dimensions_and_each_pick_shows_more():
    for name in ("nn.functional.relu", "gather", "where", "sum", "softmax"):
        samples = cases.drawn(lambda name=name: opinfos.database()[name].sample_inputs("cpu", torch.float32), 16)
        picked = telling.picks(samples)
        assert telling.rank(samples[picked[0]]) >= 2, name
        assert 2 <= len(picked) <= telling.PICKS, name
        assert len(set(picked)) == len(picked), name
    assert telling.picks([]) == []


def test_variants_of_strides_get_tensors_with_dimensions():
    listed = list(cases.cases(Task("nn.functional.relu", "float32"), Selection((), 1)))
    by_variant = {case.name.split("/")[1]: case.call.args[0] for case in listed}
    for variant in ("noncontiguous", "transposed"):
        x = by_variant[variant]
        assert x.dim() >= 2
        assert not x.is_contiguous(), variant
    assert by_variant["zero_size"].numel() == 0
    assert len({x.shape for x in by_variant.values()}) > 2  # variants take turns
    special = by_variant["special_values"].flatten()
    assert special.isnan().any() and special.isposinf().any() and (torch.signbit(special) & (special == 0)).any()


def test_integers_get_their_ends_where_they_are_no_indices():
    listed = list(cases.cases(Task("add", "int64"), Selection(("special_values",), 1)))
    assert {torch.iinfo(torch.int64).max, torch.iinfo(torch.int64).min} <= set(
        listed[0].call.args[0].flatten().tolist()
    )
    assert not list(cases.cases(Task("gather", "int64"), Selection(("special_values",), 1)))


@pytest.mark.parametrize("subject", ["add", "where", "amax"])
def test_cases_of_a_sample_can_be_run_alone(subject):
    for case in list(cases.cases(Task(subject, "float32"), Selection((), 1)))[::9]:
        if "/errors/" not in case.name:
            found = cases.find(case.name)
            assert found is not None, case.name
            assert [x.shape for x in cases.tensors(found[1].call.args)] == [
                x.shape for x in cases.tensors(case.call.args)
            ]


def test_more_samples_than_picks_are_taken_if_they_are_wanted():
    listed = list(cases.cases(Task("amax", "float32"), Selection(("forward",), 15)))
    assert len({case.name for case in listed}) == 15


KNOWN = ("add", "abs", "softmax", "masked.softmax", "nn.functional.relu", "nn.ReLU", "div.floor_rounding", "gather")


@pytest.mark.parametrize(
    "word, found",
    [
        *(
            ("add", ["add"]),
            ("nn.*", ["nn.ReLU", "nn.functional.relu"]),
            ("div.floor_rounding", ["div.floor_rounding"]),
        ),
        *(("relu", ["nn.functional.relu"]), ("relu_", ["nn.functional.relu"]), ("aten::relu", ["nn.functional.relu"])),
        *(("abs.out", ["abs"]), ("aten.add.Tensor", ["add"]), ("aten::add.out", ["add"])),
    ],
)
def test_a_word_names_subjects(word, found):
    assert sorted(subjects.named([word], KNOWN)) == found


@pytest.mark.parametrize(
    "word, meant",
    [
        *(("softmx", "softmax"), ("nn.functional.relv", "nn.functional.relu"), ("Relu", "nn.functional.relu")),
        *(("add.nothing", "add"), ("nosuchthing", ""), ("zz*", "")),
    ],
)
def test_a_word_that_names_nothing_is_an_error(word, meant):
    with pytest.raises(subjects.UnknownSubjects) as error:
        subjects.named(["add", word, "other_nothing"], KNOWN)
    first, second = str(error.value).splitlines()
    assert first == f"{word}: no subject matches" + (f"; did you mean {meant}?" if meant else "")
    assert second == "other_nothing: no subject matches"


@pytest.mark.parametrize("more", [(), ("--compiled",)])
def test_nothing_runs_if_one_subject_does_not_exist(run_python, tmp_path, more):
    done = run_python("-m", "openreg_gen.sweep", "--device=cpu", "--sample", "gathr", "add", "nothing", *more, code=2)
    wanted = "gathr: no subject matches; did you mean gather?\nnothing: no subject matches"
    assert f"openreg-gen: error[E0574]: {wanted}\nhint: " in done.stderr
    assert not done.stdout and not list(tmp_path.glob("sweep.*"))
