"""The documentation as a site: generated pages, the table of contents, pictures, links."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from trees import COMMAND, ROOT

sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts/site")]
import figures  # noqa: E402
import pictures  # noqa: E402

DOCS = ROOT / "docs"
PYTHON = ROOT / ".venv/site/bin/python"


def test_generated_pages_are_up_to_date(tmp_path):
    env = {**os.environ, "OPENREG_GEN": str(COMMAND)}
    script = [sys.executable, ROOT / "scripts/site/pages.py", "--check"]
    done = subprocess.run(script, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_page_is_in_the_contents():
    listed = {"index"}
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.S):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {str((page.parent / name).resolve().relative_to(DOCS)) for name in names}
    assert listed == {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}


def test_pictures_ask_no_server():
    pictures = list(DOCS.rglob("*.svg"))
    assert len(pictures) >= 3
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        assert not re.search(r"url\(['\"]?http|href=['\"]http|@font-face|@import|<script", text), picture


@pytest.mark.parametrize("name", pictures.every_picture())
def test_pictures_are_what_their_script_draws(name):
    assert pictures.every_picture()[name]() == (pictures.DOCS / name).read_text(), "run scripts/site/pictures.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not PYTHON.exists():
        pytest.skip("scripts/site.sh installs Sphinx")
    folder = tmp_path_factory.mktemp("site")
    sphinx = [PYTHON, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", ROOT / "scripts/site", DOCS]
    done = subprocess.run([*sphinx, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_needs_no_network(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40 and (site / "searchindex.js").stat().st_size > 10_000
    for page in pages:
        loaded = re.findall(
            r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:href|src)=\"(https?:[^\"]*)\"", page.read_text()
        )
        assert loaded == [], page


def test_links_of_the_site_lead_somewhere(site):
    ids = {page.resolve(): set(re.findall(r" id=\"([^\"]+)\"", page.read_text())) for page in site.rglob("*.html")}
    for page in ids:
        body = page.read_text().partition("<article")[2].partition("</article>")[0]
        for target in re.findall(r"href=\"([^\":]+)\"", body):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), (page, target)
            assert not anchor or file not in ids or anchor in ids[file], (page, target)


def test_the_site_in_a_browser(site):
    """Offline: search finds pages, and no page is wider than a phone's screen."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("the site is looked at in Chromium: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = running.new_context(offline=True, viewport={"width": 390, "height": 844}).new_page()
        for path in sorted(site.rglob("*.html")):
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        page.goto((site / "search.html").as_uri() + "?q=guard")
        page.wait_for_selector("#search-results li a")
        assert page.locator("#search-results li a", has_text="The current device and its guard").count() > 0
        running.close()


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short_and_has_three_doors():
    assert len(README.splitlines()) <= 150
    doors = README.split("| you | start with |")[1].split("\n\n")[0]
    assert doors.count("](") == 3 and all(
        f"**{door}**" in doors for door in ("have a chip", "want to learn", "want to look")
    )
    order = ["Quick start", "The spec", "The layers", "Compared with", "Status", "Verbs", "Where to go next"]
    places = [README.index(f"\n## {head}") for head in order]
    assert places == sorted(places)
    for command in ("scripts/demo.sh", "scripts/test.sh"):
        assert f"\n{command} " in README and (ROOT / command).exists()


def test_the_spec_of_the_readme_has_no_errors_and_no_warnings(openreg_gen, tmp_path):
    spec = tmp_path / "mybackend.yaml"
    spec.write_text(re.search(r"```yaml\n(.*?)```", README, re.S)[1])
    done = openreg_gen("check", spec)
    assert "ok" in done.stdout and "warning" not in done.stderr


def test_figures_come_from_trees():
    """Their form, not their values: those change with each template, and scripts/figures.py writes them."""
    assert ROOT / "README.md" in figures.pages()
    for page in figures.pages():
        text = page.read_text(encoding="utf-8")
        marked = figures.FIGURE.findall(text)
        assert len(marked) == text.count("<!-- figure:") == text.count("<!-- end -->") >= 3
        for _, name, value, _ in marked:
            assert re.fullmatch(r"(minimal|standard|full)_(files|lines|core)|port_functions", name)
            assert re.fullmatch(r"\d{1,3}(,\d{3})*", value), name


@pytest.mark.parametrize(("number", "text"), [(7, "7"), (71, "71"), (420, "420"), (5432, "5,400"), (51993, "52,000")])
def test_sizes_are_rounded(number, text):
    assert figures.rounded(number) == text
