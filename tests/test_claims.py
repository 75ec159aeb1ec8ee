"""What README.md and docs/start/ tell a reader to type: each block of commands is run here, or its page says why not:
`<!-- not run: WHY -->` in the line above it. Verbs and options of all of them exist."""

import json
import re
import shutil
import subprocess

import pytest
from trees import COMMAND, ROOT

PAGES = [ROOT / "README.md", ROOT / "docs/index.md", *sorted((ROOT / "docs/start").glob("*.md"))]
BLOCK = re.compile(r"(?:<!-- not run: ([^\n]+?) -->\n)?```sh\n(.*?)```", re.S)
# Verbs that need neither a build, a network nor an installed backend.
CHEAP = {
    "new",
    "generate",
    "check",
    "status",
    "explain",
    "components",
    "ops",
    "own",
    "undo",
    "completion",
    "help",
    "add",
}
SHORTEST_REASON = 8


def commands(block):
    """The lines without their comments."""
    return [line for line in (re.sub(r"\s+#.*", "", line).strip() for line in block.splitlines()) if line]


def blocks(text):
    """(why it is not run, or None; its commands)."""
    return [(why or None, commands(block)) for why, block in BLOCK.findall(text)]


def spoken(text):
    """Commands of openreg-gen in blocks and between backticks."""
    lines = [line for _, block in blocks(text) for line in block]
    prose = BLOCK.sub("", text)
    return [*lines, *re.findall(r"`(openreg-gen [^`]+)`", prose)]


def unknown(text, help_of):
    """Verbs that don't exist, and options that the help of their verb lacks."""
    found = []
    for line in spoken(text):
        for verb, rest in re.findall(r"openreg-gen ([a-z][\w-]*)([^&|;]*)", line):
            shown = help_of(verb)
            options = re.findall(r"(?<!\S)(--?[a-zA-Z][\w-]*)", rest.split(" -- ")[0])
            found += [verb] if shown is None else [f"{verb} {option}" for option in options if option not in shown]
    return found


def neither_run_nor_marked(text):
    """Commands of blocks without a reason that this test can't run."""
    found = []
    for why, block in blocks(text):
        verbs = [re.match(r"openreg-gen ([\w-]+)", line) for line in block]
        if why is None:
            found += [line for line, verb in zip(block, verbs, strict=True) if not verb or verb[1] not in CHEAP]
        elif len(why) < SHORTEST_REASON:
            found.append(why)
    return found


@pytest.fixture(scope="module")
def help_of():
    def shown(verb):
        done = subprocess.run([COMMAND, verb, "--help"], text=True, capture_output=True, check=False, timeout=60)
        listed = re.findall(r"^  +(-[^ ]*)", done.stdout, re.M)
        names = {name for each in listed for name in re.findall(r"--?[a-zA-Z][\w-]*", each)}
        return names | {"-C", "-h", "--help"} if done.returncode == 0 else None

    return shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_block_is_run_or_says_why_not(page):
    assert neither_run_nor_marked(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_verbs_and_options_exist(page, help_of):
    assert unknown(page.read_text(encoding="utf-8"), help_of) == []


def cheap_commands():
    """Those of blocks that aren't run as a whole are still run where they are cheap."""
    for page in PAGES:
        for _, block in blocks(page.read_text(encoding="utf-8")):
            yield from (line for line in block if re.match(r"openreg-gen (\S+)", line) and line.split()[1] in CHEAP)


def test_cheap_commands_work(environment, tmp_path):
    """In order, as a reader types them: `new` where the reader is, the others in the tree."""
    base, torch = environment
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/openreg-gen").symlink_to(COMMAND)
    ran = list(cheap_commands())
    assert len(ran) >= 3
    for line in ran:
        tree = tmp_path / "torch_mybackend"
        making = line.split()[1] == "new"
        if making:
            shutil.rmtree(tree, ignore_errors=True)
        done = subprocess.run(
            ["bash", "-c", f"{line} --torch {torch}" if line.split()[1] in ("new", "add") else line],
            cwd=tmp_path if making else tree, env={**base, "PATH": f"{tmp_path}/bin:{base['PATH']}"},
            text=True, capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, (line, done.stdout, done.stderr)


def test_a_false_command_would_be_seen(help_of):
    page = "```sh\nopenreg-gen nwe x\nopenreg-gen new x --profil full  # words\n```\n`openreg-gen status --nothing`\n"
    assert unknown(page, help_of) == ["nwe", "new --profil", "status --nothing"]
    assert neither_run_nor_marked("```sh\nopenreg-gen new x\nmake all\n```\n") == ["make all"]
    assert neither_run_nor_marked("<!-- not run: builds for minutes -->\n```sh\nmake all\n```\n") == []


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_number_of_operators(environment, openreg_gen):
    """README's number is what the command counts in the installed PyTorch."""
    (number,) = re.findall(r"PyTorch's ([\d,]+) operators", README)
    if "2.13.0" not in (environment[1] / "version.py").read_text():
        pytest.skip("the number is that of PyTorch 2.13.0")
    answer = json.loads(openreg_gen("ops", "*", "--json", "--torch", environment[1]).stdout)
    assert len(answer["ops"]) == int(number.replace(",", ""))


def test_verbs_without_json_are_those_that_the_readme_names(help_of):
    table = README.split("| command | what it does |\n")[1].split("\n\n")[0]
    verbs = {word for row in table.splitlines() for word in re.findall(r"`([\w-]+)", row.split(" | ")[0])}
    named = re.search(r"each verb\s+but (.*?) answers in", README, re.S)[1]
    assert {verb for verb in verbs if "--json" not in help_of(verb)} == {*re.findall(r"`(\w+)`", named), "schema"}


def test_schema_is_json(openreg_gen):
    json.loads(openreg_gen("schema").stdout)


def test_the_minutes_of_all_tests_are_the_same_on_each_page():
    install = (ROOT / "docs/start/install.md").read_text(encoding="utf-8")
    stages = (ROOT / "docs/concepts/ci.md").read_text(encoding="utf-8")
    (one,) = re.findall(r"scripts/test.sh +# about (\d+) minutes", README)
    (two,) = re.findall(r"`test.sh` about (\d+)", install)
    (three,) = re.findall(r"All stages together take about (\d+) minutes", stages)
    assert one == two == three


def test_the_comparison_has_the_measured_figures():
    """Seconds and factors of README's table are those of the page that says how they were measured."""
    readme = (ROOT / "README.md").read_text().partition("## Compared with")[2].partition("\n## ")[0]
    measured = (ROOT / "docs/reference/figures.md").read_text().partition("## Compared with")[2].partition("\n## ")[0]
    cells = [cell.strip() for line in readme.splitlines() if line.startswith("|") for cell in line.split("|")[2:-1]]
    figures = [re.search(r"(?:^|, )(\d[\d.]*(?: to [\d.]+)?(?: s)?)(?: \(|$)", cell) for cell in cells]
    named = [found[1] for found in figures if found]
    assert len(named) >= 10
    assert [figure for figure in named if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.])", measured)] == []
