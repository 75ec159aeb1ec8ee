"""lint-cuda finds what only CUDA understands, at exact places, and its fixes run on a backend."""

import ast
import json
import pathlib

import pytest
from openreg_gen.lint_cuda import __main__ as program
from openreg_gen.lint_cuda import find, fix
from openreg_gen.lint_cuda.find import all_edits

SCRIPTS = pathlib.Path(__file__).parent / "cuda_scripts"
ACCELERATOR = "torch.accelerator.current_accelerator()"
TYPE = f"{ACCELERATOR}.type"
OR_CPU = f'({ACCELERATOR} or torch.device("cpu")).type'

HEAD = """import os
import torch
import torch.distributed as dist
import torch.backends.cudnn as cudnn
from torch import nn
from torch.profiler import ProfilerActivity
from torch.utils.cpp_extension import load_inline
"""

# A line, what is found in it, and the line as it is fixed (None: nothing to fix).
CASES = [
    # Devices by name.
    ('x = torch.ones(2, device="cuda")', ["'cuda'"], f"x = torch.ones(2, device={TYPE})"),
    ("x.to('cuda:1')", ["'cuda:1'"], f'x.to(f"{{{TYPE}}}:1")'),
    ('x.to(f"cuda:{rank}")', ['f"cuda:{rank}"'], f'x.to(f"{{{TYPE}}}:{{rank}}")'),
    ('d = torch.device("cuda")', ["'cuda'"], f"d = {ACCELERATOR}"),
    ('d = torch.device("cuda", rank)', ["'cuda'"], f"d = torch.device({TYPE}, rank)"),
    (
        'd = "cuda" if torch.cuda.is_available() else "cpu"',
        ["'cuda'", "torch.cuda.is_available"],
        f'd = {TYPE} if torch.accelerator.is_available() else "cpu"',
    ),
    ('torch.load(f, map_location="cuda")', ["'cuda'"], f"torch.load(f, map_location={TYPE})"),
    (
        'torch.load(f, map_location={"cuda:0": "cpu"})',
        ["'cuda:0'"],
        f'torch.load(f, map_location={{f"{{{TYPE}}}:0": "cpu"}})',
    ),
    ('with torch.autocast("cuda"): pass', ["'cuda'"], f"with torch.autocast({OR_CPU}): pass"),
    ('with torch.autocast(device_type="cuda"): pass', ["'cuda'"], f"with torch.autocast(device_type={OR_CPU}): pass"),
    ('if x.device.type == "cuda": pass', ["'cuda'"], 'if x.device.type != "cpu": pass'),
    ('if x.device.type != "cuda": pass', ["'cuda'"], 'if x.device.type == "cpu": pass'),
    ('if kind in ("cuda", "xpu"): pass', ["'cuda'"], None),
    ('def f(device="cuda"): pass', ["'cuda'"], None),
    ('x = y.pin_memory("cuda")', ["pin_memory(DEVICE)"], "x = y.pin_memory()"),
    ('DataLoader(d, pin_memory_device="")', ["pin_memory_device"], None),
    # Methods.
    ("x = y.cuda()", [".cuda()"], f"x = y.to({ACCELERATOR})"),
    ("x = y.cuda(non_blocking=True)", [".cuda()"], f"x = y.to({ACCELERATOR}, non_blocking=True)"),
    ("x = net.cuda(rank)", [".cuda()"], "x = net.to(rank)"),
    ("x = y.cuda(0, True)", [".cuda()"], None),
    ("x = (a + b).cuda().cuda(1)", [".cuda()", ".cuda()"], f"x = (a + b).to({ACCELERATOR}).to(1)"),
    ("if x.is_cuda: pass", [".is_cuda"], 'if x.device.type != "cpu": pass'),
    ("y = not x.is_cuda", [".is_cuda"], 'y = not (x.device.type != "cpu")'),
    ("y = not x.cuda().is_cuda", [".cuda()", ".is_cuda"], f'y = not (x.to({ACCELERATOR}).device.type != "cpu")'),
    # Names of torch.cuda.
    ("torch.cuda.synchronize()", ["torch.cuda.synchronize"], "torch.accelerator.synchronize()"),
    ("torch.cuda.synchronize(device=d)", ["torch.cuda.synchronize"], None),
    ("torch.cuda.set_device(rank)", ["torch.cuda.set_device"], "torch.accelerator.set_device_index(rank)"),
    ("s = torch.cuda.Stream()", ["torch.cuda.Stream"], "s = torch.Stream()"),
    ("e = torch.cuda.Event(enable_timing=True)", ["torch.cuda.Event"], "e = torch.Event(enable_timing=True)"),
    ("e = torch.cuda.Event(True)", ["torch.cuda.Event"], None),
    ("with torch.cuda.stream(s): pass", ["torch.cuda.stream"], "with s: pass"),
    ("with torch.cuda.device(1): pass", ["torch.cuda.device"], "with torch.accelerator.device_index(1): pass"),
    ("with torch.cuda.device(d): pass", ["torch.cuda.device"], None),
    (
        "torch.cuda.memory.memory_allocated()",
        ["torch.cuda.memory.memory_allocated"],
        "torch.accelerator.memory_allocated()",
    ),
    (
        "n = torch.cuda.get_device_name(0)",
        ["torch.cuda.get_device_name"],
        "n = torch.get_device_module().get_device_name(0)",
    ),
    ("t = torch.cuda.FloatTensor(2)", ["torch.cuda.FloatTensor"], None),
    ("torch.cuda.manual_seed_all(1)", ["torch.cuda.manual_seed_all"], None),
    ("f = torch.cuda", ["torch.cuda"], None),
    ("torch.cuda.a_new_name()", ["torch.cuda.a_new_name"], None),
    (
        "with torch.cuda.nvtx.range('a'): pass",
        ["torch.cuda.nvtx.range"],
        "with torch.profiler.record_function('a'): pass",
    ),
    (
        "with torch.cuda.amp.autocast(): pass",
        ["torch.cuda.amp.autocast"],
        f"with torch.autocast({OR_CPU}): pass",
    ),
    (
        "with torch.cuda.amp.autocast(use): pass",
        ["torch.cuda.amp.autocast"],
        f"with torch.autocast({OR_CPU}, enabled=use): pass",
    ),
    (
        "s = torch.cuda.amp.GradScaler(enabled=use)",
        ["torch.cuda.amp.GradScaler"],
        f"s = torch.amp.GradScaler({OR_CPU}, enabled=use)",
    ),
    (
        "s = torch.amp.GradScaler()",
        ["torch.amp.GradScaler(), whose device is cuda"],
        f"s = torch.amp.GradScaler(device={OR_CPU})",
    ),
    ('s = torch.amp.GradScaler("cpu")', [], None),
    # Libraries and switches.
    (
        'dist.init_process_group("nccl")',
        ["'nccl'"],
        f"dist.init_process_group(torch.distributed.get_default_backend_for_device({OR_CPU}))",
    ),
    ('dist.init_process_group("cpu:gloo,cuda:nccl")', ["'cpu:gloo,cuda:nccl'"], None),
    ("cudnn.benchmark = True", ["torch.backends.cudnn.benchmark"], None),
    ("torch.backends.cuda.matmul.allow_tf32 = True", ["torch.backends.cuda.matmul.allow_tf32"], None),
    ("v = torch.version.cuda", ["torch.version.cuda"], None),
    ("a = [ProfilerActivity.CUDA]", ["torch.profiler.ProfilerActivity.CUDA"], None),
    ('p.table(sort_by="self_cuda_time_total")', ["self_cuda_time_total"], 'p.table(sort_by="self_device_time_total")'),
    ('os.environ.setdefault("A", "b"); v = os.getenv("CUDA_VISIBLE_DEVICES")', ["CUDA_VISIBLE_DEVICES"], None),
    ('torch.set_default_tensor_type("torch.cuda.FloatTensor")', ["torch.cuda.FloatTensor"], None),
    ("load_inline(name='a', cuda_sources=[])", ["cuda_sources"], None),
    # No alarms.
    ('"""Say x.cuda() or "cuda"."""', [], None),
    ("pass  # x.cuda(), torch.cuda.synchronize() and 'cuda'", [], None),
    ('print("cuda", f"cuda:{rank}")', [], None),
    ('logger.info("cuda")', [], None),
    ('parser.add_argument("--cuda", help="cuda")', [], None),
    ('c = {"cuda": 1}["cuda"]; c.get("cuda")', [], None),
    ("s = f'on cuda {x}'", [], None),
    ('s = "cuda is fast"; cuda = 1; self.cuda = cuda', [], None),
    ("x.cuda()  # lint-cuda: off", [], None),
]


