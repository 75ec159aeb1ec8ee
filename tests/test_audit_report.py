"""`openreg-gen audit --saved`: text, JSON, faults of the file, and the page in a real headless browser.

What Python finds on a backend has its tests in tests/workbench/test_audit.py."""

import json
import os
import re
import shutil

import pytest
from trees import ROOT

SMALL = ROOT / "tests/audit/small.json"


@pytest.fixture
def audited(openreg_gen, environment):
    def run(*argv, what=SMALL, code=0):
        return openreg_gen("audit", "--saved", what, "--torch", environment[1], *argv, code=code)

    return run


def test_the_summary_fits_one_screen(audited, other_releases, tmp_path):
    model = tmp_path / "model.json"
    model.write_text(json.dumps(["relu", "mm.out", "no_such"]))
    outcome = audited("--model", model, "--against", other_releases / "torch-2.11.0")
    lines = outcome.stdout.splitlines()
    assert len(lines) <= 24 and max(map(len, lines[:-1])) <= 80  # the last one names the file
    assert lines[0] == "mine (torch_mine 0.1), PyTorch 2.13.0"
    said = re.fullmatch(r"kernels registered for 4 operators: (.*)", lines[1])
    assert said and sum(map(int, re.findall(r"\d+", said[1]))) == 4, lines[1]  # reconciled with the table below
    assert "Interfaces: 1 of 1 answer" in lines
    assert re.search(r"fallback hides a composite +reshape \(Kernels\.cpp:10\)", outcome.stdout)
    assert re.search(r"the model lacks \(2\) +no_such, mm\.out", outcome.stdout)
    assert lines[-2:] == ["Next:", f"  openreg-gen audit --saved {SMALL} --html=audit.html"]


def test_json(audited):
    answer = json.loads(audited("--json").stdout)
    assert answer["schema_version"] == 1 and answer["device"] == "mine" and answer["registered"] == 4
    assert answer["totals"]["all"]["all"] == len(answer["ops"]) == 3101
    ops = {op["op"]: op for op in answer["ops"]}
    assert ops["add.out"]["coverage"] == "native" and ops["add.out"]["at"] == {"file": "/src/Kernels.cpp", "line": 10}
    assert ops["_cudnn_rnn"]["coverage"] == "not-for-you" and "add" not in ops["_cudnn_rnn"]
    assert ops["sub.Tensor"]["add"] == "sub.out"
    assert [each["kind"] for each in answer["findings"]][:2] == ["fallback hides a composite", "missing view"]


def test_what_another_release_changes(audited, other_releases):
    answer = json.loads(audited("--json", "--against", other_releases / "torch-2.11.0").stdout)
    assert answer["against"]["torch"] == "2.11.0" and isinstance(answer["against"]["changed"], list)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format":\n  oops}', "bad.json:2:3: error[E0570]"),
        ("{}", "bad.json:1:1: error[E0570]"),
        (SMALL.read_text().replace('"schema": 1', '"schema": 7'), "error[E0571]"),
        (SMALL.read_text().replace('"ops": [', '"ops": [3, '), "error[E0570]"),
    ],
)
def test_faults_of_the_file(audited, tmp_path, text, said):
    bad = tmp_path / "bad.json"
    bad.write_text(text)
    outcome = audited(what=bad, code=2)
    assert said in outcome.stderr and outcome.stdout == ""


def test_faults_of_the_command_line(openreg_gen, audited, tmp_path):
    assert "the device is an option" in openreg_gen("audit", "mybackend", code=2).stderr
    assert "E0506" in audited(what=tmp_path / "none.json", code=3).stderr
    broken = tmp_path / "model.json"
    broken.write_text('{"format": "something"}')
    assert "E0171" in audited("--model", broken, code=2).stderr


def test_a_model_whose_operators_are_all_served(audited, tmp_path):
    model = tmp_path / "model.json"
    shape = {"calls": 2, "args": [{"tensor": "float32", "shape": [2]}]}  # as record --shapes writes it
    rows = [{"op": name, "calls": 2, "shapes": [shape]} for name in ("add.out", "relu")]
    model.write_text(json.dumps({"format": "openreg-gen ops", "version": 1, "torch": "2.13.0", "ops": rows}))
    assert "The model: all of its 2 operators are served" in audited("--model", model).stdout


