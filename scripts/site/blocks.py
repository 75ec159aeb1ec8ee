"""A Sphinx extension for blocks that need more than a style sheet: long lines of code, captions, pictures and wide tables."""

import re

from bs4 import BeautifulSoup
from docutils import nodes

# A column of code at 1400 pixels holds so many characters. tests/test_site.py measures it.
COLUMNS = 110
CAPTION = re.compile(r"(Save as|From) \S+:")  # the book's, which scripts/book.py reads


def mark(app, doctree):
    for block in doctree.findall(nodes.literal_block):
        if any(len(line) > COLUMNS for line in block.astext().splitlines()):
            block["classes"].append("long-lines")
        above = block.parent[max(0, block.parent.index(block) - 1)]
        if isinstance(above, nodes.paragraph) and CAPTION.fullmatch(above.astext()):
            above["classes"].append("caption-of-code")
    for paragraph in doctree.findall(nodes.paragraph):
        if [type(child) for child in paragraph] == [nodes.image]:
            paragraph["classes"].append("picture")


def label_cells(app, page, template, context, doctree):
    """On a phone a table of three or more columns becomes a list; each cell says its column."""
    if "<table" not in context.get("body", ""):
        return
    soup = BeautifulSoup(context["body"], "html.parser")
    for table in soup.find_all("table"):
        heads = [head.get_text() for head in table.select("thead th")]
        if len(heads) > 2:
            table["class"].append("listed-on-phones")
            for row in table.select("tbody tr"):
                for cell, head in zip(row.find_all("td"), heads, strict=True):
                    if cell.get_text(strip=True):
                        cell["data-label"] = head
    context["body"] = str(soup)


def setup(app):
    app.connect("doctree-read", mark)
    app.connect("html-page-context", label_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