@pytest.mark.parametrize(("line", "found", "fixed"), CASES)
def test_lines(line, found, fixed):
    text = f"{HEAD}é = 'ü'; {line}\n" if not line.startswith(("if", "with", "def", '"""')) else f"{HEAD}{line}\n"
    seen = find(text, "a.py")
    assert [each.found for each in seen] == found
    new = fix.edited(text, all_edits(seen))
    assert new == (text if fixed is None else text.replace(line, fixed))
    for each in seen:
        assert text.splitlines()[each.line - 1][each.column - 1 :], each
    # What is fixed is found no more.
    assert [each.found for each in find(new, "a.py")] == [each.found for each in seen if not each.edits]


def test_places_are_exact():
    text = 'import torch\n\nö = ("ü", torch.cuda.synchronize(),\n     "a", x.cuda(), y.is_cuda)\n'
    places = [(each.line, each.column, each.found) for each in find(text, "a.py")]
    assert places == [(3, 11, "torch.cuda.synchronize"), (4, 13, ".cuda()"), (4, 23, ".is_cuda")]


@pytest.mark.parametrize(
    ("text", "found", "fixed"),
    [
        (
            "import torch\nfrom torch.cuda.amp import GradScaler, autocast\nwith autocast(): s = GradScaler(2.0)\n",
            4,
            "import torch\nfrom torch.amp import GradScaler, autocast\n"
            f"with autocast({OR_CPU}): s = GradScaler({OR_CPU}, init_scale=2.0)\n",
        ),
        ("import torch as t\nt.cuda.synchronize()\n", 1, "import torch as t\nt.accelerator.synchronize()\n"),
        ("import torch\nimport torch.cuda as tc\ntc.empty_cache()\n", 1, None),
        ("import torch\nfrom torch import cuda\ncuda.empty_cache()\n", 1, None),
        (
            "from torch import nn\nnet = nn.Linear(2, 2).cuda()\n",
            1,
            "from torch import nn\nnet = nn.Linear(2, 2).cuda()\n",
        ),
        (
            "import torch\r\nx = y.cuda(1)\r\n\x0cz = x.is_cuda\r\n",
            2,
            'import torch\r\nx = y.to(1)\r\n\x0cz = x.device.type != "cpu"\r\n',
        ),
    ],
)
def test_imports_and_line_ends(text, found, fixed):
    seen = find(text, "a.py")
    assert len(seen) == found
    if fixed is not None:
        assert fix.edited(text, all_edits(seen)) == fixed


