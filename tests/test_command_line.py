"""The command line itself: help, mistakes, completion."""

import json
import re
import shutil
import subprocess

import pytest
from trees import COMMAND, ROOT


def printed(*argv):
    return subprocess.run([COMMAND, *argv], text=True, capture_output=True, check=True).stdout


def verbs():
    """{"new": "Render a new backend from a spec"}, as --help has them."""
    below = printed("--help").split("\nSubcommands:\n")[1].split("\n\n")[0]
    return dict(re.fullmatch(r"  (\w+) +(\S.*)", line).groups() for line in below.splitlines())


def test_version_and_help():
    assert re.fullmatch(r"openreg-gen \d+\.\d+\.\d+\n", printed("--version"))
    text = printed("--help")
    assert "Examples:" in text and "Exit codes:" in text


def test_each_verb_is_a_file_and_in_the_list():
    cli = ROOT / "generator/cli"
    made = {
        verb: path.stem
        for path in cli.glob("*.cpp")
        for verb in re.findall(r"^Verb (\w+)_verb\(\) {", path.read_text(), re.MULTILINE)
    }
    for part in ("ops_coverage", "add_component", "remove_component"):  # parts of others
        made.pop(part)
    assert all(verb == stem for verb, stem in made.items()), "a verb is in the file of its name"
    assert set(made) == set(verbs())


def test_each_verb_has_its_own_help_and_examples_name_verbs_only():
    for verb, about in verbs().items():
        text = printed(verb, "--help")
        assert text.startswith(f"{about}\nUsage: openreg-gen {verb} [OPTIONS]"), verb
        examples = text.split("\nExamples:\n")[1].split("\n\n")[0]
        assert set(re.findall(r"openreg-gen (\w+)", examples)) <= set(verbs())


def test_the_readme_has_every_verb_and_no_other():
    table = (ROOT / "README.md").read_text().split("| command | what it does |\n")[1].split("\n\n")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines()[1:]]
    assert {word for cell in cells for word in re.findall(r"`(\w+)", cell)} == set(verbs())


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
    answer = json.loads(openreg_gen("generate", "--json", cwd=tmp_path, code=2).stdout)
    assert answer["diagnostics"][0]["code"] == "E0502"


def test_check_without_pytorch_in_json(openreg_gen, tmp_path):
    (tmp_path / "s.yaml").write_text("backend: {name: other}\n")
    outcome = openreg_gen("check", "s.yaml", "--json", "--torch", tmp_path / "none", cwd=tmp_path, code=3)
    (answer,) = json.loads(outcome.stdout)["diagnostics"]
    assert answer["code"].startswith("E04") and answer["hint"]
    assert outcome.stderr == ""


def complete(words):
    script = printed("completion", "bash")
    array = " ".join(f"'{word}'" for word in words)
    probe = (
        f'{script}\nCOMP_WORDS=({array}) COMP_CWORD={len(words) - 1}\n_openreg_gen\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return subprocess.run(["bash", "-c", probe], text=True, capture_output=True, check=True).stdout.split()


def test_bash_completes_verbs_flags_and_values():
    assert [word for word in complete(["openreg-gen", ""]) if not word.startswith("-")] == list(verbs())
    assert complete(["openreg-gen", "ge"]) == ["generate"]
    assert complete(["openreg-gen", "generate", "--d"]) == ["--dry-run", "--diff"]
    assert complete(["openreg-gen", "new", "x", "--device", "e"]) == ["emulator", "external"]
    assert complete(["openreg-gen", "ops", "co"]) == ["coverage"]
    assert complete(["openreg-gen", "ops", "coverage", "--ht"]) == ["--html"]
    assert complete(["openreg-gen", "ops", "coverage", "--list", "m"]) == ["missing"]
    assert complete(["openreg-gen", "completion", ""])[:2] == ["bash", "zsh"]


def test_the_zsh_completion_names_every_verb():
    script = printed("completion", "zsh")
    assert script.startswith("#compdef openreg-gen\n")
    assert re.findall(r"^    (\w+)\)$", script, re.MULTILINE) == list(verbs())
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


def test_an_output_that_is_full_is_no_success(environment):
    with open("/dev/full", "w") as full:
        outcome = subprocess.run([COMMAND, "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert outcome.returncode == 3 and "E0513" in outcome.stderr
