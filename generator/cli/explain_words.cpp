// openreg-gen explain WORD: what the word names, by one table of lookups.
#include "cli/explain.h"

#include "base/suggest.h"
#include "diag/codes.h"
#include "releases/releases.h"
#include "render/data_dir.h"
#include "resolve/validate.h"
#include "spec/component_texts.h"
#include "spec/keys.h"
#include "strategy/strategy.h"

#include <fmt/ranges.h>

#include <regex>
#include <set>

namespace openreg_gen {
namespace {

std::vector<std::string> strings(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

std::vector<std::string> split(const std::string& text, const std::string& between) {
  std::vector<std::string> parts;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + between.size()) {
    end = std::min(text.find(between, at), text.size());
    parts.push_back(text.substr(at, end - at));
  }
  return parts;
}

/// A file where the reader has it: in the tree, or a page of the docs there or among the command's data; else empty.
std::string find_place(const Question& asked, const std::string& name) {
  std::error_code error;
  for (const std::string& path : {name, "docs/" + name})
    if (asked.tree && fs::exists(asked.tree->root / path, error)) return path;
  const fs::path page = (find_data().docs / name).lexically_normal();
  return fs::exists(page, error) ? page.string() : "";
}

std::vector<std::string> code_names(Question&) { return strings(mapped(all_codes(), &Code::code)); }

Answer explain_code(Question& asked, const std::string& name) {
  const Code& code = *find_code(name);
  const std::string about = plain_links(asked, std::string(code.explanation));
  return {fmt::format("{}: {}\n\n  {}\n", name, code.title, wrap_words(about, 2, page_width())),
          {{"code", code.code}, {"title", code.title}, {"text", code.explanation}}};
}

std::vector<std::string> names_of_components(Question&) { return strings(component_names()); }

Answer explain_component(Question& asked, const std::string& name) {
  const Component& component = *find_component(name);
  const std::string_view verb = asked.tree && asked.tree->spec.components.has(name) ? "remove" : "add";
  return answer_of(name + ": a component, an optional part of a tree",
                   {{"for", std::string(about(component, asked.tree && !(**asked.tree->spec.device.api).simulated))},
                    {"needs", fmt::format("{}", fmt::join(words_of(component.needs), ", "))},
                    {"profile", fmt::format("{} and larger", to_string(component.since))},
                    {"this tree", !asked.tree ? ""
                                              : fmt::format("{}; `openreg-gen {} component {}`",
                                                            verb == "add" ? "does not have it" : "has it", verb, name)},
                    {"read", find_place(asked, "components.md")}});
}

std::vector<std::string> strategy_words(Question&) { return strings(mapped(all_strategies(), &Strategy::word)); }

Answer explain_strategy(Question& asked, const std::string& name) {
  const Strategy& strategy = *find_strategy(name);
  std::vector<std::string> ops;
  for (const OpSpec& op : asked.tree ? asked.tree->spec.ops : std::vector<OpSpec>{})
    if (*op.strategy == name) ops.push_back(*op.name);
  return answer_of(name + ": a strategy, one way to give an operator its kernel",
                   {{"for", std::string(strategy.about)},
                    {"keys", fmt::format("{}", fmt::join(words_of(strategy.keys), ", "))},
                    {"component", std::string(strategy.component)},
                    {"this tree", first_of(ops)},
                    {"read", find_place(asked, "operators.md")}});
}

std::vector<std::string> key_paths(Question&) {
  auto paths = strings(mapped(all_keys(), &Key::path));
  std::erase(paths, "");
  return paths;
}

/// The header of the device's C API.
std::string device_api_path(const ExplainedTree& tree) {
  return fmt::format("third_party/{0}/include/{0}.h", *tree.spec.backend.name);
}

std::vector<std::string> device_api_names(Question& asked) {
  if (!asked.tree) return {};
  const std::string text = read_if_there(asked.tree->root / device_api_path(*asked.tree));
  const std::string code = std::regex_replace(text, std::regex("//[^\n]*"), "");
  const std::regex name("\\b" + *asked.tree->spec.backend.api_prefix + "[A-Z]\\w*");
  std::set<std::string> names;
  for (std::sregex_iterator match(code.begin(), code.end(), name), end; match != end; ++match)
    names.insert(match->str());
  return {names.begin(), names.end()};
}

/// The first mention outside of comments declares it, and the comment above or behind says what it is for.
Answer explain_device_api(Question& asked, const std::string& name) {
  const std::string path = device_api_path(*asked.tree), text = read_if_there(asked.tree->root / path);
  const auto lines = split_lines(text);
  const std::regex declares("[^/]*\\b" + name + "\\b.*");
  const auto at = std::ranges::find_if(
      lines, [&](std::string_view line) { return std::regex_match(line.begin(), line.end(), declares); });
  std::string about, declaration;
  for (auto i = at; i != lines.begin() && trimmed(i[-1]).starts_with("//"); --i)
    about = std::string(trimmed(trimmed(i[-1]).substr(2))) + " " + about;
  for (auto i = at; i != lines.end(); ++i) {
    const std::size_t end = std::min(i->find("//"), i->size());
    about += trimmed(i->substr(std::min(end + 2, i->size())));
    declaration += std::string(trimmed(i->substr(0, end))) + " ";
    if (std::ranges::count(declaration, '(') == std::ranges::count(declaration, ')')) break;
  }
  return answer_of(name + ": of the device's C API", {{"place", fmt::format("{}:{}", path, at - lines.begin() + 1)},
                                                      {"declaration", std::string(trimmed(declaration))},
                                                      {"for", std::string(trimmed(about))}});
}

/// "## guard, device guard", its sentences, and what is behind "See: ".
struct Term {
  std::vector<std::string> names;
  std::string text, see;
};

std::vector<Term> glossary() {
  std::vector<Term> terms;
  const std::string page = read_if_there(find_data().docs / "glossary.md");
  const std::regex term("\n## ([^\n]+)\n\n([^#]*?)\n\nSee: ([^\n]+)\n");
  for (std::sregex_iterator match(page.begin(), page.end(), term), end; match != end; ++match) {
    terms.push_back({split((*match)[1], ", "), (*match)[2], (*match)[3]});
    std::ranges::replace(terms.back().text, '\n', ' ');
  }
  return terms;
}

std::vector<std::string> glossary_names(Question&) {
  std::vector<std::string> names;
  for (const Term& term : glossary()) names.insert(names.end(), term.names.begin(), term.names.end());
  return names;
}

Answer explain_term(Question& asked, const std::string& name) {
  const auto terms = glossary();
  const Term& term = *std::ranges::find_if(terms, [&](const Term& each) { return contains(each.names, name); });
  std::string see = term.see;
  if (asked.tree) replace_all(see, "PACKAGE", *asked.tree->spec.backend.package);
  if (asked.tree) replace_all(see, "NAME", *asked.tree->spec.backend.name);
  std::vector<std::string> places = mapped(split(see, ", "), [&](std::string each) {
    std::erase_if(each, [](char c) { return contains(std::string_view("`)"), c); });
    return find_place(asked, each.substr(each.find('(') + 1));  // of [page](page.md) the page
  });
  std::erase(places, "");
  return answer_of(fmt::format("{}", fmt::join(term.names, ", ")),
                   {{"meaning", term.text}, {"see", fmt::format("{}", fmt::join(places, ", "))}});
}

/// One kind of thing: its names, and the explanation of each.
struct Lookup {
  std::string_view kind;
  std::vector<std::string> (*names)(Question& asked);
  Answer (*explain)(Question& asked, const std::string& name);
};

/// In the order in which a word that names several things is explained.
constexpr Lookup kLookups[] = {{"diagnostic", code_names, explain_code},
                               {"component", names_of_components, explain_component},
                               {"strategy", strategy_words, explain_strategy},
                               {"spec key", key_paths, explain_key},
                               {"device API", device_api_names, explain_device_api},
                               {"variable", variable_names, explain_variable},
                               {"macro", macro_names, explain_macro},
                               {"glossary", glossary_names, explain_term},
                               {"custom operator", custom_op_names, explain_custom_op},
                               {"operator", op_names, explain_op}};

/// The name as it is written, whatever the case of `word`; null if there is none.
const std::string* find_name(const std::vector<std::string>& names, const std::string& word) {
  const std::string* exact = find_by(names, word, [](const std::string& name) -> const std::string& { return name; });
  return exact ? exact : find_by(names, lower_case(word), lower_case);
}

/// "did you mean", of names and of the last words of keys: "dtypes".
std::string suggest(const std::vector<std::string>& names, const std::string& word) {
  const auto* key = find_by(names, word, [](const std::string& name) { return name.substr(name.rfind('.') + 1); });
  if (key) return fmt::format("did you mean '{}'?", *key);
  const std::string near = did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
  return near.empty() ? "`openreg-gen explain --help` says what it explains; `openreg-gen ops WORD` searches operators"
                      : near;
}

}  // namespace

Answer answer_of(const std::string& title, const std::vector<std::pair<std::string, std::string>>& facts) {
  Page page(page_width());
  Answer answer;
  for (const auto& [name, text] : facts) {
    page.entry(name, text);
    answer.json[name] = text;
  }
  answer.text = title + "\n\n" + page.take();
  return answer;
}

std::string plain_links(const Question& asked, const std::string& text) {
  static const std::regex link(R"(\[([^\]]*)\]\(([^)#]*)[^)]*\))");
  std::string out, rest = text;
  for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
    const std::string target = (*match)[2];
    const std::string place = includes(target, "://") ? target : find_place(asked, target);
    out += fmt::format("{}{} ({})", match->prefix().str(), (*match)[1].str(), place);
    rest = match->suffix();
  }
  return out + rest;
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  const std::size_t shown = std::min(names.size(), kShown);
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

std::string place_of_key(const ExplainedTree& tree, const std::string& path) {
  Diagnostics ignored;
  const auto root = read_document(tree.spec.text, tree.shown_spec, ignored);
  const Node* node = root ? &*root : nullptr;
  Location at;
  for (const std::string& part : split(path, ".")) {
    const auto* entry = node ? find_by(node->entries, part, [](const auto& each) { return each.first.text; }) : nullptr;
    if (!entry) return "not in " + tree.shown_spec;
    at = entry->first.at;
    node = &entry->second;
  }
  return fmt::format("{}:{}", tree.shown_spec, at.line);
}

Answer explain_key(Question& asked, const std::string& name) {
  const Key& key = *find_key(name);
  const bool one_place = asked.tree && name.find_first_of("*[") == std::string::npos;
  return answer_of(name + ": a key of the spec",
                   {{"for", plain_links(asked, std::string(about(key, vocabulary())))},
                    {"values", fmt::format("{}", fmt::join(key.values, ", "))},
                    {"default", std::string(key.required ? "none: it must be given" : default_text(key))},
                    {"example", std::string(key.example)},
                    {"this tree", one_place ? place_of_key(*asked.tree, name) : ""},
                    {"read", find_place(asked, "spec.md")}});
}

Exit explain_word(Question& asked, const std::string& given) {
  std::string word = given;
  for (const std::string& space : {std::string("aten"), asked.tree ? *asked.tree->spec.backend.name : ""})
    if (word.starts_with(space + "::")) word.erase(0, space.size() + 2);
  std::vector<std::string> known;
  std::vector<Answer> answers;
  for (const Lookup& lookup : kLookups) {
    const auto names = lookup.names(asked);
    known.insert(known.end(), names.begin(), names.end());
    const std::string* name = find_name(names, word);
    if (!name) continue;
    answers.push_back(lookup.explain(asked, *name));
    answers.back().json["kind"] = lookup.kind;
    answers.back().json["name"] = *name;
  }
  if (answers.empty()) {
    const Catalog& catalog = asked.call.catalog();  // without a PyTorch, that is what is missing
    Diagnostics diagnostics;
    find_op({word, {}}, catalog, "E0201", "E0202", diagnostics);
    const Diagnostic& of_op = diagnostics.all().at(0);  // an overload, or another release, has more to say
    if (of_op.code == "E0202" || find_op_release(word))
      throw Failure(Exit::BadInput, of_op.code, of_op.message, of_op.hint);
    throw Failure(Exit::No, "E0554", fmt::format("nothing is called '{}'", given), suggest(known, word));
  }
  nlohmann::ordered_json json = answers.back().json;
  for (std::size_t i = 0; i + 1 < answers.size(); ++i) json["also"].push_back(answers[i].json);
  return asked.call.answer(json, fmt::format("{}", fmt::join(mapped(answers, &Answer::text), "\n")), -1);
}

}  // namespace openreg_gen