def test_program(tmp_path, capsys):
    script, other = tmp_path / "a.py", tmp_path / ".venv/b.py"
    other.parent.mkdir()
    other.write_text("x.cuda()\n")
    before = b"\xef\xbb\xbfimport torch\r\nx = y.cuda()\r\n"
    script.write_bytes(before)
    script.chmod(0o750)
    assert program.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"{script}:2:7: .cuda(): use .to(DEVICE) [fix]",
        "1 place in 1 file; 1 can be fixed",
    ]
    assert program.main(["--json", str(tmp_path)]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["findings"][0] | {"path": ""} == {
        "path": "",
        "line": 2,
        "column": 7,
        "found": ".cuda()",
        "write": ".to(DEVICE)",
        "note": False,
        "fix": True,
    }
    assert program.main(["--fix", str(tmp_path)]) == 1
    assert "+x = y.to(" in (shown := capsys.readouterr().out) and "--fix --yes" in shown
    assert script.read_bytes() == before
    assert program.main(["--fix", "--yes", str(tmp_path)]) == 0
    assert "fixed 1 place; 0 places left" in capsys.readouterr().out
    assert script.read_bytes() == before.replace(b"y.cuda()", f"y.to({ACCELERATOR})".encode())
    assert script.stat().st_mode & 0o777 == 0o750
    assert program.main([str(tmp_path)]) == 0
    assert "nothing in 1 file says cuda" in capsys.readouterr().out


def test_program_asks_at_a_terminal(tmp_path, monkeypatch, capsys):
    script = tmp_path / "a.py"
    for answer, code in (("n", 1), ("y", 0)):
        script.write_text("import torch\nx = y.cuda()\n")
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda question, said=answer: said)
        assert program.main(["--fix", str(script)]) == code
        assert (".cuda()" in script.read_text()) == (answer == "n")


