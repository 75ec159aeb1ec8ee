"""Minimal trees with the ports in external/: the start of a bring-up. test_external.py has the whole tree."""

import re
import sys

import pytest
from ports import BUILT, ROOT, ladder, new_tree, on_the_card, run


@pytest.mark.parametrize("port", [pytest.param("host_port.cpp", marks=pytest.mark.nightly), "card_port.cpp"])
def test_minimal(port, tmp_path):
    """The start of a bring-up climbs the ladder, passes all its tests and trains."""
    tree = new_tree(tmp_path, "--profile", "minimal", port=ROOT / "tests/external" / port)
    run(sys.executable, "setup.py", "-q", "egg_info", cwd=tree)  # PyTorch finds its entry point
    result = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=tree)
    assert re.search(r"^\d+ passed", result.stdout, re.MULTILINE), result.stdout
    assert "skipped" not in result.stdout
    outcomes, output = ladder(tree)
    assert set(outcomes.values()) == {"PASSED"}, output
    if port == "card_port.cpp":
        on_the_card(tree, str(ROOT / "tests/external/card_tests.py"), "--rootdir", ".")
        on_the_card(tree, *[str(BUILT / f"test_{name}.py") for name in ("surface", "layouts", "dtypes")])
    run("env", "TORCH_DEVICE_BACKEND_AUTOLOAD=1", sys.executable, "examples/train_mlp.py", cwd=tree)


@pytest.mark.nightly
def test_host_code_on_the_memory_of_a_port(tmp_path):
    """With component host_alias, on a port whose functions reach device memory: the ladder, operators, what falls back."""
    port = ROOT / "tests/external/host_port.cpp"
    tree = new_tree(
        tmp_path, "--profile", "minimal", port=port, components=["host_alias", "testing", "fallback_report"]
    )
    run(sys.executable, "setup.py", "-q", "egg_info", cwd=tree)  # PyTorch finds its entry point
    outcomes, output = ladder(tree)
    assert set(outcomes.values()) == {"PASSED"}, output
    names = "operators fallback fallback_report as_on_the_cpu minimal_set"
    on_the_card(tree, *[f"tests/test_{name}.py" for name in names.split() if (tree / f"tests/test_{name}.py").exists()])
    on_the_card(tree, str(BUILT / "test_host_code.py"))
