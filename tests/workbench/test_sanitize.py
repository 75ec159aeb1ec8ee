"""openreg-gen sanitize: planted races are found, the same programs without them are not reported."""

import json
import pathlib
import sys

import pytest
import torch
from openreg_gen.sanitize import HooksError, RaceError, Sanitizer, accesses, hooks
from openreg_gen.sanitize import memory as memory_module
from openreg_gen.sanitize.__main__ import main
from openreg_gen.sanitize.clocks import HOST, Clocks, Stream
from openreg_gen.sanitize.findings import Kind
from openreg_gen.sanitize.memory import Access, Geometry, Memory
from openreg_gen.sanitize.stacks import Stack
from races import RACES

ONE, TWO = Stream(0, 0), Stream(0, 1)
NOWHERE = Stack((), "")


def never(access):
    return False


KINDS = {"forgotten_record_stream": Kind.REUSE, "staging_refilled": Kind.HOST, "result_read_early": Kind.HOST}


# Without a device.


def test_a_stream_that_waits_for_an_event_knows_what_was_queued_before_it():
    clocks = Clocks()
    before = clocks.tick(ONE)
    clocks.record(1, ONE)
    after = clocks.tick(ONE)
    assert not clocks.ordered(ONE, before, TWO)
    clocks.wait(1, TWO)
    assert clocks.ordered(ONE, before, TWO)
    assert not clocks.ordered(ONE, after, TWO)
    assert clocks.ordered(ONE, after, ONE)


def test_what_the_host_waited_for_comes_before_all_that_follows():
    clocks = Clocks()
    tick = clocks.tick(ONE)
    assert not clocks.ordered(ONE, tick, HOST)
    clocks.synchronize_device(1)
    assert not clocks.ordered(ONE, tick, HOST)
    clocks.synchronize_stream(ONE)
    assert clocks.ordered(ONE, tick, HOST)
    assert clocks.ordered(ONE, tick, TWO)


def test_waiting_is_passed_on():
    clocks, three = Clocks(), Stream(1, 0)
    tick = clocks.tick(ONE)
    for event, (stream, waits) in enumerate([(ONE, TWO), (TWO, three)]):
        clocks.record(event, stream)
        clocks.wait(event, waits)
    assert clocks.ordered(ONE, tick, three)


def access(start, end, stream=ONE, tick=1, write=True):
    where = Geometry(start, end, (end - start,), (1,), 1)
    return Access(stream, tick, write, "aten.op", "self", "uint8[]", where, NOWHERE)


def free(memory, start, end, stream=ONE, recorded=()):
    memory.allocate(start, ONE, NOWHERE)
    block = memory.find(start)
    block.end, block.recorded = end, set(recorded)
    block.add(access(start, end, stream), never)
    memory.free(start)


def test_what_used_freed_memory_stays_known_until_others_used_it():
    memory = Memory(free_waits=False)
    free(memory, 100, 200)
    free(memory, 200, 300, TWO)
    assert [each.stream for _, each in memory.remains(150, 250)] == [ONE, TWO]
    assert not list(memory.remains(0, 100))
    assert not list(memory.remains(300, 400))
    free(memory, 150, 250, TWO)
    assert [each.where.start for _, each in memory.remains(0, 1000)] == [100, 150, 200]
    assert [each.where.start for _, each in memory.remains(150, 250)] == [150]


def test_memory_that_is_allocated_again_was_freed():
    memory, freed = Memory(free_waits=False), []
    for start, end in ((100, 200), (200, 300), (400, 500)):
        memory.allocate(start, ONE, NOWHERE)
        block = memory.find(start)
        block.end = end
        block.add(access(start, end), never)
    memory.free = lambda start, free=memory.free: (freed.append(start), free(start))
    memory.allocate(150, ONE, NOWHERE)  # in the middle of the first
    storage = torch.zeros(100, dtype=torch.uint8).untyped_storage()
    memory.block_of(storage, 150)  # which covers the second, too
    assert freed == [100, 150, 200]
    assert memory.find(400)
    assert [each.where.start for _, each in memory.remains(0, 1000)] == [100, 200]


def test_memory_that_nobody_used_leaves_the_remains_as_they_were():
    memory = Memory(free_waits=False)
    free(memory, 100, 200)
    memory.allocate(100, ONE, NOWHERE)
    memory.free(100)
    assert list(memory.remains(100, 200))


