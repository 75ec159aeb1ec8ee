"""The command line itself: help, mistakes, completion."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from trees import COMMAND, GENERATED, ROOT, state


# Verbs that hand their words to a tool in Python.
OPTIONS = json.loads((ROOT / "generator/workbench/openreg_gen/options.json").read_text())
TOOLS = sorted(OPTIONS)
GROUPS = ["Make", "Change", "Understand", "Check", "Tools"]


def printed(*argv):
    return subprocess.run([COMMAND, *argv], text=True, capture_output=True, check=True).stdout


def verbs():
    """{"new": "Render a new backend from a spec"}, as --help has them, in its groups."""
    text = printed("--help")
    lines = [line for group in GROUPS for line in text.split(f"\n{group}:\n")[1].split("\n\n")[0].splitlines()]
    return dict(re.fullmatch(r"  ([\w-]+) +(\S.*)", line).groups() for line in lines)


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
    assert set(made) | set(TOOLS) == set(verbs())


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_is_a_module_of_the_workbench(tool):
    folder, module = ROOT / "generator/workbench/openreg_gen", tool.replace("-", "_")
    assert (folder / f"{module}.py").is_file() or (folder / module / "__main__.py").is_file()


def test_each_verb_has_its_own_help_and_examples_name_verbs_only():
    for verb, about in verbs().items():
        text = printed(verb, "--help")
        assert text.startswith(f"{about}\nUsage: openreg-gen {verb} [OPTIONS]"), verb
        examples = text.split("\nExamples:\n")[1].split("\n\n")[0]
        assert set(re.findall(r"openreg-gen ([\w-]+)", examples)) <= set(verbs())


def test_the_readme_has_every_verb_and_no_other():
    table = (ROOT / "README.md").read_text().split("| command | what it does |\n")[1].split("\n\n")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines()[1:]]
    assert {word for cell in cells for word in re.findall(r"`([\w-]+)", cell)} == set(verbs())


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


# A wrong word for each option that takes one of a closed set, and the word that is meant.
WORDS = [
    (["add", "relu", "--strategy", "natve"], "native"),
    (["new", "mine", "--profile", "standart"], "standard"),
    (["new", "mine", "--device", "externl"], "external"),
    (["doctor", "--device", "openc"], "opencl"),
    (["doctor", "--kernels", "glsll"], "glsl"),
    (["generate", "--check", "--error-format", "gitub"], "github"),
    (["ops", "coverage", "mine.yaml", "--list", "natve"], "native"),
    (["completion", "bsh"], "bash"),
]


@pytest.mark.parametrize(("argv", "meant"), WORDS)
def test_a_wrong_word_of_a_closed_set_gets_the_near_one_and_all(environment, argv, meant):
    done = subprocess.run([COMMAND, *argv], env=environment[0], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and f"can't be '{argv[-1]}'" in done.stderr
    hint = done.stderr.partition("hint: ")[2]
    assert hint.startswith(f"did you mean '{meant}'? One of: ") and hint.count(meant) == 2


def test_each_option_of_a_closed_set_is_among_these():
    """An option that shell completion offers words for."""
    found = set()
    for argv, meant in WORDS:
        flag = argv[-2] if argv[-2].startswith("--") else "SHELL"
        found.add((argv[0], flag))
        offered = subprocess.run([COMMAND, "completion", "bash", "--", *argv[:-1], ""], capture_output=True, text=True)
        assert meant in offered.stdout.split()
    sources = "".join(path.read_text() for path in (ROOT / "generator/cli").glob("*.cpp"))
    assert len(found) == sources.count("IsMember(") - 1  # one is in the table of the workbench's tools


def test_failures_in_json(openreg_gen, tmp_path):
    answer = json.loads(openreg_gen("generate", "--json", cwd=tmp_path, code=2).stdout)
    assert answer["diagnostics"][0]["code"] == "E0502"
    assert [answer["diagnostics"][0][key] for key in ("file", "line", "column")] == [None, None, None]


def test_a_wrong_command_line_in_json(openreg_gen):
    for argv in (["generate", "--json", "--chek"], ["new", "--json"], ["ops", "--json", "show"]):
        outcome = openreg_gen(*argv, code=2, torch=None)
        assert json.loads(outcome.stdout)["diagnostics"][0]["code"] == "E0500" and outcome.stderr == ""


def test_a_failure_that_nobody_expected_in_json(openreg_gen, tree, tmp_path):
    """The current folder is gone, which the C++ library throws on."""
    gone = tmp_path / "gone"
    gone.mkdir()
    prefix = ("sh", "-c", f'rmdir {gone} && exec "$@"', "-")
    outcome = openreg_gen("own", "setup.py", "-C", tree, "--json", cwd=gone, prefix=prefix, code=3)
    assert json.loads(outcome.stdout)["diagnostics"][0]["code"] == "E0506"


def test_every_json_answer_has_its_version(openreg_gen, environment, tree):
    torch = ("--torch", environment[1])
    for argv in (
        ["ops", "abs.out", *torch],
        ["ops", "none such", *torch],
        ["ops", "show", "abs", *torch],
        ["ops", "list", "mybackend.yaml", *torch],
        ["ops", "diff", environment[1], environment[1]],
        ["ops", "coverage", "mybackend.yaml", *torch],
        ["check", "mybackend.yaml", *torch],
        ["components", *torch],
        ["explain", "E0101"],
        ["explain", "abs.out"],
        ["status", *torch],
        ["generate"],
        ["generate", "--check"],
        ["own", "setup.py"],
        ["disown", "setup.py", *torch],
        ["undo"],
        ["doctor", *torch],
    ):
        outcome = openreg_gen(*argv, "--json", cwd=tree, code=None)
        assert json.loads(outcome.stdout)["schema_version"] == 1, argv


def test_errors_as_annotations_of_github(openreg_gen, environment, tree):
    torch = ("--torch", environment[1])
    argv = ("--error-format", "github")
    (tree / "bad.yaml").write_text("backend: {name: other}\nops: [add.Tensro]\n")
    out = openreg_gen("check", "bad.yaml", *argv, *torch, cwd=tree, code=2).stdout
    assert re.fullmatch(r"::error file=bad\.yaml,line=2,col=7,title=E0202::[^\n]*'Tensro'%0Ahint: [^\n]*\n", out)
    assert openreg_gen("generate", "--check", *argv, cwd=tree).stdout.startswith("up to date")
    for name, text in (("setup.py", None), (GENERATED, "mine\n")):
        (tree / name).unlink() if text is None else (tree / name).write_text(text)
    out = openreg_gen("generate", "-C", tree.name, "--check", *argv, cwd=tree.parent, code=1).stdout
    assert {re.match(r"::error file=([^,]*),title=(\w+)::", line).groups() for line in out.splitlines()} == {
        ("torch_mybackend/setup.py", "missing"),
        (f"torch_mybackend/{GENERATED}", "edited"),
    }
    out = openreg_gen("generate", "--check", *argv, cwd="/", code=2).stdout
    assert out.startswith("::error title=E0502::")
    assert "E0500" in openreg_gen("generate", *argv, cwd=tree, code=2).stderr


def test_check_without_pytorch_in_json(openreg_gen, tmp_path):
    (tmp_path / "s.yaml").write_text("backend: {name: other}\n")
    outcome = openreg_gen("check", "s.yaml", "--json", "--torch", tmp_path / "none", cwd=tmp_path, code=3)
    (answer,) = json.loads(outcome.stdout)["diagnostics"]
    assert answer["code"].startswith("E04") and answer["hint"]
    assert outcome.stderr == ""


def complete(*words, cwd=None, env=None):
    """What bash offers in the place of the last word."""
    script = printed("completion", "bash")
    array = " ".join(f"'{word}'" for word in (COMMAND, *words))
    probe = f'{script}\nCOMP_WORDS=({array}) COMP_CWORD={len(words)}\n_openreg_gen\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", probe], text=True, capture_output=True, check=True, cwd=cwd, env=env, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("-C tree trace a+b", "'trace' takes no -C", "change into the folder"),
        ("try relu -C tree", "'try' takes no -C", "change into the folder"),
        ("--json=status", "unknown flag '--json=status'", "openreg-gen VERB --json=status"),
        ("--html status", "--html stands before the verb", "openreg-gen status --html"),
        ("mybackend new", "unknown verb 'mybackend'", "`openreg-gen --help`"),
        ("-C nowhere ops relu", "'ops' takes no -C", "change into the folder"),
    ],
)
def test_words_in_a_wrong_order(openreg_gen, tmp_path, words, message, hint):
    done = openreg_gen(*words.split(), cwd=tmp_path, code=2)
    assert message in done.stderr and hint in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("status x y", "unexpected arguments 'x', 'y'", "`openreg-gen status --help`"),
        ("components cachng", "unexpected argument 'cachng'", "`openreg-gen explain COMPONENT`"),
        ("generate --check --diff", "--diff and --check can't be given together", "`openreg-gen generate --help`"),
        ("generate --check=x", "--check takes no value", "`openreg-gen generate --help`"),
        ("status -C", "-C needs a DIR", "`openreg-gen status --help`"),
        ("audit --out a --out b", "--out is given 2 times", "`openreg-gen audit --help`"),
        ("record --device cpu t.py --device cpu", "--device is given 2 times", "follow --"),
        ("add relu --strategy", "--strategy needs a value", "one of: structured, pointwise"),
    ],
)
def test_messages_are_not_those_of_the_parser(words, message, hint):
    done = subprocess.run([COMMAND, *words.split()], text=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert f"error[E0500]: {message}\n" in done.stderr and hint in done.stderr, done.stderr


def test_a_word_that_nothing_is_called_leads_on(openreg_gen, tmp_path):
    assert "`openreg-gen explain --help`" in openreg_gen("explain", "frobnicate", cwd=tmp_path, code=1).stderr


def test_bash_completes_verbs_flags_and_values():
    assert complete("") == list(verbs())
    assert complete("ge") == ["generate"]
    assert complete("generate", "--d") == ["--dry-run", "--diff"]
    assert complete("new", "x", "--device", "e") == ["emulator", "external"]
    assert complete("new", "x", "--device", "=", "o") == ["opencl"]  # as bash splits --device=o
    assert complete("ops", "cover") == ["coverage"] and "copysign.out" in complete("ops", "co")
    assert complete("ops", "coverage", "--ht") == ["--html"]
    assert complete("ops", "coverage", "--list", "m") == ["missing"]
    assert complete("completion", "") == ["bash", "zsh", "fish"]
    assert complete("help", "gen") == ["generate"]


def paths(verb=()):
    """Each verb, and each part of one: ("ops", "show")."""
    yield verb
    text = printed("help", *verb)
    parts = re.findall(r"^  (\w+) ", text.partition("\nSubcommands:\n")[2].split("\n\n")[0], re.MULTILINE)
    for name in parts if verb else verbs():
        yield from paths((*verb, name))


def test_flags_that_are_offered_are_those_of_the_help():
    all_paths = list(paths())
    assert ("add", "component") in all_paths and len(all_paths) > 20
    for verb in all_paths:
        options = printed("help", *verb).partition("\nOptions:\n")[2].split("\n\n")[0]
        first = [line.split()[0] for line in options.splitlines() if re.match("  -", line)]
        names = {name.removesuffix("[=FILE]") for words in first for name in words.split(",")}
        assert set(complete(*verb, "-")) == names, verb


def test_what_would_be_refused_is_not_offered():
    assert "--diff" not in complete("generate", "--dry-run", "-") and "--dry-run" not in complete(
        "generate", "--dry-run", "-"
    )
    assert complete("add", "--dry-run", "compon") != ["component"] and complete("add", "--json", "compon") == [
        "component"
    ]
    assert "schema" not in complete("-C", ".", "") and "status" in complete("-C", ".", "")
    assert "-C" not in complete("-C", ".", "status", "-")


def test_names_are_completed(tree, environment):
    env = dict(environment[0], VIRTUAL_ENV="", PYTHONPATH="")
    assert complete("add", "component", "cac") == ["caching"]
    assert complete("explain", "E020")[:2] == ["E0201", "E0202"]
    assert "atan2.out" in complete("add", "--torch", environment[1], "atan2", env=env)
    assert complete("remove", "--torch", environment[1], "hyp", cwd=tree, env=env) == ["hypot.out"]
    assert complete("test", "--torch", environment[1], "custom_abs", cwd=tree, env=env) == ["custom_abs"]
    assert complete("own", "set", cwd=tree) == ["setup.py"]
    assert complete("generate", "-C", "cs", cwd=tree) == ["csrc"]
    assert "csrc/runtime/Guard.cpp" in complete("explain", "csrc/runtime/Gu", cwd=tree)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells(shell):
    script = printed("completion", shell)
    assert f"completion {shell} -- " in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
    (line,) = printed("completion", shell, "--", "gen").splitlines()
    assert line == f"generate{dict(zsh=':', fish=chr(9))[shell]}{verbs()['generate']}"


def test_help_is_a_verb():
    assert printed("help") == printed("--help")
    assert printed("help", "ops", "show") == printed("ops", "show", "--help")
    outcome = subprocess.run([COMMAND, "help", "generat"], text=True, capture_output=True, check=False)
    assert outcome.returncode == 2 and "did you mean 'generate'?" in outcome.stderr


def test_help_has_no_notation_of_its_parser():
    for verb in paths():
        text = printed("help", *verb)
        assert not re.search(r":\{|TEXT:|REQUIRED|Excludes:|Needs:", text), verb
    assert "  --device {emulator,external,opencl,compiler}\n" in printed("help", "new")


def test_the_tree_may_be_named_before_the_verb(openreg_gen, tree):
    before = openreg_gen("-C", tree.name, "status", "--json", cwd=tree.parent).stdout
    assert before == openreg_gen("status", "-C", tree.name, "--json", cwd=tree.parent).stdout
    assert "E0500" in openreg_gen("-C", ".", "schema", cwd=tree, code=2).stderr
    assert "E0500" in openreg_gen("-C", ".", "status", "-C", "csrc", cwd=tree, code=2).stderr


def test_an_option_before_a_part_is_not_ignored(openreg_gen, tree):
    before = state(tree)
    for argv in (["add", "--dry-run", "component", "examples"], ["remove", "relu", "component", "examples"]):
        assert "E0500" in openreg_gen(*argv, cwd=tree, code=2).stderr
    assert state(tree) == before


def test_an_output_that_is_full_is_no_success(environment):
    with open("/dev/full", "w") as full:
        outcome = subprocess.run([COMMAND, "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert outcome.returncode == 3 and "E0513" in outcome.stderr


NAMED = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def options_of(*verb):
    """The options of a verb, as its help has them."""
    text = printed("help", *verb).partition("\nOptions:\n")[2].split("\n\n")[0]
    lines = [line for line in text.splitlines() if line.startswith("  -")]
    return {name for line in lines for name in NAMED.findall(line.split()[0])}


def test_each_option_that_a_help_text_speaks_of_exists():
    """Of the verb itself, or of the one that the sentence names: `try --shapes`."""
    for verb in paths():
        known = options_of(*verb) if verb else {"--version"}.union(*(options_of(each) for each in verbs()))
        text = printed("help", *verb)
        for other, words in re.findall(r"`(?:openreg-gen )?([a-z][a-z-]*)((?: --[\w-]+)+)", text):
            assert set(words.split()) <= options_of(other), (verb, other, words)
            text = text.replace(other + words, "")
        for line in text.partition("\nExamples:")[2].splitlines():
            if named := re.match(r"  openreg-gen ((?:[a-z]+[a-z-]* ?)+)", line):
                words = tuple(
                    word for word in named[1].split() if word in verbs() or verb and word in ("component", "coverage")
                )
                asked = line.partition(" -- ")[0].partition("  #")[0]
                assert set(NAMED.findall(asked)) <= known | (options_of(*words) if words else set()), line
        assert set(NAMED.findall(text.partition("\nExamples:")[0])) <= known | {"--epochs"}, verb


def test_each_hint_leads_to_help_that_has_it():
    """The command understands each line that an error tells the user to type."""
    for verb in verbs():
        wrong = subprocess.run([COMMAND, verb, "--no-such-flag"], text=True, capture_output=True, check=False)
        assert wrong.returncode == 2 and "unknown flag '--no-such-flag'" in wrong.stderr, verb
        for words in re.findall(r"`openreg-gen ([^`]+)`", wrong.stderr):
            assert printed(*words.split()), verb


def test_the_options_of_a_tool_are_those_of_the_table():
    """In the command's help, and in the help of `python -m openreg_gen.TOOL`, which needs no torch."""
    code = "from openreg_gen import arguments\nfor tool in arguments.table(): print(tool, arguments.parser(tool).format_help(), sep='\\t', end='\\0')"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "generator/workbench")}
    said = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, env=env, check=True).stdout
    own = dict(each.split("\t", 1) for each in said.split("\0")[:-1])
    assert sorted(own) == TOOLS
    for tool in TOOLS:
        listed = {each["name"] for each in OPTIONS[tool]["options"]} | {"--help"}
        assert options_of(tool) == listed, tool
        shown = own[tool].partition("\noptions:")[2].partition("\nexamples:")[0]
        assert {
            name for line in re.findall(r"^  (-.*)", shown, re.M) for name in NAMED.findall(line.split("  ")[0])
        } == listed, tool
        source = "".join(path.read_text() for path in (ROOT / "generator/workbench/openreg_gen").rglob("*.py"))
        for name in listed - {"--help", "--import", "--no-build"}:  # the command itself reads --no-build
            assert re.search(rf"\.{name[2:].replace('-', '_')}\b", source), f"nothing reads {tool} {name}"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["sweep", "--most", "3"], "--most is --limit now"),
        (["upstream", "--against=r.json", "--last"], "--against is --baseline now"),
        (["compare", "--sample", "10", "a.py"], "--sample is --every now"),
        (["audit", "--save", "a.json"], "--save is --out now"),
        (["audit", "mybackend"], "the device is an option, --device NAME"),
        (["add", "--from", "ops.json", "--top", "3"], "--from is --model now"),
        (["disown", "setup.py", "--force"], "--force is --yes now"),
        (["record", "train.py", "--epochs", "1"], "follow --: -- --epochs"),
        (["sanitize", "--json", "races.json", "train.py"], "--json=races.json"),
        (["audit", "--html", "audit.html"], "--html=audit.html"),
        (["sweep", "--limit", "none"], "none: not a number from 1 on"),
    ],
)
def test_an_old_spelling_answers_with_the_new_one(argv, said):
    outcome = subprocess.run([COMMAND, *argv], text=True, capture_output=True, check=False, timeout=60)
    assert outcome.returncode == 2 and "E0500" in outcome.stdout + outcome.stderr
    assert said in outcome.stdout + outcome.stderr and "Traceback" not in outcome.stderr


def test_json_in_a_file_leaves_the_text(openreg_gen, tree, tmp_path):
    outcome = openreg_gen("status", f"--json={tmp_path}/status.json", cwd=tree)
    assert "Spec" in outcome.stdout and json.loads((tmp_path / "status.json").read_text())["schema_version"] == 1
    alone = openreg_gen("status", "--json", cwd=tree).stdout
    assert json.loads(alone) == json.loads((tmp_path / "status.json").read_text())
    openreg_gen("status", f"--json={tmp_path}", cwd=tree, code=2)


def test_nothing_found_is_exit_1(openreg_gen, environment, tree):
    for argv in (["ops", "none such"], ["explain", "none such"]):
        openreg_gen(*argv, cwd=tree, code=1)
