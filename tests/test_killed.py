"""The command killed at each of its write calls and at random times: what is there afterwards is the old tree or the
new one, and what its owner wrote."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest
from trees import COMMAND, GENERATED, SHARED, files

CALLS = "write,mkdir,fchmod,fsync,syncfs,rename,renameat2,link,linkat,unlink,unlinkat,rmdir"
KERNEL = "csrc/aten/native/relu.cpp"


def bytes_of(root):
    return {name: path.read_bytes() for name, path in files(root).items()}


def reset(root, original):
    shutil.rmtree(root)
    subprocess.run(["cp", "-a", original, root], check=True)


@pytest.fixture(scope="module")
def edited(pristine, tmp_path_factory):
    """A tree with edits of its owner, to which a run has work to do."""
    tree = shutil.copytree(pristine, tmp_path_factory.mktemp("edited") / "torch_mybackend")
    for name in (KERNEL, SHARED):
        with (tree / name).open("a") as file:
            file.write("\n")
    return tree


@pytest.fixture(scope="module")
def strace():
    """Runs argv under strace."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    if subprocess.run(["strace", "-qq", "-e", "trace=none", "true"], check=False, capture_output=True).returncode:
        pytest.skip("strace may not trace here")

    def run(argv, env, *options):
        return subprocess.run(
            ["strace", "-qq", *options, *map(str, argv)], check=False, env=env, capture_output=True, text=True
        )

    return run


def write_calls(strace, argv, env, log):
    assert strace(argv, env, "-o", log, "-e", f"trace={CALLS}").returncode == 0
    names = re.findall(r"^(\w+)\(", log.read_text(), re.MULTILINE)
    return {name: names.count(name) for name in sorted(set(names))}


def kill_at_each_call(openreg_gen, strace, env, tmp_path, start, *verb):
    root = tmp_path / "torch_mybackend"
    shutil.copytree(start, root)
    argv = [COMMAND, *verb, "-C", root]
    before = bytes_of(root)
    calls = write_calls(strace, argv, env, tmp_path / "calls")
    after = bytes_of(root)
    assert after != before and {"write", "rename", "renameat2"} <= set(calls)
    outcomes = []
    for name, count in calls.items():
        for number in range(1, count + 1):
            reset(root, start)
            killed = strace(
                argv, env, "-o", "/dev/null", "-e", f"trace={name}", "-e", f"inject={name}:signal=KILL:when={number}"
            )
            if name == "write" and number > count // 3 and killed.returncode == 0:
                break  # the renderer's pipe took its input in fewer writes this time
            assert killed.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), killed
            openreg_gen("generate", "-C", root)
            assert not (root / ".openreg-gen/tmp").exists()
            now = bytes_of(root)
            assert now in (before, after), f"killed at {name} {number}"
            outcomes.append(now == after)
    assert True in outcomes and False in outcomes
    return len(outcomes)


@pytest.fixture
def killing(environment, tmp_path):
    base, torch = environment
    (tmp_path / "temporary").mkdir()  # a killed merge leaves its folder behind
    return dict(base, TMPDIR=str(tmp_path / "temporary")), torch


def test_add_killed_at_each_write_call(openreg_gen, strace, killing, edited, tmp_path):
    env, torch = killing
    answer = kill_at_each_call(openreg_gen, strace, env, tmp_path, edited, "add", "nonzero", "--torch", torch)
    assert answer >= 20


def test_own_and_undo_killed_at_each_write_call(openreg_gen, strace, killing, edited, tmp_path):
    env, _ = killing
    (tmp_path / "own").mkdir()
    assert kill_at_each_call(openreg_gen, strace, env, tmp_path / "own", edited, "own", GENERATED) >= 10
    start = tmp_path / "start/torch_mybackend"
    shutil.copytree(edited, start)
    openreg_gen("add", "nonzero", "-C", start)
    assert kill_at_each_call(openreg_gen, strace, env, tmp_path, start, "undo") >= 15