@pytest.mark.parametrize(("waits", "recorded"), [(True, ()), (False, (TWO,))])
def test_no_remains_if_the_allocator_waits(waits, recorded):
    memory = Memory(waits)
    free(memory, 100, 200, TWO, recorded)
    assert not list(memory.remains(0, 1000))


def test_a_write_stands_for_what_it_covers():
    memory = Memory(free_waits=False)
    memory.allocate(0, ONE, NOWHERE)
    block = memory.find(0)
    reads = [access(0, 10, ONE, 1, False), access(5, 20, TWO, 1, False)]
    for each in (*reads, access(0, 10, ONE, 2)):
        block.add(each, never)
    assert [each.where[:2] for each in block.accesses] == [(5, 20), (0, 10)]


def uses(func, *args, **kwargs):
    """Argument and access of what a call uses."""
    rule = accesses.rule(func)
    if rule is None:
        return []
    found = [*accesses.arguments(rule, args, kwargs), *accesses.results(rule, func(*args, **kwargs))]
    return [(each.argument, "write" if each.write else "read") for each in found]


def test_uses_follow_the_schema():
    aten, x = torch.ops.aten, torch.ones(2, 3)
    assert uses(aten.add.Tensor, x, x) == [("self", "read"), ("other", "read"), ("result", "write")]
    assert uses(aten.add_.Tensor, x, x) == [("self", "write"), ("other", "read")]
    assert uses(aten.add.out, x, x, out=torch.ones(2, 3)) == [("self", "read"), ("other", "read"), ("out", "write")]
    assert uses(aten.t.default, x) == uses(aten.empty_like.default, x) == []
    assert uses(aten.zeros_like.default, x) == [("result", "write")]
    assert uses(aten._foreach_add.Scalar, [x, x], 1) == [("self", "read")] * 2 + [("result", "write")] * 2
    values = uses(aten.max.dim, x, 1)
    assert values == [("self", "read"), ("result 0", "write"), ("result 1", "write")]
    assert uses(aten.index.Tensor, x, [None, torch.tensor([0])])[:2] == [("self", "read"), ("indices", "read")]


@pytest.mark.parametrize(("sizes", "args"), [([2, 3], ()), ([2, 4], (1,)), ([9], (1,))])
def test_a_resize_that_needs_more_memory_copies(sizes, args):
    x = torch.ones(2, 3)
    assert accesses.grows((x, sizes)) is bool(args)
    assert accesses.grows((x, torch.empty(sizes))) is bool(args)


@pytest.mark.parametrize(("training", "does"), [(True, "write"), (False, "read")])
def test_batch_normalization_in_training_writes_its_statistics(training, does):
    x, v = torch.ones(4, 3), torch.ones(3)
    args = (x, v, v, v.clone(), v.clone(), training, 0.1, 1e-5)
    found = uses(torch.ops.aten.native_batch_norm.default, *args)
    assert found[3:5] == [("running_mean", does), ("running_var", does)]
    by_name = dict(zip(("running_mean", "running_var", "training", "momentum", "eps"), args[3:], strict=True))
    found = uses(torch.ops.aten.native_batch_norm.default, *args[:3], **by_name)
    assert found[3:5] == [("running_mean", does), ("running_var", does)]


def test_a_strided_write_stands_for_no_other_one():
    memory, x = Memory(free_waits=False), torch.zeros(4, 4, dtype=torch.uint8)
    memory.allocate(0, ONE, NOWHERE)
    block = memory.find(0)
    for stream, part in ((ONE, x[:, 1]), (TWO, x[:, 0::2]), (TWO, x[:, 0::2]), (ONE, x[2])):
        where = accesses.geometry(part, part.data_ptr() - int(part.storage_offset()))
        block.add(Access(stream, 1, True, "", "", "", where, NOWHERE), never)
    assert [each.where.sizes for each in block.accesses] == [(4,), (4, 2), (4,)]
    whole = accesses.geometry(x, x.data_ptr())
    block.add(Access(TWO, 2, True, "", "", "", whole, NOWHERE), never)
    assert [each.where.sizes for each in block.accesses] == [(4, 4)]