def test_notes_alone_are_no_failure(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import torch\ntorch.backends.cudnn.benchmark = True\n")
    assert program.main([str(tmp_path)]) == 0
    assert "no effect on other devices [note]" in capsys.readouterr().out


def test_what_the_program_refuses(tmp_path, capsys):
    (tmp_path / "a.py").write_text("x.cuda(\n")
    for words, text in (
        ([str(tmp_path / "nothing")], "no such file"),
        (["--yes", str(tmp_path)], "--yes goes with --fix"),
        ([], "required: PATH"),
    ):
        with pytest.raises(SystemExit) as done:
            program.main(words)
        assert done.value.code == 2 and text in capsys.readouterr().err
    assert program.main([str(tmp_path)]) == 2
    assert "is not Python: line 1:" in capsys.readouterr().err


def test_what_takes_a_person_in_the_scripts():
    left = {
        script.stem: [each.found for each in find(script.read_text(), script.name) if not each.edits and not each.note]
        for script in SCRIPTS.glob("*.py")
    }
    assert left == {
        "adversaries": ["torch.cuda.FloatTensor", "torch.cuda.FloatTensor"],
        "digits": ["torch.cuda.manual_seed_all"],
        "language": ["'cuda'", "'cuda'"],
        "parallel": [],
        "serve": [],
        "timing": ["torch.profiler.ProfilerActivity.CUDA", "torch.cuda.manual_seed"],
    }
    for script in SCRIPTS.glob("*.py"):
        text = script.read_text()
        ast.parse(fix.edited(text, all_edits(find(text, script.name))))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["digits", "language", "parallel", "serve", "timing"])
def test_fixed_scripts_run_on_the_device(device, run_python, tmp_path, name):
    import torch

    (tmp_path / "fixed.py").write_text((SCRIPTS / f"{name}.py").read_text())
    program.main(["--fix", "--yes", str(tmp_path / "fixed.py")])
    run_python(SCRIPTS / f"{name}.py", "--out", "cpu.json")
    run_python("fixed.py", "--out", "device.json")
    cpu, there = (json.loads((tmp_path / f"{where}.json").read_text()) for where in ("cpu", "device"))
    assert there["on_gpu"] and not cpu["on_gpu"]
    tolerance = {"rtol": 5e-3, "atol": 5e-3} if name == "digits" else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(torch.tensor(there["losses"]), torch.tensor(cpu["losses"]), **tolerance)