def kill_at_random_times(openreg_gen, env, root, rounds, argv, reset_tree):
    """Returns what was seen: trees by their bytes."""
    begin = time.monotonic()
    subprocess.run(argv, check=True, env=env, stdout=subprocess.DEVNULL)
    span = time.monotonic() - begin
    rng = random.Random(20260101)
    seen, kills = [], 0
    for _ in range(rounds):
        reset_tree()
        child = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * span)
        child.kill()
        killed = child.wait() == -signal.SIGKILL
        kills += killed
        span *= 1 if killed else 0.8  # the first run may have been a slow one
        openreg_gen("generate", "-C", root)
        now = bytes_of(root)
        if now not in seen:
            seen.append(now)
    assert kills >= rounds // 4
    return seen


def rounds(otherwise):
    """OPENREG_GEN_KILLS=200 kills more often; an undo takes a tenth of the time that a render does."""
    return int(os.environ.get("OPENREG_GEN_KILLS", otherwise))


@pytest.mark.nightly
def test_undo_killed_at_random_times(openreg_gen, killing, edited, tmp_path):
    env, _ = killing
    root = shutil.copytree(edited, tmp_path / "torch_mybackend")
    before = bytes_of(root)
    openreg_gen("add", "nonzero", "-C", root)
    after = bytes_of(root)
    argv = [COMMAND, "undo", "-C", root]  # an undo, or what an undo undid
    seen = kill_at_random_times(openreg_gen, env, root, rounds("200"), argv, lambda: None)
    assert seen and all(now in (before, after) for now in seen)


@pytest.mark.nightly
def test_add_killed_at_random_times(openreg_gen, killing, edited, tmp_path):
    env, torch = killing
    root = shutil.copytree(edited, tmp_path / "torch_mybackend")
    before = bytes_of(root)
    openreg_gen("add", "nonzero", "-C", root)
    after = bytes_of(root)
    reset(root, edited)
    argv = [COMMAND, "add", "nonzero", "-C", root, "--torch", torch]
    seen = kill_at_random_times(openreg_gen, env, root, rounds("20"), argv, lambda: reset(root, edited))
    assert seen and all(now in (before, after) for now in seen)


@pytest.mark.nightly
def test_generate_killed_at_random_times(openreg_gen, killing, edited, tmp_path):
    """Another spec, to be rendered over a tree with an owner's edits: generate ends what a killed generate began."""
    env, torch = killing
    start = shutil.copytree(edited, tmp_path / "start")
    spec = start / "mybackend.yaml"
    spec.write_text(spec.read_text().replace("count: 2", "count: 3"))
    root = shutil.copytree(start, tmp_path / "torch_mybackend")
    openreg_gen("generate", "-C", root)
    after = bytes_of(root)
    assert after[KERNEL] == (edited / KERNEL).read_bytes() and after != bytes_of(start)
    argv = [COMMAND, "generate", "-C", root, "--torch", torch]
    seen = kill_at_random_times(openreg_gen, env, root, rounds("20"), argv, lambda: reset(root, start))
    assert seen == [after]


@pytest.mark.parametrize("late", [False, True])
def test_a_file_that_is_saved_in_the_moment_of_the_swap(environment, strace, edited, tmp_path, late):
    """The first swap is held up, after it was looked at what it replaces, for as long as an editor needs."""
    env, torch = environment
    root = shutil.copytree(edited, tmp_path / "torch_mybackend")
    journal = root / ".openreg-gen/tmp/journal.json"
    argv = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=renameat2"]
    argv += ["-e", "inject=renameat2:delay_enter=4000000:when=1", COMMAND, "add", "nonzero", "-C", root]
    before = bytes_of(root)
    child = subprocess.Popen([*argv, "--torch", torch], env=env, stderr=subprocess.PIPE, text=True)
    for _ in range(6000):
        if journal.exists() or child.poll() is not None:
            break
        time.sleep(0.01)
    time.sleep(0.3)
    replaced = [swap["to"] for swap in json.loads(journal.read_text())["swaps"] if swap["before"] and swap["after"]]
    victim = next(name for name in replaced if name == "mybackend.yaml" or not late)
    before[victim] += b"# saved meanwhile\n"
    (root / victim).write_bytes(before[victim])
    answer = child.communicate(timeout=60)[1]
    assert child.returncode == 1 and "E0522" in answer and f"'{victim}' was edited" in answer
    assert bytes_of(root) == before
