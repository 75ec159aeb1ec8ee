"""compare finds one wrong kernel in each of the example programs, by module and operator, and its replay fails alone."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[1] / "generated_example/examples"

# The script, what is wrong, and the first place that has to be named.
FAULTS = [
    ("train_mlp.py --steps 2", "addmm mat1=float32[512, 64], mat2=float32[64, 64]", "step 0, forward, model.2"),
    ("kmeans.py", "_euclidean_dist x2=float32[2, 8]", "step 0, forward, kmeans.py:"),
    ("gpt.py --steps 2", "addmm mat1=float32[256, 128]", "step 0, forward, model.blocks.0.mlp.2"),
    ("diffusion.py", "native_group_norm input=float32[8, 32, 4, 4]", "step 0, forward, model.middle.norm1"),
    ("cnn_amp.py", "convolution_backward weight=bfloat16[16, 16, 1, 1]", "step 0, backward, model.5.skip.0"),
    ("lstm.py --epochs 1", "embedding_dense_backward num_weights=20", "step 0, backward, model.embedding"),
    ("segmentation.py", "leaky_relu_backward self=float32[6, 8, 24, 24]", "step 0, backward, model.3"),
    ("checkpointing.py", "native_layer_norm_backward input=float32[64, 16]", "step 0, backward, model.layers.5.norm"),
    ("lora.py", "tanh_backward output=float32[128, 32]", "step 0, backward, model.3"),
    ("data_loading.py", "mm self=float32[16, 4], mat2=float32[4, 48]", "step 0, forward, encoder"),
    ("reinforce.py", "tanh_backward output=float32[64, 16]", "step 0, backward, agent.policy.1"),
    ("generation.py", "linear weight=float32[32, 64]", "step 0, forward, model.layers.0.down"),
    ("meta_learning.py", "tanh self=float32[8, 5, 16]", "step 0, forward, model.1"),
    ("recommender.py", "_embedding_bag mode=0", "step 0, forward, model.weighted"),
]
QUICK = ("kmeans.py",)


def test_each_example_has_a_fault():
    assert sorted(script.split()[0] for script, _, _ in FAULTS) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize(
    "script, fault, place",
    [
        pytest.param(
            *each, id=each[0].partition(".")[0], marks=() if each[0].split()[0] in QUICK else pytest.mark.nightly
        )
        for each in FAULTS
    ],
)
def test_a_fault_is_found_and_repeated_alone(device, run_python, tmp_path, script, fault, place):
    name, *words = script.split()
    known = {"PLANTED_FAULT": fault, "PYTHONPATH": f"{HERE.parents[1] / 'generator/workbench'}:{HERE}"}
    plugged = ("--device", device, "--import", "planted_fault")
    done = run_python("-m", "openreg_gen.compare", *plugged, EXAMPLES / name, "--", *words, code=1, **known)
    operator = f"aten.{fault.split()[0]}.default"
    (first,) = re.findall(r"^first difference: (.*)\n  (.*)$", done.stderr, re.MULTILINE)
    assert first[0].startswith(place) and first[1].startswith(f"{operator}("), done.stderr
    found = [line for line in done.stderr.splitlines() if line.startswith("differs: ")]
    assert all(line.endswith(f" {operator}") for line in found), done.stderr  # nothing but the planted fault
    assert "judged by float64: the device is further off" in done.stderr, done.stderr

    done = run_python("-m", "openreg_gen.replay", "differs.pt", "--pytest", "test_call.py", code=1, **known)
    assert f"{operator}(" in done.stdout and "it still differs from the CPU's result" in done.stdout
    alone = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_call.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, **known},
    )  # fmt: skip
    assert alone.returncode == 1 and "1 failed" in alone.stdout, alone.stdout + alone.stderr