def test_a_device_that_is_not_there(openreg_gen):
    outcome = openreg_gen("audit", "--device", "nobody", code=3)
    assert "error[E0575]: no device 'nobody'" in outcome.stderr and outcome.stdout == ""
    answer = json.loads(openreg_gen("audit", "--device", "nobody", "--json", code=3).stdout)
    assert answer["diagnostics"][0]["code"] == "E0572"


@pytest.fixture(scope="module")
def browser():
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "the page is looked at in Chromium: apt-get install chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def earlier(tmp_path):
    """An audit in which sub.out had a kernel, and one operator waited for mm.out."""
    document = json.loads(SMALL.read_text())
    document["ops"] = [["sub.out", "kernel", 0, 10] if row[0] == "sub.out" else row for row in document["ops"]]
    document["deaths"] = []
    document["waits"] = [{"op": "relu.out", "needs": "mm.out"}]
    document["date"] = "2026-01-02 03:04 UTC"
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps(document))
    return file


def test_what_changed_since(audited, earlier):
    said = audited("--baseline", earlier).stdout
    assert "Since mine (torch_mine 0.1), PyTorch 2.13.0, 2026-01-02 03:04 UTC" in said
    assert re.search(r"operators, worse \(\d+\) +sub\.", said), said
    assert re.search(r"new faults \(1\) +linalg\.svd \(dies\)", said)
    answer = json.loads(audited("--baseline", earlier, "--json").stdout)["baseline"]
    changed = {(row["op"], row["was"], row["now"]) for row in answer["operators"]}
    assert ("sub.out", "native", "fallback") in changed
    assert "nothing changed" in audited("--baseline", SMALL).stdout
    assert "E0570" in audited("--baseline", ROOT / "README.md", code=2).stderr


def test_what_unlocks_most_comes_first(audited, earlier):
    said = audited(what=earlier).stdout
    assert re.search(r"kernels that unlock most +mm\.out \(1\)", said)
    answer = json.loads(audited("--json", what=earlier).stdout)
    assert answer["unlocks"] == [{"op": "mm.out", "waiting": ["relu.out"]}]
    (relu,) = (row for row in answer["ops"] if row["op"] == "relu.out")
    assert relu["waits_for"] == "mm.out" and relu["coverage"] == "composite"


def test_the_card(audited, earlier, browser, tmp_path):
    file = tmp_path / "card.json"
    audited("--card", file, "--baseline", earlier)
    card = json.loads(file.read_text())
    assert card["device"] == "mine" and card["interfaces"]["answers"] == 1 and card["faults"]["dies"] == 1
    assert card["totals"]["all"]["all"] == card["baseline"]["totals"]["all"]["all"] == 3101
    page_file = tmp_path / "card.html"
    audited("--card", page_file, "--baseline", earlier)
    page = browser.new_context(offline=True, viewport={"width": 420, "height": 900}).new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(page_file.as_uri())
    assert page.locator("h1").inner_text() == "Audit of mine" and faults == []
    assert "torch_mine 0.1, PyTorch 2.13.0" in page.locator("#about").inner_text()
    assert page.locator("td.worse").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_the_page(audited, browser, tmp_path):
    file = tmp_path / "audit.html"
    audited(f"--html={file}")
    assert not re.search(r"(src|href)=|https?:|@import|url\(", file.read_text())
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(file.as_uri())
    assert page.locator("h1").inner_text() == "Audit of mine"
    assert page.locator("#findings tr").count() == 5 and page.locator("#interfaces tbody tr").count() == 1
    assert page.locator("#changes-part").is_hidden()
    page.get_by_role("searchbox").fill("_cudnn_rnn")
    colour = "e => getComputedStyle(e).backgroundColor"
    grey = page.locator("#rows .dot.not-for-you").first.evaluate(colour)
    page.get_by_role("searchbox").fill("sub.Tensor")
    assert page.locator("#rows .dot.fallback").first.evaluate(colour) != grey
    assert page.locator("#rows button.copy").first.inner_text() == "openreg-gen add sub.out"
    page.get_by_role("searchbox").fill("")
    page.get_by_label("Needed").select_option("@core")
    assert page.locator("#count").inner_text().startswith("193 of ") or page.locator("#rows tr").count() > 100
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert faults == []
    context.close()
