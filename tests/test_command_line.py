"""The command line itself: help, mistakes, completion."""

import json
import re
import shutil
import subprocess

import pytest
from trees import COMMAND


def test_version_and_help(openreg_gen):
    assert re.fullmatch(r"openreg-gen \d+\.\d+\.\d+\n", openreg_gen("--version").stdout)
    text = openreg_gen("--help").stdout
    assert "Examples:" in text and "Exit codes:" in text
    for verb in ("new", "generate", "check", "ops", "doctor", "schema", "completion"):
        assert re.search(rf"^ +{verb} +\S", text, re.MULTILINE), verb


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["gnerate"], "did you mean 'generate'?"),
        (["generate", "--chek"], "did you mean '--check'?"),
        (["new", "x", "--devcie=external"], "did you mean '--device'?"),
        (["new"], "NAME is required"),
        (["new", "x", "--device", "gpu"], "emulator"),
        (["--versoin"], "did you mean '--version'?"),
        ([], "Examples:"),
    ],
)
def test_a_wrong_command_line_is_exit_2(environment, argv, hint):
    outcome = subprocess.run([COMMAND, *argv], text=True, capture_output=True, check=False)
    assert outcome.returncode == 2 and hint in outcome.stderr
    assert outcome.stdout == ""


def test_failures_in_json(openreg_gen, tmp_path):
    told = json.loads(openreg_gen("generate", "--json", cwd=tmp_path, code=2).stdout)
    assert told["diagnostics"][0]["code"] == "E0502"


def test_check_without_pytorch_in_json(openreg_gen, tmp_path):
    (tmp_path / "s.yaml").write_text("backend: {name: other}\n")
    outcome = openreg_gen("check", "s.yaml", "--json", "--torch", tmp_path / "none", cwd=tmp_path, code=3)
    (told,) = json.loads(outcome.stdout)["diagnostics"]
    assert told["code"].startswith("E04") and told["hint"]
    assert outcome.stderr == ""


def complete(words):
    script = subprocess.run([COMMAND, "completion", "bash"], text=True, capture_output=True, check=True).stdout
    array = " ".join(f"'{word}'" for word in words)
    probe = (
        f'{script}\nCOMP_WORDS=({array}) COMP_CWORD={len(words) - 1}\n_openreg_gen\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return subprocess.run(["bash", "-c", probe], text=True, capture_output=True, check=True).stdout.split()


def test_bash_completes_verbs_flags_and_values():
    assert complete(["openreg-gen", "ge"]) == ["generate"]
    assert complete(["openreg-gen", "generate", "--d"]) == ["--dry-run", "--diff"]
    assert complete(["openreg-gen", "new", "x", "--device", "e"]) == ["emulator", "external"]
    assert complete(["openreg-gen", "ops", "co"]) == ["coverage"]
    assert complete(["openreg-gen", "ops", "coverage", "--ht"]) == ["--html"]
    assert complete(["openreg-gen", "ops", "coverage", "--list", "m"]) == ["missing"]
    assert complete(["openreg-gen", "completion", ""])[:2] == ["bash", "zsh"]


def test_the_zsh_completion_names_every_verb():
    script = subprocess.run([COMMAND, "completion", "zsh"], text=True, capture_output=True, check=True).stdout
    assert script.startswith("#compdef openreg-gen\n")
    for verb in ("new", "generate", "check", "ops", "doctor", "schema", "completion"):
        assert f"    {verb})\n" in script
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


def test_an_output_that_is_full_is_no_success(environment):
    with open("/dev/full", "w") as full:
        outcome = subprocess.run([COMMAND, "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert outcome.returncode == 3 and "E0513" in outcome.stderr
