// openreg-gen test [OP...]: builds what changed in a tree, then runs its tests, or those of some operators.
#include "cli/build_tree.h"
#include "cli/next.h"
#include "cli/verb.h"
#include "base/suggest.h"
#include "base/text.h"
#include "system/child.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <set>

namespace openreg_gen {
namespace {

struct TestOptions {
  std::vector<std::string> ops;
};

void declare(CLI::App& app, Invocation& call, TestOptions& options) {
  app.add_option("OP", options.ops,
                 "Operators of the spec, abs.out; default: all tests. Arguments after -- go to pytest");
  call.add_tree(app);
  call.add_torch(app);
}

/// pytest's -k: ids of parametrised tests hold an operator's name, or that without its overload, between brackets and
/// dashes.
std::string selection(Invocation& call, const OpenTree& tree, const Spec& tree_spec,
                      const std::vector<std::string>& words) {
  const std::vector<std::string> ops = call.operators(tree);
  const auto base_of = [](const std::string& op) { return op.substr(0, op.find('.')); };
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    const Op* declared = call.catalog().find(word);
    const std::size_t before = parts.size();
    const bool own = std::ranges::any_of(tree_spec.custom_ops, [&](const CustomOpSpec& each) {
      return !each.expr.given() && (each.parsed.name() == word || each.parsed.base == word);
    });
    if (own) {
      fmt::print("{0}: no tests are rendered for it, as its kernel is yours: those whose names hold '{0}' run\n", word);
      std::fflush(stdout);
      parts.push_back(word);
      continue;
    }
    for (const std::string& op : ops) {
      if (word != op && word != base_of(op) && (declared == nullptr || declared->structured_delegate != op)) continue;
      for (const std::string& name : {op, base_of(op), base_of(op) + ".default"})
        for (const std::string_view ends : {"[]", "[-", "--", "-]"}) parts.push_back(ends[0] + name + ends[1]);
    }
    if (parts.size() > before) continue;
    std::set<std::string> known(ops.begin(), ops.end());
    for (const std::string& op : ops) known.insert(base_of(op));
    const std::string hint = did_you_mean(word, std::vector<std::string_view>(known.begin(), known.end()));
    throw Failure(Exit::BadInput, "E0553", fmt::format("'{}' is not in {}", word, tree.manifest.spec),
                  hint.empty() ? "`openreg-gen ops list " + tree.manifest.spec + "` lists its operators" : hint);
  }
  return fmt::format("{}", fmt::join(parts, " or "));
}

Exit run(Invocation& call, const TestOptions& options) {
  const OpenTree tree = call.tree(Access::Read);
  const BuildPrograms programs = build_programs(tree);
  if (!programs.exist())
    throw Failure(Exit::Environment, "E0558",
                  !programs.built
                      ? fmt::format("'{}' was never built", tree.root.string())
                      : fmt::format("'{}' was built with programs that no longer exist", tree.root.string()),
                  "in the environment that should have it: " + Next(call, tree.root).install());
  Diagnostics ignored;
  const Spec spec = parse_spec(tree.root / tree.manifest.spec, ignored);
  std::vector<std::string> pytest{programs.python, "-m", "pytest"};
  if (!options.ops.empty()) pytest.insert(pytest.end(), {"-k", selection(call, tree, spec, options.ops)});
  pytest.insert(pytest.end(), call.passed_on.begin(), call.passed_on.end());
  build_tree(tree, programs);
  // `import torch` loads one backend, and others of ours that are installed leave it to this one.
  ::setenv("TORCH_DEVICE_BACKEND", spec.backend.name->c_str(), 1);
  // pytest's own codes: 2 interrupted, 3 a fault of its own, 4 a bad argument, 5 no test.
  const int code = run_program(tree.root, pytest);
  return code == 0 ? Exit::Done : code == 4 ? Exit::BadInput : code == 3 ? Exit::Environment : Exit::No;
}

}  // namespace

Verb test_verb() {
  return {"test",
          "Build what changed in a backend, then run its tests, or only those of some operators",
          with_options<TestOptions>(declare, run),
          {"test", "test abs.out relu", "test abs.out -- -x --pdb", "test -- tests/test_streams.py"}};
}

}  // namespace openreg_gen
