"""Small scripts in the idioms of public training code give the same results before and after `lint-cuda --fix`.

Without a device, the reference is the script as it is. On a device it is the script as it is under `as_cuda`.
"""

import json
import pathlib
import shutil

import pytest
from openreg_gen.lint_cuda import __main__ as program
from openreg_gen.lint_cuda import find, source

HERE = pathlib.Path(__file__).parent
SCRIPTS = HERE / "scripts_cuda"
NEED_A_DEVICE = {"move", "several_devices", "side_stream"}
# What is left in each script after the fixes, but for notes.
LEFT = {
    "apex_like": ["torch.cuda.amp.autocast", "torch.cuda.amp.autocast"],  # an import for old versions of PyTorch
    "image_main": ["'nccl'"],  # a default of an option, which a backend without a library never uses
    "own_cuda": [".cuda()"],  # of the script's own class
    "side_stream": ["torch.cuda.stream"],  # of None
    "tensor_types": ["torch.cuda.FloatTensor", "torch.cuda.FloatTensor"],
    "transformer_config": ["'nccl'"],
    "visible": ["CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"],
    "word_model": ["torch.cuda.manual_seed"],  # the only statement of an `else`
}


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    """A folder with the fixed scripts."""
    folder = tmp_path_factory.mktemp("fixed") / "scripts"
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    program.main(["--fix", "--yes", str(folder)])
    return folder


def test_what_is_left_takes_a_person(fixed):
    left = {
        path.stem: [each.found for each in find(path.read_text(), path.name) if not each.note]
        for path in fixed.glob("*.py")
    }
    assert {name: found for name, found in left.items() if found} == LEFT


def test_lines_stay_within_the_width_of_their_file(fixed):
    def is_long(line, limit):
        # `f"{...}"` of one long expression and a statement without brackets can't be broken.
        return len(line) > limit and not line.strip().startswith('f"{') and "synchronize() if" not in line

    for path in fixed.glob("*.py"):
        limit = source.width((SCRIPTS / path.name).read_text())
        assert [line for line in path.read_text().splitlines() if is_long(line, limit)] == [], path.name


def test_a_file_defines_its_device_once(fixed):
    texts = {path.stem: path.read_text() for path in fixed.glob("*.py")}
    assert {text.count("current_accelerator(check_available=True)") for text in texts.values()} == {0, 1}
    assert "ACCELERATOR = torch" in texts["typed"] and 'DEVICE = "the name is taken"' in texts["typed"]
    assert "DEVICE" not in texts["policy"]  # its own `device` serves


def test_without_a_device_the_fixed_scripts_do_the_same(fixed, run_python):
    done = run_python(HERE / "cuda_runs.py", SCRIPTS, fixed, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    before, after = json.loads(done.stdout.splitlines()[-1])
    for name in sorted(before):
        if name in NEED_A_DEVICE:
            assert "error" in before[name], name
        else:
            assert "result" in before[name] and after[name] == before[name], name


def test_on_a_device_the_fixed_scripts_do_what_as_cuda_makes_of_them(device, fixed, run_python):
    done = run_python(HERE / "cuda_runs.py", f"{device}={SCRIPTS}", fixed)
    before, after = json.loads(done.stdout.splitlines()[-1])
    for name in sorted(before.keys() - {"tensor_types"}):
        assert before[name]["result"]["on"] == device, name
        assert after[name] == before[name], name
