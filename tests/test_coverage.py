"""`openreg-gen ops coverage`: text, JSON, and the HTML page in a real headless browser."""

import json
import os
import re
import shutil

import pytest

SPEC = """\
backend: {name: mybackend}
ops:
  add.out: structured
  relu: native
  poisson: {strategy: unsupported, reason: no sampler <b>at all</b></script>}
"""


@pytest.fixture
def covered(openreg_gen, environment, tmp_path):
    spec = tmp_path / "mybackend.yaml"
    spec.write_text(SPEC)

    def run(*argv, what=spec, code=0):
        return openreg_gen("ops", "coverage", *([what] if what else []), "--torch", environment[1], *argv, code=code)

    return run


def test_totals_are_of_all_operators(covered):
    answer = json.loads(covered("--json").stdout)
    totals = answer["totals"]
    assert totals["all"] == len(answer["ops"]) == 3101
    for key in totals:
        assert totals[key] == sum(family[key] for family in answer["families"])
    kinds = {op["op"]: op["coverage"] for op in answer["ops"]}
    assert kinds["add.out"] == kinds["relu"] == "native" and kinds["add.Tensor"] == "delegate"
    assert kinds["reshape"] == "composite" and kinds["mm.out"] == "fallback" and kinds["poisson"] == "missing"
    assert kinds["_cudnn_rnn"] == kinds["quantize_per_tensor"] == kinds["_nnz"] == "not-for-you"
    for op in ("_foobar", "_test_functorch_fallback", "_test_optional_intlist", "_convert_weight_to_int4pack_for_cpu"):
        assert kinds[op] == kinds.get(f"{op}.out", "not-for-you") == "not-for-you", op
    text = covered().stdout
    assert re.search(r"^total +3101( +\d+){6}$", text, re.MULTILINE)


def test_one_kind_is_listed_with_reasons(covered):
    lines = covered("--list", "missing").stdout.splitlines()
    assert lines[0].split() == ["NAME", "FAMILY", "HOW"]
    assert any(re.match(r"poisson +random +unsupported: no sampler", line) for line in lines)
    assert covered("--list", "nothing", code=2).stderr


def test_of_a_tree_and_of_no_spec(openreg_gen, environment, tree, covered):
    of_tree = openreg_gen("ops", "coverage", "-C", tree, "--torch", environment[1]).stdout
    assert of_tree.startswith("mybackend, PyTorch 2.13.0\n")
    assert covered(what=None).stdout.startswith("A backend without operators of its own")


def test_the_page_is_one_file(covered, tmp_path):
    page = tmp_path / "sub" / "coverage.html"
    covered(f"--html={page}")
    html = page.read_text()
    assert not re.search(r"(src|href)=|https?:|@import|url\(", html)
    assert html.count("</script>") == 2  # the reason's own is escaped
    assert covered("--html").stdout == html
    covered(f"--html={page}")
    assert [file.name for file in page.parent.iterdir()] == ["coverage.html"]
    covered(f"--html={tmp_path}", code=2)


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
def page(covered, tmp_path, browser):
    covered(f"--html={tmp_path / 'coverage.html'}")
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
    page.goto((tmp_path / "coverage.html").as_uri())
    yield page
    assert faults == []
    context.close()


def shown(page):
    return page.eval_on_selector_all("#rows tr", "rows => rows.map(row => row.dataset.op)")


def test_what_is_needed_most_is_first(page, covered):
    kinds = {op["op"]: op["coverage"] for op in json.loads(covered("--json").stdout)["ops"]}
    assert page.locator("#rows tr").first.locator(".place").inner_text() == "minimal set"
    page.locator("#more").click()
    assert kinds[shown(page)[-1]] == "not-for-you" and len(shown(page)) == 3101


def test_searching(page):
    assert page.locator("#count").inner_text() == "3,101 of 3,101 operators"
    assert len(shown(page)) == 250
    page.get_by_role("searchbox").press_sequentially("hypot")
    assert sorted(shown(page)) == ["hypot", "hypot.out", "hypot_"]
    assert page.locator("#count").inner_text() == "3 of 3,101 operators"
    page.get_by_role("searchbox").fill("all</b>")
    assert shown(page) == ["poisson"]
    assert (
        page.locator("#rows td").nth(3).inner_text()
        == "unsupported: no sampler <b>at all</b></script>\nopenreg-gen add poisson"
    )
    page.get_by_role("searchbox").fill("no such thing")
    assert shown(page) == []
    page.get_by_role("button", name="Show all", exact=True).click()
    assert page.locator("#count").inner_text() == "3,101 of 3,101 operators"


def test_filters(page, covered):
    answer = json.loads(covered("--json").stdout)
    native = [op["op"] for op in answer["ops"] if op["coverage"] == "native"]
    for kind in ("delegate", "composite", "fallback", "missing", "not for you"):
        page.get_by_role("checkbox", name=re.compile(kind)).uncheck()
    assert sorted(shown(page)) == sorted(native)
    page.get_by_role("checkbox", name=re.compile("delegate")).check()
    page.locator(".family[data-family=pointwise]").click()
    pointwise = {op["op"] for op in answer["ops"] if op["family"] == "pointwise"}
    assert set(shown(page)) <= pointwise and {"add.out", "add.Tensor", "relu"} <= set(shown(page))
    assert page.locator(".family[data-family=pointwise]").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Show all", exact=True).click()
    page.locator("#more").click()
    assert len(shown(page)) == 3101


def test_it_reads_in_light_and_dark_and_on_a_phone(page):
    contrast = """() => {
      const rgb = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
      const light = color => { const [r, g, b] = rgb(color).map(c => { c /= 255;
        return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
      const back = light(getComputedStyle(document.querySelector('section')).backgroundColor);
      return [...document.querySelectorAll('td, caption, small, .family i, h2, label')].map(element => {
        const ink = light(getComputedStyle(element).color);
        return (Math.max(ink, back) + .05) / (Math.min(ink, back) + .05); }).reduce((a, b) => Math.min(a, b)); }"""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(contrast) >= 4.5, scheme
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    unnamed = "[...document.querySelectorAll('button, input')].filter(e => !(e.labels?.length || e.ariaLabel || e.textContent))"
    assert page.evaluate(f"{unnamed}.length") == 0
