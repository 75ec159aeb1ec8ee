// openreg-gen: renders a complete PyTorch PrivateUse1 backend from one spec.
#include "cli/cli.h"
#include "cli/usage.h"

#include <exception>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

constexpr const char* kFooter = R"(Examples:
  openreg-gen new mybackend                        a backend with a simulated device, in torch_mybackend/
  openreg-gen new mychip --device external         the same over a port layer for a vendor's own runtime
  openreg-gen check mybackend.yaml                 every fault of a spec at once
  openreg-gen generate -C torch_mybackend --diff   what a changed spec would change
  openreg-gen add abs.out maximum.out              two operators more, in the spec and in the files
  openreg-gen status                               edits, conflicts, what undo would do
  openreg-gen undo                                 takes back what the last run wrote
  openreg-gen own setup.py                         yours from now on, never written again
  openreg-gen explain add.out                      a file, an operator or a diagnostic, in words
  openreg-gen ops 'add*'                           operators of the installed PyTorch
  source <(openreg-gen completion bash)            completion of verbs and flags

Exit codes: 0 done, 1 the answer is no (stale, edited), 2 bad input, 3 the environment, 4 openreg-gen's own fault.)";

int run(int argc, char** argv) {
  using namespace openreg_gen;
  CLI::App app("Renders a complete PyTorch PrivateUse1 backend from one spec.", "openreg-gen");
  Session session;
  app.footer(kFooter);
  app.set_version_flag("--version", "openreg-gen " OPENREG_GEN_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  for (const auto add : {add_new, add_generate, add_add, add_remove, add_explain, add_status, add_undo, add_own,
                         add_disown, add_check, add_ops, add_doctor, add_schema, add_completion}) {
    add(app, session);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
  try {
    const Exit exit = session.action();
    check_output();
    return static_cast<int>(exit);
  } catch (const Failure& failure) {
    return print_failure(failure, session.json);
  }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // A short run that allocates a lot of small things: nothing is given back before its end.
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    using namespace openreg_gen;
    return print_failure(Failure(Exit::Internal, "E0699", error.what(), "please report it with the spec"), false);
  }
}