def test_a_block_with_very_many_accesses_forgets_those_that_are_over_first(monkeypatch):
    monkeypatch.setattr(memory_module, "_MOST", 100)
    memory = Memory(free_waits=False)
    memory.allocate(0, ONE, NOWHERE)
    block, forgotten = memory.find(0), 0
    for place in range(200):
        forgotten += block.add(access(place, place + 1), lambda each: each.where.start < 90)
    assert forgotten > 0
    assert len(block.accesses) + forgotten == 110


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        (lambda x: x[:, :2], lambda x: x[:, 2:], False),
        (lambda x: x[:, :3], lambda x: x[:, 2:], True),
        (lambda x: x[::2], lambda x: x[1::2], False),
        (lambda x: x.t(), lambda x: x[1], True),
        (lambda x: x[0], lambda x: x[1], False),
        (lambda x: x[:, 0], lambda x: x[:, 1].expand(4, 4), False),
        (lambda x: x.as_strided((3, 3), (2, 2)), lambda x: x.view(-1)[1:9:2], False),
        (lambda x: x.as_strided((3, 3), (2, 2)), lambda x: x.view(-1)[2:9:2], True),
        (lambda x: x.view(torch.int8)[:, ::2], lambda x: x.view(torch.int8)[:, 1::2], False),
        (lambda x: x.view(torch.int8)[:, ::2], lambda x: x[:, 1], True),
        (lambda x: x.expand(2, 4, 4)[:, :, :2], lambda x: x.t()[2:], False),
    ],
)
def test_parts_of_a_tensor(one, other, share):
    x = torch.zeros(4, 4, dtype=torch.int16)
    a, b = (
        Access(stream, 1, True, "", "", "", accesses.geometry(part(x), x.data_ptr()), NOWHERE)
        for part, stream in ((one, ONE), (other, TWO))
    )
    assert a.overlaps(b) is b.overlaps(a) is share


def test_numbers_of_streams():
    streams = hooks.Streams()
    assert streams.numbered(20 << 56 | 1 << 48 | 33) == Stream(1, 33)
    assert streams.numbered(20 << 56 | (1 << 48) - 5) == Stream(0, -5)


def test_the_cpu_has_no_streams():
    with pytest.raises(HooksError, match="no streams"):
        Sanitizer("cpu")


def test_a_backend_without_hooks():
    with pytest.raises(HooksError, match="calls no trace hooks") as caught:
        hooks.module_of("nobody")
    assert "add component sanitizer" in str(caught.value)


# On a device whose backend calls the hooks.


@pytest.fixture
def hooked(device):
    if not hasattr(getattr(torch, device), "_gpu_trace"):
        pytest.skip("the backend calls no trace hooks")
    torch.accelerator.synchronize()
    return device


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_found(hooked, name):
    with Sanitizer(hooked) as races:
        RACES[name](hooked, fixed=False)
    text = str(races)
    assert races.found == len(races.races) >= 1, text
    assert {race.kind for race in races.races} == {KINDS.get(name, Kind.ORDER)}, text
    for race in races.races:
        assert all("races.py" in each.stack.place[0] for each in (race.earlier, race.later) if not each.stack.node)
        assert race.fix[0] in text


@pytest.mark.parametrize("name", RACES)
def test_the_same_program_without_its_race(hooked, name):
    with Sanitizer(hooked) as races:
        RACES[name](hooked, fixed=True)
    assert not races.found, str(races)


def test_a_report_says_who_where_and_what_to_write(hooked):
    with Sanitizer(hooked) as races:
        RACES["missing_wait"](hooked, fixed=False)
    text = str(races)
    assert "argument self of aten.sum" in text
    assert "float32[4096]" in text
    assert "in missing_wait: x.sum()" in text
    assert "second.wait_stream(first)" in text
    assert f"first is the default stream of {hooked}:0" in text


def test_two_streams_may_use_two_parts(hooked):
    side, x = torch.Stream(hooked), torch.zeros(8, 8, device=hooked)
    torch.accelerator.synchronize()
    with Sanitizer(hooked) as races:
        x[:, :4].add_(1)
        with side:
            x[:, 4:].add_(1)
        assert not races.found
        with side:
            x[:, 3:].add_(1)
        assert races.found == 1
        torch.accelerator.synchronize()


def test_two_streams_may_read(hooked):
    side, x = torch.Stream(hooked), torch.zeros(8, device=hooked)
    torch.accelerator.synchronize()
    with Sanitizer(hooked) as races:
        x + 1
        with side:
            x + 1
        torch.accelerator.synchronize()
    assert not races.found, str(races)


def test_a_query_that_says_yes_is_a_wait(hooked):
    side, x = torch.Stream(hooked), torch.zeros(8, device=hooked)
    with Sanitizer(hooked) as races:
        x.add_(1)
        while not torch.accelerator.current_stream().query():
            pass
        with side:
            x.add_(1)
        torch.accelerator.synchronize()
    assert not races.found, str(races)


