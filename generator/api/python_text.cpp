// A Python text as logical lines of tokens, and what they define and import.
#include "api/python.h"

#include "base/text.h"

namespace openreg_gen::api {
namespace {

struct Word {
  std::string_view text;
  unsigned line = 0, column = 0;
};
struct Line {
  std::size_t indent = 0;
  std::vector<Word> words;  // names and signs; strings and comments are left out, a string is '""'
  bool is(std::size_t at, std::string_view text) const { return at < words.size() && words[at].text == text; }
};

/// Brackets join lines; a string may have several.
std::vector<Line> lines_of(BorrowedText text) {
  std::vector<Line> lines;
  Line current;
  std::size_t at = 0, begin = 0;
  unsigned number = 1;
  int depth = 0;
  bool fresh = true;
  const auto column = [&] { return static_cast<unsigned>(at - begin + 1); };
  const auto newline = [&] { ++number, begin = at + 1; };
  const auto finish = [&] {
    if (!current.words.empty()) lines.push_back(std::move(current));
    current = {};
    fresh = true;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      newline();
      ++at;
      if (depth == 0) finish();
    } else if (c == '\\' && text.substr(at + 1).starts_with('\n')) {
      ++at;
      newline();
      ++at;
    } else if (is_space(c)) {
      ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else {
      if (fresh && depth == 0 && current.words.empty()) current.indent = at - begin;
      fresh = false;
      const std::size_t from = at;
      if (c == '"' || c == '\'') {
        current.words.push_back({"\"\"", number, column()});
        const bool triple = text.substr(at).starts_with(std::string(3, c));
        at += triple ? 3 : 1;
        while (at < text.size()) {
          if (text[at] == '\\') {
            if (text.substr(at + 1).starts_with('\n')) ++at, newline(), --at;
            at += 2;
          } else if (triple ? text.substr(at).starts_with(std::string(3, c)) : text[at] == c) {
            at += triple ? 3 : 1;
            break;
          } else {
            if (text[at] == '\n') {
              if (!triple) break;
              newline();
            }
            ++at;
          }
        }
      } else if (is_word(c) || (static_cast<unsigned char>(c) & 0x80) != 0) {
        const unsigned where = column();
        while (at < text.size() && (is_word(text[at]) || (static_cast<unsigned char>(text[at]) & 0x80) != 0)) ++at;
        const bool prefix = at < text.size() && (text[at] == '"' || text[at] == '\'') && at - from <= 2;
        if (!prefix) current.words.push_back({text.substr(from, at - from), number, where});
      } else {
        depth += includes("([{", text.substr(at, 1)) ? 1 : includes(")]}", text.substr(at, 1)) && depth > 0 ? -1 : 0;
        current.words.push_back({text.substr(at, 1), number, column()});
        ++at;
        if (c == ';' && depth == 0) {
          const std::size_t indent = current.indent;
          current.words.pop_back();
          finish();
          current.indent = indent;
          fresh = false;
        }
      }
    }
  }
  finish();
  return lines;
}

std::string dotted(const Line& line, std::size_t& at) {
  std::string out;
  while (at < line.words.size() && (is_word(line.words[at].text[0]) || line.is(at, "."))) {
    if (line.is(at, "import") || line.is(at, "as")) break;
    if (!out.empty() && out.back() != '.' && !line.is(at, ".")) break;
    out += line.words[at++].text;
  }
  return out;
}

/// ".codegen.simd" in "torch._inductor.ir" -> "torch._inductor.codegen.simd".
std::string absolute(std::string name, const std::string& module, bool is_package) {
  if (!name.starts_with('.')) return name;
  std::string base = module;
  bool first = true;
  while (name.starts_with('.')) {
    if (!(first && is_package)) base = base.substr(0, std::min(base.rfind('.'), base.size()));
    first = false;
    name.erase(0, 1);
  }
  return name.empty() ? base : base + "." + name;
}

struct Import {
  std::string module, name, as;  // no name: `import module`
  unsigned line = 0, column = 0;
};

std::vector<Import> imports_of(const Line& line, const std::string& module, bool is_package) {
  std::vector<Import> out;
  std::size_t at = 1;
  const auto alias = [&](Import& import) {
    if (line.is(at, "as") && at + 1 < line.words.size()) import.as = line.words[at + 1].text, at += 2;
  };
  if (line.is(0, "import")) {
    while (at < line.words.size()) {
      Import import{{}, {}, {}, line.words[at].line, line.words[at].column};
      import.module = dotted(line, at);
      alias(import);
      if (import.module.empty()) break;
      out.push_back(std::move(import));
      if (!line.is(at, ",")) break;
      ++at;
    }
  } else if (line.is(0, "from")) {
    const std::string from = absolute(dotted(line, at), module, is_package);
    if (!line.is(at, "import")) return out;
    for (++at; at < line.words.size();) {
      if (line.is(at, "(") || line.is(at, ")") || line.is(at, ",")) {
        ++at;
        continue;
      }
      Import import{from, std::string(line.words[at].text), {}, line.words[at].line, line.words[at].column};
      ++at;
      alias(import);
      out.push_back(std::move(import));
    }
  }
  return out;
}

std::string text_between(std::string_view text, const Word& first, const Word& last) {
  const auto begin = static_cast<std::size_t>(first.text.data() - text.data());
  const auto end = static_cast<std::size_t>(last.text.data() - text.data());
  std::string out;
  for (const char c : text.substr(begin + 1, end - begin - 1)) {
    if (is_space(c)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  return std::string(trimmed(out));
}

/// The bracket that closes the one at `open`; the last word if none does.
std::size_t closing(const Line& line, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < line.words.size(); ++at) {
    const std::string_view word = line.words[at].text;
    if (word == "(" || word == "[" || word == "{") ++depth;
    if ((word == ")" || word == "]" || word == "}") && --depth == 0) return at;
  }
  return line.words.empty() ? 0 : line.words.size() - 1;
}

struct Block {
  std::size_t indent = 0;
  enum Kind : unsigned char { Function, Class, Other } kind = Other;
  std::string name{};
};

}  // namespace

PythonModule read_python(std::string_view text, const std::string& name, bool is_package) {
  PythonModule out;
  std::vector<Block> blocks;
  const std::vector<Line> lines = lines_of(text);
  for (const Line& line : lines) {
    while (!blocks.empty() && line.indent <= blocks.back().indent) blocks.pop_back();
    const bool in_function =
        std::ranges::any_of(blocks, [](const Block& each) { return each.kind == Block::Function; });
    std::size_t at = line.is(0, "async") ? 1 : 0;
    const bool is_def = line.is(at, "def") && at + 1 < line.words.size(),
               is_class = line.is(0, "class") && line.words.size() > 1;
    if (in_function) {
      if (line.is(0, "global") || (line.is(0, "globals") && line.is(1, "(")))
        out.any = out.any || line.is(0, "globals");
      if (is_def || is_class) blocks.push_back({line.indent, Block::Function, {}});
      continue;
    }
    std::string owner;
    for (const Block& each : blocks)
      if (each.kind == Block::Class) owner = each.name;
    const auto define = [&](std::string_view word) {
      if (owner.empty())
        out.names.insert(std::string(word));
      else if (const auto type = out.classes.find(owner); type != out.classes.end())
        type->second.methods.insert({std::string(word), ""});
    };
    if (is_def) {
      const Word& word = line.words[at + 1];
      define(word.text);
      if (owner.empty() && word.text == "__getattr__") out.any = true;
      if (!owner.empty() && line.is(at + 2, "(") && out.classes.contains(owner)) {
        PythonClass& type = out.classes[owner];
        type.methods[std::string(word.text)] =
            text_between(text, line.words[at + 2], line.words[closing(line, at + 2)]);
        type.places[std::string(word.text)] = {word.line, word.column};
      }
      blocks.push_back({line.indent, Block::Function, {}});
    } else if (is_class) {
      const std::string word(line.words[1].text);
      define(word);
      if (owner.empty()) {
        PythonClass& type = out.classes[word];
        std::size_t place = 3;
        for (const std::size_t end = line.is(2, "(") ? closing(line, 2) : 0; place < end;) {
          if (const std::string base = dotted(line, place); !base.empty() && !line.is(place, "="))
            type.bases.push_back(base);
          else
            ++place;
          while (place < end && !line.is(place, ","))
            place = line.is(place, "[") || line.is(place, "(") ? closing(line, place) + 1 : place + 1;
          ++place;
        }
      }
      blocks.push_back({line.indent, Block::Class, owner.empty() ? word : owner + "." + word});
    } else if (line.is(0, "import") || line.is(0, "from")) {
      for (const Import& import : imports_of(line, name, is_package)) {
        if (import.name == "*") {
          out.stars.push_back(import.module);
          continue;
        }
        const std::string first = import.module.substr(0, std::min(import.module.find('.'), import.module.size()));
        const std::string as = !import.as.empty() ? import.as : import.name.empty() ? first : import.name;
        define(as);
        if (owner.empty())
          out.imported[as] =
              import.name.empty() ? (import.as.empty() ? first : import.module) : import.module + ":" + import.name;
      }
    } else {
      for (std::size_t i = 0; i < line.words.size(); ++i)
        if (line.is(i, "globals") && line.is(i + 1, "(")) out.any = out.any || owner.empty();
      int depth = 0;
      for (std::size_t i = 0; i < line.words.size(); ++i) {  // a, b = ...; a: T = ...; for a in; with x as a
        const std::string_view word = line.words[i].text;
        if (word == "(" || word == "[" || word == "{") ++depth;
        if (word == ")" || word == "]" || word == "}") --depth;
        const bool simple = is_identifier(word) && (i == 0 || !line.is(i - 1, "."));
        if (!simple || word == "else" || word == "try" || word == "finally") continue;
        if (i == 0 && line.is(1, ":")) {  // the rest is its type
          define(word);
          break;
        }
        const bool assigned = line.is(i + 1, "=") && !line.is(i + 2, "=") && depth == 0;
        const bool listed = line.is(i + 1, ",") || (i > 0 && line.is(i - 1, ","));
        const bool bound = i > 0 && (line.is(i - 1, "for") || line.is(i - 1, "as"));
        const bool walrus = line.is(i + 1, ":") && line.is(i + 2, "=");
        if (assigned || bound || walrus || (listed && depth == 0)) define(word);
      }
      if (!line.words.empty() && line.is(line.words.size() - 1, ":")) blocks.push_back({line.indent, Block::Other, {}});
    }
  }
  return out;
}

std::vector<PythonUse> python_uses(std::string_view text) {
  std::vector<PythonUse> out;
  std::map<std::string, std::string> meaning;  // a name of the file -> the module or name of torch
  const std::vector<Line> lines = lines_of(text);
  const auto of_torch = [](std::string_view name) { return name == "torch" || name.starts_with("torch."); };
  for (const Line& line : lines) {
    for (const Import& import : imports_of(line, "", false)) {
      if (!of_torch(import.module) || import.name == "*") continue;
      out.push_back({import.module, import.name, import.line, import.column});
      if (import.name.empty())
        meaning[import.as.empty() ? "torch" : import.as] = import.as.empty() ? "torch" : import.module;
      else
        meaning[import.as.empty() ? import.name : import.as] = import.module + "." + import.name;
    }
  }
  for (const Line& line : lines) {
    if (line.is(0, "import") || line.is(0, "from")) continue;
    for (std::size_t i = 0; i < line.words.size(); ++i) {
      const auto known = meaning.find(std::string(line.words[i].text));
      if (known == meaning.end() || (i > 0 && line.is(i - 1, ".")) || !line.is(i + 1, ".")) continue;
      std::string module = known->second;
      std::size_t at = i + 1;
      while (line.is(at, ".") && at + 1 < line.words.size() && is_identifier(line.words[at + 1].text)) {
        out.push_back({module, std::string(line.words[at + 1].text), line.words[i].line, line.words[i].column});
        module += "." + std::string(line.words[at + 1].text);
        at += 2;
      }
    }
  }
  return out;
}

}  // namespace openreg_gen::api
