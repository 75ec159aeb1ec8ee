"""Calls every public function, class and method of torch.accelerator and of torch.NAME: test_surface.py reads what it prints.

`python surface_calls.py PACKAGE NAME FIRST` starts at call FIRST. Each call prints a line of JSON when it begins and one when it has ended,
so the last line names the call that ended the process.
"""

import dataclasses
import enum
import importlib
import inspect
import json
import sys
import types
from collections.abc import Callable, Iterator

import torch

PACKAGE, NAME, FIRST = sys.argv[1], sys.argv[2], int(sys.argv[3])
importlib.import_module(PACKAGE)
D = torch.device(NAME, 0)
api = torch.get_device_module(NAME)

# By the parameter's name, or by the function's and the parameter's.
ARGUMENTS = {
    "abbreviated": lambda: True,
    "allow_unused_input": lambda: True,
    "alloc_fn_name": lambda: "alloc",
    "change_current_allocator.allocator": lambda: api.memory._get_current_allocator(),
    "allocator": lambda: None,
    "blocking": lambda: True,
    "cache_enabled": lambda: True,
    "callables": lambda: torch.nn.Linear(2, 2).to(D),
    "capture_error_mode": lambda: "thread_local",
    "check_available": lambda: True,
    "device": lambda: 0,
    "device_index": lambda: 0,
    "dtype": lambda: torch.float16,
    "enable_timing": lambda: True,
    "enabled": lambda: True,
    "end_event": lambda: torch.Event(D, enable_timing=True),
    "event": lambda: torch.Event(D),
    "fraction": lambda: 1.0,
    "free_fn_name": lambda: "free",
    "function": lambda: 0,
    "graph": lambda: api.Graph(),
    "include_traces": lambda: False,
    "index": lambda: 0,
    "info": lambda: (1, 2),
    "interprocess": lambda: False,
    "ipc_handle": lambda: b"none",
    "keep_graph": lambda: True,
    "mem_ptr": lambda: api.caching_allocator_alloc(1024),
    "memory_snapshot.mempool_id": lambda: None,
    "set_growth_interval.new_interval": lambda: 2,
    "new_factor": lambda: 0.5,
    "set_growth_factor.new_factor": lambda: 2.0,
    "new_scale": lambda: 4.0,
    "new_state": lambda: api.get_rng_state(),
    "new_states": lambda: api.get_rng_state_all(),
    "no_split": lambda: False,
    "num_warmup_iters": lambda: 1,
    "obj": lambda: torch.ones(2, device=D),
    "observer": lambda: lambda *_: None,
    "optimizer": lambda: torch.optim.SGD([torch.ones(1, device=D, requires_grad=True)], lr=0.1),
    "outputs": lambda: torch.ones(1, device=D),
    "path": lambda: "/nowhere/graph.dot",
    "path_to_so_file": lambda: "/nowhere.so",
    "peer_device": lambda: api.device_count() - 1,
    "pool": lambda: None,
    "priority": lambda: -1,
    "sample_args": lambda: (torch.ones(2, 2, device=D),),
    "seed": lambda: 7,
    "size": lambda: 1024,
    "state_dict": lambda: api.amp.GradScaler().state_dict(),
    "stats": lambda: api.memory_stats(),
    "stream": lambda: torch.Stream(D),
    "caching_allocator_alloc.stream": lambda: None,
    "use_mem_pool.pool": lambda: api.MemPool(),
    "use_on_oom": lambda: False,
    "value": lambda: True,
}
# Functions in C, whose parameters Python doesn't know.
IN_C = {
    "query": [],
    "synchronize": [],
    "wait": [],
    "record": [],
    "record_event": [],
    "elapsed_time": ["end_event"],
    "ipc_handle": [],
    "from_ipc_handle": ["device", "ipc_handle"],
    "is_capturing": [],
    "wait_event": ["event"],
    "wait_stream": ["stream"],
    "capture_begin": [],
    "capture_end": [],
    "instantiate": [],
    "replay": [],
    "reset": [],
    "pool": [],
    "enable_debug_mode": [],
    "debug_dump": ["path"],
    "use_count": [],
}


