"""lint-cuda finds what only CUDA understands, at exact places, and its fixes run on a backend."""

import ast
import json
import pathlib
import re

import pytest
from openreg_gen.cuda_names import ROWS
from openreg_gen.lint_cuda import __main__ as program
from openreg_gen.lint_cuda import find, fix
from openreg_gen.lint_cuda.amp import NAMES as AMP
from openreg_gen.lint_cuda.find import NOTES, OTHER, all_edits
from openreg_gen.lint_cuda.fit import fitted
from openreg_gen.lint_cuda.names import WITHOUT_CUDA

SCRIPTS = pathlib.Path(__file__).parent / "cuda_scripts"
DEFINITION = """
DEVICE = (
    torch.accelerator.current_accelerator(check_available=True)
    or torch.device("cpu")
)
"""
ON = 'DEVICE.type != "cpu"'

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
    ('x = torch.ones(2, device="cuda")', ["'cuda'"], "x = torch.ones(2, device=DEVICE)"),
    ("x.to('cuda:1')", ["'cuda:1'"], 'x.to(f"{DEVICE.type}:1")'),
    ('x.to(f"cuda:{rank}")', ['f"cuda:{rank}"'], 'x.to(f"{DEVICE.type}:{rank}")'),
    ('d = torch.device("cuda")', ["'cuda'"], "d = DEVICE"),
    ('d = torch.device("cuda", rank)', ["'cuda'"], "d = torch.device(DEVICE.type, rank)"),
    (
        'd = "cuda" if torch.cuda.is_available() else "cpu"',
        ["'cuda'", "torch.cuda.is_available"],
        "d = DEVICE.type",
    ),
    ('torch.load(f, map_location="cuda")', ["'cuda'"], "torch.load(f, map_location=DEVICE)"),
    (
        'torch.load(f, map_location={"cuda:0": "cpu"})',
        ["'cuda:0'"],
        'torch.load(f, map_location={"cuda:0": "cpu", f"{DEVICE.type}:0": "cpu"})',
    ),
    ('with torch.autocast("cuda"): pass', ["'cuda'"], f"with torch.autocast(DEVICE.type, enabled={ON}): pass"),
    (
        'with torch.autocast(device_type="cuda"): pass',
        ["'cuda'"],
        f"with torch.autocast(device_type=DEVICE.type, enabled={ON}): pass",
    ),
    ('if x.device.type == "cuda": pass', ["'cuda'"], 'if x.device.type != "cpu": pass'),
    ('if x.device.type != "cuda": pass', ["'cuda'"], 'if x.device.type == "cpu": pass'),
    ('if kind in ("cuda", "xpu"): pass', ["'cuda'"], None),
    ('def f(device="cuda"): pass', ["'cuda'"], "def f(device=DEVICE.type): pass"),
    ('x = y.pin_memory("cuda")', ["pin_memory(DEVICE)"], "x = y.pin_memory()"),
    ('DataLoader(d, pin_memory_device="")', ["pin_memory_device"], None),
    # Methods.
    ("x = y.cuda()", [".cuda()"], "x = y.to(DEVICE)"),
    ("x = y.cuda(non_blocking=True)", [".cuda()"], "x = y.to(DEVICE, non_blocking=True)"),
    ("x = net.cuda(rank)", [".cuda()"], "x = net.to(DEVICE if rank is None else rank)"),
    ("x = y.cuda(0, True)", [".cuda()"], None),
    ("x = (a + b).cuda().cuda(1)", [".cuda()", ".cuda()"], "x = (a + b).to(DEVICE).to(1)"),
    ("if x.is_cuda: pass", [".is_cuda"], 'if x.device.type != "cpu": pass'),
    ("y = not x.is_cuda", [".is_cuda"], 'y = x.device.type == "cpu"'),
    ("y = not x.cuda().is_cuda", [".cuda()", ".is_cuda"], 'y = x.to(DEVICE).device.type == "cpu"'),
    # Names of torch.cuda.
    ("torch.cuda.synchronize()", ["torch.cuda.synchronize"], "torch.accelerator.synchronize()"),
    ("torch.cuda.synchronize(device=d)", ["torch.cuda.synchronize"], None),
    ("torch.cuda.set_device(rank)", ["torch.cuda.set_device"], "torch.accelerator.set_device_index(rank)"),
    ("s = torch.cuda.Stream()", ["torch.cuda.Stream"], "s = torch.Stream()"),
    ("e = torch.cuda.Event(enable_timing=True)", ["torch.cuda.Event"], "e = torch.Event(enable_timing=True)"),
    ("e = torch.cuda.Event(True)", ["torch.cuda.Event"], None),
    ("with torch.cuda.stream(s): pass", ["torch.cuda.stream"], "with torch.get_device_module().stream(s): pass"),
    ("with torch.cuda.device(1): pass", ["torch.cuda.device"], "with torch.accelerator.device_index(1): pass"),
    ("with torch.cuda.device(d): pass", ["torch.cuda.device"], None),
    (
        "n = torch.cuda.memory.memory_allocated()",
        ["torch.cuda.memory.memory_allocated"],
        "n = torch.accelerator.memory_allocated() if torch.accelerator.is_available() else 0",
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
        f"with torch.autocast(DEVICE.type, enabled={ON}): pass",
    ),
    (
        "with torch.cuda.amp.autocast(use): pass",
        ["torch.cuda.amp.autocast"],
        f"with torch.autocast(DEVICE.type, enabled=use and {ON}): pass",
    ),
    (
        "s = torch.cuda.amp.GradScaler(enabled=use)",
        ["torch.cuda.amp.GradScaler"],
        f"s = torch.amp.GradScaler(DEVICE.type, enabled=use and {ON})",
    ),
    (
        "s = torch.amp.GradScaler()",
        ["torch.amp.GradScaler(), whose device is cuda"],
        f"s = torch.amp.GradScaler(DEVICE.type, enabled={ON})",
    ),
    ('s = torch.amp.GradScaler("cpu")', [], None),
    (
        "with torch.cuda.amp.autocast(a or b): pass",
        ["torch.cuda.amp.autocast"],
        f"with torch.autocast(DEVICE.type, enabled=(a or b) and {ON}): pass",
    ),
    ("with torch.cuda.amp.autocast(**options): pass", ["torch.cuda.amp.autocast"], None),
    (
        'with torch.autocast("cuda", enabled=False): pass',
        ["'cuda'"],
        "with torch.autocast(DEVICE.type, enabled=False): pass",
    ),
    ('with torch.autocast("cuda" if use else "cpu"): pass', ["'cuda'"], None),
    ('s = torch.amp.GradScaler("cuda", **options)', ["'cuda'"], None),
    ("def f(e: torch.cuda.Event | None): pass", ["torch.cuda.Event"], "def f(e: torch.Event | None): pass"),
    ('def f(e: "torch.cuda.Event"): pass', ["torch.cuda.Event"], 'def f(e: "torch.Event"): pass'),
    ("y = isinstance(s, torch.cuda.Stream)", ["torch.cuda.Stream"], "y = isinstance(s, torch.Stream)"),
    (
        "@torch.cuda.amp.custom_fwd\ndef f(): pass",
        ["torch.cuda.amp.custom_fwd"],
        "@torch.amp.custom_fwd(device_type=DEVICE.type)\ndef f(): pass",
    ),
    # Values that may be None, and storages.
    (
        "def f(x, gpu=None): return x.cuda(gpu)",
        [".cuda()"],
        "def f(x, gpu=None): return x.to(DEVICE if gpu is None else gpu)",
    ),
    ("x = y.cuda(device=args.gpu)", [".cuda()"], "x = y.to(device=DEVICE if args.gpu is None else args.gpu)"),
    ("x = y.cuda(choose())", [".cuda()"], None),
    ("def f(x, gpu: int): return x.cuda(gpu)", [".cuda()"], "def f(x, gpu: int): return x.to(gpu)"),
    ("def f(rank, x): return x.cuda(rank)", [".cuda()"], "def f(rank, x): return x.to(rank)"),
    ("if gpu is not None: x = y.cuda(gpu)", [".cuda()"], "if gpu is not None: x = y.to(gpu)"),
    ("x = [y.cuda(i) for i in range(2)]", [".cuda()"], "x = [y.to(i) for i in range(2)]"),
    (
        "torch.cuda.set_device(i); x = y.cuda(i)",
        ["torch.cuda.set_device", ".cuda()"],
        "torch.accelerator.set_device_index(i); x = y.to(i)",
    ),
    (
        "torch.load(f, map_location=lambda s, l: s.cuda(0))",
        [".cuda()"],
        "torch.load(f, map_location=lambda s, l: s.to(device=0))",
    ),
    (
        "torch.load(f, map_location=lambda s, l: s.cuda())",
        [".cuda()"],
        "torch.load(f, map_location=lambda s, l: s.to(device=DEVICE))",
    ),
    (
        "s = torch.cuda.Stream()\nwith torch.cuda.stream(s): pass",
        ["torch.cuda.Stream", "torch.cuda.stream"],
        "s = torch.Stream()\nwith s: pass",
    ),
    ("torch.cuda.set_stream(s)", ["torch.cuda.set_stream"], None),
    # What works without CUDA.
    ("torch.cuda.empty_cache()", ["torch.cuda.empty_cache"], None),
    (
        "if a:\n    torch.cuda.empty_cache()",
        ["torch.cuda.empty_cache"],
        "if a:\n    if torch.accelerator.is_available():\n        torch.accelerator.empty_cache()",
    ),
    (
        "if torch.cuda.is_available():\n    torch.cuda.empty_cache()",
        ["torch.cuda.is_available", "torch.cuda.empty_cache"],
        "if torch.accelerator.is_available():\n    torch.accelerator.empty_cache()",
    ),
    (
        "def f():\n    assert torch.cuda.is_available()\n    torch.cuda.empty_cache()",
        ["torch.cuda.is_available", "torch.cuda.empty_cache"],
        "def f():\n    assert torch.accelerator.is_available()\n    torch.accelerator.empty_cache()",
    ),
    (
        "y = torch.cuda.memory_allocated() / 2",
        ["torch.cuda.memory_allocated"],
        "y = (torch.accelerator.memory_allocated() if torch.accelerator.is_available() else 0) / 2",
    ),
    (
        "if use and torch.cuda.is_available(): y = torch.cuda.memory_allocated()",
        ["torch.cuda.is_available", "torch.cuda.memory_allocated"],
        "if use and torch.accelerator.is_available(): y = torch.accelerator.memory_allocated()",
    ),
    ('p.add_argument("--device", default="cuda")', ["'cuda'"], 'p.add_argument("--device", default=DEVICE.type)'),
    ('y = str(d).startswith("cuda")', ["'cuda'"], 'y = not str(d).startswith("cpu")'),
    ('y = 1 + str(d).startswith("cuda")', ["'cuda'"], 'y = 1 + (not str(d).startswith("cpu"))'),
    ('y = key.startswith("cuda")', ["'cuda'"], None),
    ('y = "cuda" in str(d)', ["'cuda'"], 'y = "cpu" not in str(d)'),
    ('y = "cuda" in names', ["'cuda'"], None),
    ('y = x.device == torch.device("cuda")', ["'cuda'"], None),
    # Devices by composed names.
    ('x.to("cuda:%d" % i)', ['"cuda:%d" % i'], 'x.to(f"{DEVICE.type}:{i}")'),
    ('x.to("cuda:%s" % (rank + 1,))', ['"cuda:%s" % (rank + 1,)'], 'x.to(f"{DEVICE.type}:{rank + 1}")'),
    ('x.to("cuda:{}".format(i))', ['"cuda:{}".format(i)'], 'x.to(f"{DEVICE.type}:{i}")'),
    ('x.to("cuda:" + str(i))', ['"cuda:" + str(i)'], 'x.to(f"{DEVICE.type}:{i}")'),
    ('x.to("cuda:" + ids["a"])', ['"cuda:" + ids["a"]'], None),
    ('print("cuda:%d" % i, "cuda:{}".format(i), "cuda:" + str(i))', [], None),
    ('os.environ["CUDA_VISIBLE_DEVICES"] = "0"', ["CUDA_VISIBLE_DEVICES"], None),
    ('v = os.environ.get("CUDA_VISIBLE_DEVICES")', ["CUDA_VISIBLE_DEVICES"], None),
    ('os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")', ["CUDA_VISIBLE_DEVICES"], None),
    ('print("set CUDA_VISIBLE_DEVICES"); log("CUDA_VISIBLE_DEVICES")', [], None),
    ("y = map(torch.Tensor.cuda, xs)", ["torch.Tensor.cuda"], "y = map(lambda each: each.to(DEVICE), xs)"),
    # Words that don't name a device.
    ('CUDA = "cuda"', ["'cuda'"], None),
    ('y = ("cuda", "xpu")', ["'cuda'"], None),
    ('y = ["cuda:0", "cuda:1"]', ["'cuda:0'", "'cuda:1'"], 'y = [f"{DEVICE.type}:0", f"{DEVICE.type}:1"]'),
    ('torch.library.custom_op("a::b", device_types="cuda")', ["'cuda'"], None),
    ("torch.manual_seed(1)\ntorch.cuda.manual_seed_all(1)", ["torch.cuda.manual_seed_all"], "torch.manual_seed(1)"),
    ("torch.manual_seed(1)\nx = draw()\ntorch.cuda.manual_seed_all(1)", ["torch.cuda.manual_seed_all"], None),
    ("torch.manual_seed(1)\ntorch.cuda.manual_seed_all(2)", ["torch.cuda.manual_seed_all"], None),
    # Libraries and switches.
    (
        'dist.init_process_group("nccl")',
        ["'nccl'"],
        "dist.init_process_group(dist.get_default_backend_for_device(DEVICE))",
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


def defined(text):
    """A text with the definition of DEVICE after its imports, if it uses that."""
    return text.replace(HEAD, HEAD + DEFINITION) if "DEVICE" in text else text


@pytest.mark.parametrize(("line", "found", "fixed"), CASES)
def test_lines(line, found, fixed):
    alone = "\n" in line or line.startswith(("if", "with", "def", '"""'))
    text = f"{HEAD}{line}\n" if alone else f'{HEAD}é = "ü"; {line}\n'
    seen = find(text, "a.py")
    assert [each.found for each in seen] == found
    new = fix.edited(text, all_edits(seen))
    assert new == (text if fixed is None else defined(text.replace(line, fixed)))
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
            f"{DEFINITION}with autocast(DEVICE.type, enabled={ON}): "
            f"s = GradScaler(DEVICE.type, init_scale=2.0, enabled={ON})\n",
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


PLACES = [
    # After the imports, the docstring and __future__.
    ('"""Text."""\n\nfrom __future__ import annotations\n\nimport torch\nimport os\n\n\ndef f():\n    x.cuda()\n', 7),
    # After a variable that CUDA's driver reads when it starts.
    ('import os\nimport torch\n\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\nx = y.cuda()\n', 5),
    ("import torch\ntry:\n    import a\nexcept ImportError:\n    a = None\nx = y.cuda()\n", 6),
    ("import torch\nx = y.cuda()\nimport os\n", 2),
    # No place is right: the driver would start before the variable is set, or in a process that forks.
    ('import os, torch\ndef main():\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n    x.cuda()\n', None),
    ("import torch, multiprocessing\nmultiprocessing.Process(target=f)\nx = y.cuda()\n", None),
    ("def f():\n    import torch\n    x.cuda()\n", None),
    ("import torch; x = y.cuda()\n", None),
    # TorchScript knows no globals.
    ("import torch\n@torch.jit.script\ndef f(x):\n    return x.cuda()\n", None),
    ("import torch\nclass Batch:\n    def cuda(self): pass\nx = Batch().cuda()\n", None),
]


@pytest.mark.parametrize(("text", "line"), PLACES)
def test_where_the_device_is_defined(text, line):
    new = fix.edited(text, all_edits(find(text, "a.py")))
    places = [at for at, each in enumerate(new.splitlines()) if each.startswith("DEVICE = ")]
    assert places == ([] if line is None else [line]) and (line is not None or new == text)


@pytest.mark.parametrize(
    "value",
    [
        'torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        'torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")',
    ],
)
def test_a_variable_of_the_file_serves_as_its_device(value):
    def fixed(text):
        return fix.edited(text, all_edits(find(text, "a.py")))

    definition = DEFINITION.strip().replace("DEVICE", "device")
    start, rest = "import torch\n", "\nx.cuda()\n"
    assert fixed(f"{start}device = {value}{rest}") == f"{start}{definition}\nx.to(device)\n"
    assert fixed(f"{start}{definition}{rest}") == f"{start}{definition}\nx.to(device)\n"
    other = f"{start}device = {value}{rest}def f(device): pass\n"  # the name means two things
    assert fixed(other) == f"{start}{DEFINITION}device = DEVICE\nx.to(DEVICE)\ndef f(device): pass\n"
    silent = f"device = {value}  # lint-cuda: off\n"
    assert fixed(f"{start}{silent}x.cuda()\n").endswith(f"\n{silent}x.to(DEVICE)\n")
    before = f"{start}def f(): x.cuda()\nf()\ndevice = {value}\n"
    assert fixed(before) == f"{start}{DEFINITION}def f(): x.to(DEVICE)\nf()\ndevice = DEVICE\n"


def test_the_device_gets_a_name_that_is_free():
    taken = "DEVICE = ACCELERATOR = TORCH_DEVICE = ACCELERATOR_DEVICE = DEVICE_2 = 1"
    text = f"import torch\n{taken}\nx.cuda()\n"
    assert "x.to(DEVICE_3)" in fix.edited(text, all_edits(find(text, "a.py")))


@pytest.mark.parametrize("use", ["wrap = autocast", "with autocast(): pass  # lint-cuda: off"])
def test_an_import_is_fixed_with_all_uses_of_its_names_or_not_at_all(use):
    text = f"import torch\nfrom torch.cuda.amp import autocast\nwith autocast(): pass\n{use}\n"
    assert fix.edited(text, all_edits(find(text, "a.py"))) == text


LONG = [
    (
        '            call_something(first_argument, second, device="cuda", name="aaaaa")\n',
        "            call_something(\n"
        '                first_argument, second, device=DEVICE.type, name="aaaaa"\n'
        "            )\n",
    ),
    (
        "            x = a_name(some_argument).cuda() if a_condition else something(at)\n",
        "            x = (\n"
        "                a_name(some_argument).to(DEVICE)\n"
        "                if a_condition\n"
        "                else something(at)\n"
        "            )\n",
    ),
    (
        "            some_flag = torch.cuda.is_available() and another_flag_of_it_\n",
        "            some_flag = (\n"
        "                torch.accelerator.is_available()\n"
        "                and another_flag_of_it_\n"
        "            )\n",
    ),
    (
        "            x = tensor_of_a_name.cuda()  # a comment that fills all the line up\n",
        "            # a comment that fills all the line up\n            x = tensor_of_a_name.to(DEVICE)\n",
    ),
    (
        '            print(f"{torch.cuda.current_device()} is the index of the gpu")\n',
        "            print(\n"
        '                f"{torch.accelerator.current_device_index()} is the index of "\n'
        '                "the gpu"\n'
        "            )\n",
    ),
]


@pytest.mark.parametrize(("line", "fixed"), LONG)
def test_a_line_that_gets_too_long_is_broken(line, fixed):
    text = f"import torch\n\n\ndef f():\n    if a:\n        if b:\n{line}"
    new = fitted(fix.edited(text, all_edits(find(text, "a.py"))), text)
    assert new.endswith(f"        if b:\n{fixed}") and max(map(len, new.splitlines())) < 80


def _advice():
    """All that the tool advises."""
    yield from (row.write for row in ROWS.values())
    yield from (*NOTES.values(), *OTHER.values(), *(name for name, _ in AMP.values()))
    for text in [HEAD + case[0] for case in CASES] + [path.read_text() for path in SCRIPTS.glob("*.py")]:
        yield from (each.write for each in find(text, "a.py"))


def test_the_names_that_are_advised_exist():
    import torch.utils.cpp_extension

    # The module of CUDA's devices has all that a backend's may have.
    texts = {text.replace("torch.get_device_module().", "torch.cuda.") for text in _advice()}
    names = {name for text in texts for name in re.findall(r"\btorch(?:\.[A-Za-z_]\w*)+", text)}
    assert len(names) > 60 and "torch.amp.custom_fwd" in names
    missing = []
    for name in sorted(names):
        value = torch
        for part in name.split(".")[1:]:
            value = getattr(value, part, None)
        if value is None:
            missing.append(name)
    assert missing == []


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_works_without_cuda_is_known():
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    same = {"is_available", "device_count"}  # torch.accelerator's give the same
    for name in sorted(name for name, row in ROWS.items() if row.fix and name not in same):
        arguments = ([],) if name == "set_rng_state_all" else ()
        try:
            value = getattr(torch.cuda, name)(*arguments)
        except Exception:
            assert name not in WITHOUT_CUDA
        else:
            if not (isinstance(value, BaseException) or hasattr(value, "__enter__")):
                assert value == ast.literal_eval(WITHOUT_CUDA[name] or "None"), name


def test_program(tmp_path, capsys):
    script, other = tmp_path / "a.py", tmp_path / ".venv/b.py"
    other.parent.mkdir()
    other.write_text("x.cuda()\n")
    before = b"\xef\xbb\xbfimport torch\r\nx = y.cuda()\r\n"
    script.write_bytes(before)
    script.chmod(0o750)
    assert program.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[:3] == [
        f"{script}:2:7: .cuda(): use .to(DEVICE) [fix]",
        'DEVICE is torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")',
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
    definition = DEFINITION.replace("\n", "\r\n").encode()
    assert script.read_bytes() == before.replace(b"x = y.cuda()", definition + b"x = y.to(DEVICE)")
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
        "language": [],
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
