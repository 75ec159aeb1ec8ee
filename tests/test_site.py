"""The documentation as a site: generated pages, the table of contents, pictures, links."""

import html
import os
import re
import shutil
import subprocess
import sys

import pytest
from trees import COMMAND, ROOT

sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts/site")]
import capture  # noqa: E402
import figures  # noqa: E402
import pictures  # noqa: E402

DOCS = ROOT / "docs"
PYTHON = ROOT / ".venv/site/bin/python"
COLUMNS = int(re.search(r"^COLUMNS = (\d+)", (ROOT / "scripts/site/blocks.py").read_text(), re.M)[1])


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
def test_text_of_pictures_can_be_read(name):
    """In the picture's own pixels: pages show pictures somewhat smaller, and 11 is the least that one can read."""
    sizes = re.findall(r'font-size="([\d.]+)"', (pictures.DOCS / name).read_text())
    assert sizes and min(map(float, sizes)) >= 13


@pytest.mark.parametrize("name", pictures.every_picture())
def test_pictures_are_what_their_script_draws(name):
    assert pictures.every_picture()[name]() == (pictures.DOCS / name).read_text(), "run scripts/site/pictures.py"


def contrast(one, other):
    """By WCAG 2: 4.5 is enough for text of normal size."""

    def light(colour):
        digits = colour.lstrip("#")
        digits = digits if len(digits) == 6 else "".join(2 * each for each in digits)
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((light(one), light(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", pictures.every_picture())
def test_pictures_say_what_their_colours_mean_and_can_be_read_in_the_dark(name):
    text = (pictures.DOCS / name).read_text()
    shown = set(re.findall(r'class="(\w+)"', text)) & set(pictures.KINDS)
    assert all(f">{pictures.KINDS[kind][0]}<" in text for kind in shown)
    rest = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    assert not re.search(r"#[0-9a-f]{3,6}\b", rest), "a colour of its own does not follow the window's"
    assert min(float(size) for size in re.findall(r'font-size="([\d.]+)"', text)) >= 12
    light, dark = (dict(re.findall(r"(?:^|[},])(text|\.ground)[^{]*\{fill:(#\w+)", style))
                   for style in (pictures.STYLE, pictures.DARK))  # fmt: skip
    for kind in shown:
        _, fill, _, dark_fill, _ = pictures.KINDS[kind]
        assert contrast(light["text"], fill) >= 4.5 and contrast(dark["text"], dark_fill) >= 4.5, kind
    assert contrast(dark["text"], dark[".ground"]) >= 4.5


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


def test_colours_of_code_can_be_read(site):
    """Both palettes, on their own ground; whitespace has no glyphs."""
    style = (site / "_static/pygments.css").read_text()
    grounds, colours = {}, []
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", style, flags=re.S)):
        palette = "dark" if "data-theme" in selector else "light"
        ground = re.search(r"background(?:-color)?: (#\w+)", body)
        colour = re.search(r"(?<![-\w])color: (#\w+)", body)
        token = re.search(r"\.highlight(?: \.(\w+))?\s*$", selector)
        if token and not token[1] and ground:
            grounds[palette] = ground[1]
        elif token and token[1] and token[1] != "w" and colour:
            colours.append((palette, token[1], colour[1], ground and ground[1]))
    assert set(grounds) == {"light", "dark"} and len(colours) > 60
    assert [each for each in colours if contrast(each[2], each[3] or grounds[each[0]]) < 4.5] == []


def test_no_option_loses_a_hyphen_and_no_line_of_code_is_cut(site):
    """Smart quotes make a dash of `--`. A line that is longer than the column is broken, which needs its class."""
    for page in sorted(site.rglob("*.html")):
        article = page.read_text().partition("<article")[2].partition("</article>")[0]
        assert "\u2013" not in article and "\u2014" not in article, page
        blocks = re.findall(r'<div class="([^"]*\bhighlight-[^"]*)">(?:<div[^>]*>)*<pre>(.*?)</pre>', article, re.S)
        for classes, code in blocks:
            longest = max(map(len, html.unescape(re.sub(r"<[^>]+>", "", code)).splitlines()), default=0)
            assert (longest > COLUMNS) == ("long-lines" in classes), (page, longest)


def test_a_page_has_one_title(site):
    for page in sorted(set(site.rglob("*.html")) - {site / "search.html"}):
        assert page.read_text().count("<h1") == 1, page


def test_captions_of_the_book_are_seen(site):
    page = (site / "book/06-streams.html").read_text()
    assert re.search(r'<p class="caption-of-code">Save as <code.*?Slow\.cpp.*?</p>\s*<div class="highlight-cpp', page)


def test_the_site_in_a_browser(site):
    """Offline: search finds pages, no page is wider than a phone's screen, and nothing is cut off at 1400 pixels."""
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
            page.set_viewport_size({"width": 1400, "height": 844})
            wide = "[...document.querySelectorAll('article pre, .table-wrapper')].filter(e => e.scrollWidth > e.clientWidth + 1)"
            assert page.evaluate(f"{wide}.map(e => e.textContent.slice(0, 200))") == [], path
            page.set_viewport_size({"width": 390, "height": 844})
        page.goto((site / "search.html").as_uri() + "?q=guard")
        page.wait_for_selector("#search-results li a")
        assert page.locator("#search-results li a", has_text="The current device and its guard").count() > 0
        running.close()


def test_the_first_commands_are_the_same_everywhere():
    def commands(page):
        block = next(each for each in re.findall(r"```sh\n(.*?)```", page, re.S) if "openreg-gen new mybackend" in each)
        return [" ".join(line.partition(" # ")[0].split()) for line in block.splitlines()]

    first = commands(README)
    assert commands((DOCS / "index.md").read_text()) == first
    assert commands((DOCS / "start/index.md").read_text()) == first[1:]


def test_the_first_picture_shows_what_the_command_prints_now(openreg_gen, tmp_path):
    """scripts/site/capture.py draws it; the number of tests is compared where they run, in `scripts/test.sh components`."""

    def run(words):
        return openreg_gen(*words[1:], cwd=tmp_path).stdout

    assert capture.differences(capture.read(DOCS / "start/first-run.svg"), run) == []


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short_and_has_a_door_for_each_reader():
    assert len(README.splitlines()) <= 150
    doors = README.split("| you | start with |")[1].split("\n\n")[0]
    kinds = ("have a chip", "have an idea", "want to learn", "want to look")
    assert doors.count("](") == len(kinds) and all(f"**{kind}**" in doors for kind in kinds)
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