def modules() -> Iterator[tuple[str, types.ModuleType]]:
    yield "torch.accelerator", torch.accelerator
    for name in ("memory", "graphs", "random"):
        if isinstance(found := getattr(torch.accelerator, name, None), types.ModuleType):
            yield f"torch.accelerator.{name}", found
    yield f"torch.{NAME}", api
    for name, found in vars(api).items():
        if isinstance(found, types.ModuleType) and found.__name__.startswith(f"{PACKAGE}.backend.") and name[0] != "_":
            yield f"torch.{NAME}.{name}", found


def names_of(module: types.ModuleType) -> list[str]:
    names = {name for name in dir(module) if name[0] != "_"} | set(getattr(module, "__all__", ()))
    if module is api and (absent := sys.modules.get(f"{PACKAGE}._absent")) is not None:
        names |= {name for words in absent._NAMES.values() for name in words.split()}
    return sorted(names)


def is_ours(found: object) -> bool:
    """Not what a module imports from elsewhere, such as typing.Any or once_differentiable."""
    home = getattr(found, "__module__", None) or PACKAGE
    return (
        not home.startswith("torch.autograd")
        and home.partition(".")[0] in ("torch", PACKAGE)
        and not isinstance(found, types.ModuleType)
    )


def given(function: Callable[..., object], name: str, every: bool) -> tuple[list[object], dict[str, object]]:
    """Arguments for what a function demands, or for all that it takes."""

    def argument(parameter: str) -> object:
        for key in (f"{name}.{parameter}", parameter):
            if key in ARGUMENTS:
                return ARGUMENTS[key]()
        raise LookupError(f"surface_calls.py has no argument for {parameter!r} of {name}()")

    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        if name not in IN_C:
            raise LookupError(f"surface_calls.py has no arguments for {name}(), which is in C") from None
        return [argument(parameter) for parameter in IN_C[name]], {}
    positional, named = [], {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty and not every:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
            named[parameter.name] = argument(parameter.name)
        else:
            positional.append(argument(parameter.name))
    return positional, named


def call(function: Callable[..., object], name: str, every: bool) -> object:
    positional, named = given(function, name, every)
    only_positional = {"device", "device_index", "mempool_id"} & named.keys()
    if only_positional and any(p.kind is p.POSITIONAL_ONLY for p in inspect.signature(function).parameters.values()):
        positional += [named.pop(each) for each in only_positional]
    return function(*positional, **named)


def members(kind: type) -> list[str]:
    return sorted(
        name
        for name in dir(kind)
        if name[0] != "_" and not inspect.isclass(getattr(kind, name)) and not hasattr(object, name)
    )


def use(kind: type, name: str, member: str, every: bool) -> object:
    made = call(kind, name, every)
    try:
        found = getattr(made, member)
        return call(found, member, every) if callable(found) else found
    finally:
        if hasattr(made, "capture_end") and api.is_current_stream_capturing():
            made.capture_end()


def enter(made: object) -> object:
    if hasattr(made, "__enter__"):
        with made:
            pass
    return made


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Each with its label; every function once, though several modules have it."""
    seen = set()
    for where, module in modules():
        for name in names_of(module):
            label = f"{where}.{name}"
            try:
                found = getattr(module, name)
            except Exception:  # asked again as a call, which reports it
                yield label, lambda module=module, name=name: getattr(module, name)
                continue
            if not is_ours(found) or (callable(found) and id(found) in seen):
                continue
            seen.add(id(found))
            if not callable(found) or (
                isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, (enum.Enum, tuple)))
            ):
                yield label, lambda found=found: repr(found)
                continue
            for every in (False, True):
                said = f"{label}({'...' if every else ''})"
                yield said, lambda found=found, name=name, every=every: enter(call(found, name, every))
                if inspect.isclass(found):
                    for member in members(found):
                        yield (
                            f"{said}.{member}",
                            lambda found=found, name=name, member=member, every=every: use(found, name, member, every),
                        )


def say(*what: object) -> None:
    print(json.dumps(what), file=sys.__stdout__, flush=True)


def main() -> None:
    torch.ones(2, device=D)  # as in a program that has used the device
    side = torch.Stream(D)  # the default stream can't be captured everywhere
    for number, (label, function) in enumerate(calls()):
        if number < FIRST:
            continue
        say("begins", number, label)
        torch.accelerator.set_stream(side)
        try:
            function()
        except Exception as error:
            say("raised", number, label, type(error).__name__, str(error))
        else:
            say("answered", number, label)
        for device in range(api.device_count()):
            api.set_stream(api.default_stream(device))
        api.set_device(0)
    say("done")


main()
