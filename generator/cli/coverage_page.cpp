// The page of `openreg-gen ops coverage --html`: markup, style and script in one text; the numbers go in as JSON.
#include "cli/coverage_view.h"

#include "catalog/schema_diff.h"

namespace openreg_gen {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Operator coverage</title>
<style>
:root {
  --back: #fbfbfa; --card: #fff; --ink: #1d2024; --faint: #5b626b; --line: #dfe2e6; --focus: #0b57d0;
  --native: #1a7f4b; --delegate: #63b58a; --composite: #3b78c9; --fallback: #d99a1c; --missing: #c4383d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #15171a; --card: #1d2024; --ink: #e7e9ec; --faint: #a3abb5; --line: #363b42; --focus: #8ab4f8;
    --native: #3fb47a; --delegate: #2c6e4d; --composite: #5a95e6; --fallback: #e0ac43; --missing: #e8656a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 26px; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 16px; margin: 0 0 10px; }
.about { color: var(--faint); margin: 2px 0 20px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px; }
.bar { display: flex; height: 12px; border-radius: 6px; overflow: hidden; background: var(--line); gap: 1px; }
.bar span { display: block; min-width: 2px; }
.bar.large { height: 22px; margin-bottom: 14px; }
.native { background: var(--native); } .delegate { background: var(--delegate); }
.composite { background: var(--composite); } .fallback { background: var(--fallback); }
.missing { background: var(--missing); }
.states { display: flex; flex-wrap: wrap; gap: 8px; border: 0; margin: 0; padding: 0; }
.states label { display: flex; align-items: center; gap: 8px; padding: 6px 12px; border: 1px solid var(--line);
  border-radius: 8px; cursor: pointer; flex: 1 1 190px; }
.states label:has(:checked) { border-color: var(--faint); }
.states small { display: block; color: var(--faint); line-height: 1.3; }
.states b { font-variant-numeric: tabular-nums; margin-left: auto; text-align: right; white-space: nowrap; }
.states b small { font-weight: 400; }
.dot { width: 12px; height: 12px; border-radius: 3px; flex: none; display: inline-block; }
.layout { display: grid; grid-template-columns: 330px minmax(0, 1fr); gap: 18px; margin-top: 18px; align-items: start; }
@media (max-width: 880px) { .layout { grid-template-columns: minmax(0, 1fr); } }
.family { display: grid; grid-template-columns: 1fr auto; gap: 1px 10px; width: 100%; padding: 5px 8px; border: 0;
  border-radius: 6px; background: none; color: inherit; font: inherit; font-size: 14px; text-align: left; cursor: pointer; }
.family:hover { background: var(--back); }
.family[aria-pressed=true] { background: var(--back); box-shadow: inset 3px 0 var(--focus); font-weight: 600; }
.family .bar { grid-column: 1 / 3; height: 7px; }
.family i { font-style: normal; color: var(--faint); font-variant-numeric: tabular-nums; }
.tools { display: flex; flex-wrap: wrap; gap: 10px; align-items: end; margin-bottom: 10px; }
.tools label { flex: 1; font-size: 13px; color: var(--faint); }
input[type=search] { display: block; width: 100%; padding: 9px 12px; font: inherit; font-size: 16px; color: var(--ink);
  background: var(--back); border: 1px solid var(--faint); border-radius: 8px; }
button.plain { padding: 9px 14px; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--faint);
  border-radius: 8px; cursor: pointer; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 1px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
caption { text-align: left; color: var(--faint); padding: 2px 0 8px; }
th { text-align: left; font-size: 12.5px; color: var(--faint); font-weight: 600; border-bottom: 1px solid var(--line); }
th, td { padding: 6px 10px 6px 0; vertical-align: top; }
td { border-bottom: 1px solid var(--line); }
td:nth-child(2) { white-space: nowrap; }
td .dot { margin-right: 7px; vertical-align: -1px; }
code { font: 13px/1.45 ui-monospace, "SFMono-Regular", Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
td code + code { display: block; color: var(--faint); font-size: 12px; }
#more { margin-top: 12px; }
</style>
</head>
<body>
<main>
<h1>Operator coverage</h1>
<p class="about" id="about"></p>
<noscript><p>This page lists operators with a script. <code>openreg-gen ops coverage</code> prints the same as text.</p></noscript>
<section aria-labelledby="states-title">
<h2 id="states-title">What becomes of each operator</h2>
<div class="bar large" id="all" role="img"></div>
<fieldset class="states" id="states" aria-label="Shown kinds"></fieldset>
</section>
<div class="layout">
<section aria-labelledby="families-title">
<h2 id="families-title">Families</h2>
<div id="families"></div>
</section>
<section aria-labelledby="ops-title">
<h2 id="ops-title">Operators</h2>
<div class="tools">
<label>Search names, schemas and reasons
<input type="search" id="search" autocomplete="off" spellcheck="false" placeholder="add.out, upsample, Generator"></label>
<button class="plain" id="reset" type="button">Show all</button>
</div>
<div class="scroll">
<table>
<caption id="count" aria-live="polite"></caption>
<thead><tr><th scope="col">Operator</th><th scope="col">Coverage</th><th scope="col">Family</th><th scope="col">How, or why not</th></tr></thead>
<tbody id="rows"></tbody>
</table>
</div>
<button class="plain" id="more" type="button" hidden></button>
</section>
</div>
</main>
<script type="application/json" id="data">)";

constexpr std::string_view kScript = R"(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const kinds = data.kinds, page = 250;
const about = {
  native: "a kernel of the backend", delegate: "PyTorch's form over its structured kernel",
  composite: "made of other operators", fallback: "by way of the CPU", missing: "raises an error",
};
const get = (id) => document.getElementById(id);
const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const number = (n) => n.toLocaleString("en");
const rows = data.rows.map(([op, kind, family, how, schema]) => ({
  op, kind: kinds[kind], family: data.families[family], how, schema,
  text: (op + " " + schema + " " + how).toLowerCase(),
}));
const tally = (list) => {
  const counts = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  for (const row of list) counts[row.kind]++;
  return counts;
};
const spoken = (counts) => kinds.filter((kind) => counts[kind]).map((kind) => `${number(counts[kind])} ${kind}`).join(", ");
const fillBar = (bar, counts) => {
  for (const kind of kinds) {
    if (counts[kind]) bar.append(make("span", { class: kind, style: `flex: ${counts[kind]}`, title: `${kind}: ${number(counts[kind])}` }));
  }
};
const state = { query: "", family: "", kinds: new Set(kinds), shown: page };

get("about").textContent = `${data.backend}, PyTorch ${data.torch}: ${number(rows.length)} operators`;
const totals = tally(rows);
fillBar(get("all"), totals);
get("all").setAttribute("aria-label", spoken(totals));
for (const kind of kinds) {
  const box = make("input", { type: "checkbox", value: kind, checked: "" });
  box.addEventListener("change", () => { box.checked ? state.kinds.add(kind) : state.kinds.delete(kind); update(); });
  const share = (100 * totals[kind] / rows.length).toFixed(1);
  get("states").append(make("label", {}, box, make("span", { class: `dot ${kind}` }),
    make("span", {}, kind, make("small", {}, about[kind])), make("b", {}, number(totals[kind]), make("small", {}, `${share} %`))));
}
for (const family of data.families) {
  const list = rows.filter((row) => row.family === family), counts = tally(list);
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  fillBar(bar, counts);
  const served = counts.native + counts.delegate + counts.composite;
  const button = make("button", { type: "button", class: "family", "data-family": family, "aria-pressed": "false",
    "aria-label": `${family}: ${number(list.length)} operators, ${spoken(counts)}`, title: spoken(counts) },
    make("span", {}, family), make("i", {}, `${number(served)} of ${number(list.length)}`), bar);
  button.addEventListener("click", () => { state.family = state.family === family ? "" : family; update(); });
  get("families").append(button);
}
function update(keep) {
  if (!keep) state.shown = page;
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => state.kinds.has(row.kind) && (!state.family || row.family === state.family) &&
    words.every((word) => row.text.includes(word)));
  get("rows").replaceChildren(...found.slice(0, state.shown).map((row) => make("tr", { "data-op": row.op },
    make("td", {}, make("code", {}, row.op), make("code", {}, row.schema)),
    make("td", {}, make("span", { class: `dot ${row.kind}`, "aria-hidden": "true" }), row.kind),
    make("td", {}, row.family), make("td", {}, row.how))));
  get("count").textContent = `${number(found.length)} of ${number(rows.length)} operators` +
    (state.family ? ` (family: ${state.family})` : "");
  get("more").hidden = found.length <= state.shown;
  get("more").textContent = `Show all ${number(found.length)}`;
  for (const button of document.querySelectorAll(".family"))
    button.setAttribute("aria-pressed", String(button.dataset.family === state.family));
}
get("search").addEventListener("input", (event) => { state.query = event.target.value; update(); });
get("more").addEventListener("click", () => { state.shown = Infinity; update(true); });
get("reset").addEventListener("click", () => {
  Object.assign(state, { query: "", family: "", kinds: new Set(kinds) });
  get("search").value = "";
  for (const box of document.querySelectorAll("#states input")) box.checked = true;
  update();
});
update();
</script>
</body>
</html>
)";

/// JSON inside a script element: no "</script>" and no "<!--" can come about.
std::string for_script(const nlohmann::json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true)) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

}  // namespace

std::string coverage_html(const CoverageTable& table, const CoverageSubject& subject) {
  nlohmann::json data = {{"backend", subject.name},
                         {"torch", subject.torch},
                         {"kinds", nlohmann::json::array()},
                         {"families", nlohmann::json::array()},
                         {"rows", nlohmann::json::array()}};
  for (const auto coverage : kCoverages) data["kinds"].push_back(to_string(coverage));
  std::map<std::string_view, std::size_t> place;
  for (const auto& [family, totals] : table.families) {
    place.emplace(family, place.size());
    data["families"].push_back(family);
  }
  for (const auto& row : table.rows) {
    const auto schema = without_namespace(row.op->schema);
    data["rows"].push_back({row.op->name, static_cast<int>(row.coverage), place.at(row.family), row.how,
                            schema.substr(row.op->name.size())});
  }
  return std::string(kHead) + for_script(data) + std::string(kScript);
}

}  // namespace openreg_gen