@pytest.mark.filterwarnings("ignore:The AccumulateGrad")
def test_backward_waits_between_its_streams(hooked):
    """The autograd engine orders streams itself, and calls record_stream in C++."""
    side, x = torch.Stream(hooked), torch.ones(64, device=hooked, requires_grad=True)
    with Sanitizer(hooked) as races:
        for _ in range(3):
            side.wait_stream(torch.accelerator.current_stream())
            with side:
                y = x * 2
            z = x * 3
            torch.accelerator.current_stream().wait_stream(side)
            y.record_stream(torch.accelerator.current_stream())
            (y + z).sum().backward()
            del y, z
        torch.accelerator.synchronize()
    assert not races.found, str(races)


def test_a_numpy_array_of_a_copy_that_nobody_waited_for(hooked):
    x = torch.ones(64, device=hooked)
    with Sanitizer(hooked) as races:
        x.to("cpu", non_blocking=True).numpy()
    assert [(race.kind, race.later.op) for race in races.races] == [(Kind.HOST, "Tensor.numpy")]


def test_a_race_in_a_loop_is_one(hooked):
    side, x = torch.Stream(hooked), torch.zeros(8, device=hooked)
    with Sanitizer(hooked, limit=1) as races:
        for _ in range(5):
            x.add_(1)
            with side:
                x.sum()
        torch.accelerator.synchronize()
    assert races.found == 2  # and the next round's add_ doesn't wait for sum
    assert len(races.races) == 1
    assert races.times > 5
    assert "--limit 2" in str(races)


def test_first(hooked):
    with pytest.raises(RaceError), Sanitizer(hooked, raise_on_first=True):
        RACES["missing_wait"](hooked, fixed=False)
    torch.accelerator.synchronize()


SCRIPT = pathlib.Path(__file__).with_name("races.py")


def test_the_command(hooked, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "1")  # main() sets it, and leaves it so
    words = ("--device", hooked, f"--json={tmp_path}/found.json", str(SCRIPT), "--", "two_writers")
    assert main(words) == 1
    assert "race 1: two streams use one block without order" in capsys.readouterr().err
    found = json.loads((tmp_path / "found.json").read_text())
    (race,) = found["races"]
    assert race["kind"] == "order"
    assert race["first"]["operator"] == race["second"]["operator"] == "aten.add_.Tensor"
    assert "races.py" in race["second"]["stack"][0]


def test_the_plugin_changes_no_variable_of_the_environment(run_python):
    """A test may start processes, and expect PyTorch's warnings of them."""
    code = "import os; os.environ.pop('TORCH_CPP_LOG_LEVEL', None); import torch; before = dict(os.environ); import openreg_gen.sanitize.pytest_plugin as _, openreg_gen.compare"
    run_python("-c", f"{code}; assert os.environ == before, set(os.environ.items()) - set(before.items())")


def test_what_is_compiled_runs_compiled(hooked):
    """`fullgraph` raises where PyTorch doesn't compile, as it doesn't under most modes."""
    compiled = torch.compile(lambda x: x * 2 + 1, backend="aot_eager", fullgraph=True)
    with Sanitizer(hooked) as races:
        assert compiled(torch.ones(4, device=hooked)).cpu().tolist() == [3] * 4
    assert races.found == 0


@pytest.mark.nightly
@pytest.mark.parametrize(("words", "code"), [(("two_writers", "fixed"), 0), (("missing_wait",), 1)])
def test_exit_codes(hooked, run_python, words, code):
    done = run_python("-m", "openreg_gen.sanitize", "--device", hooked, "--json", SCRIPT, "--", *words, code=code)
    assert json.loads(done.stdout)["found"] == code


@pytest.mark.nightly
def test_pytest_under_the_sanitizer(hooked, run_python, tmp_path):
    (tmp_path / "test_two.py").write_text(
        f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r})\n"
        "import pytest, races\n"
        "@pytest.mark.parametrize('fixed', [False, True])\n"
        f"def test_it(fixed): races.two_writers({hooked!r}, fixed)\n"
    )
    plugin = ("-p", "openreg_gen.sanitize.pytest_plugin")
    done = run_python("-m", "pytest", "-q", *plugin, "test_two.py", code=1, OPENREG_GEN_DEVICE=hooked)
    assert "1 failed, 1 passed" in done.stdout
    assert "two streams use one block without order" in done.stdout
