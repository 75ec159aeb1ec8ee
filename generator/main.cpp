// openreg-gen: renders a complete PyTorch PrivateUse1 backend from one spec.
#include "cli/answer.h"
#include "cli/verb.h"

#include <exception>
#include <filesystem>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

int run(int argc, char** argv) {
  using namespace openreg_gen;
  const Verb verb = command();
  CLI::App app(verb.about, verb.name);
  Invocation call;
  const Run run_chosen = set_up(verb, app, call);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
  try {
    const Exit exit = run_chosen(call);
    check_output();
    return static_cast<int>(exit);
  } catch (const Failure& failure) {
    return print_failure(failure, call.json);
  } catch (const std::filesystem::filesystem_error& error) {
    return print_failure(Failure(Exit::Environment, "E0506", error.what(), {}), call.json);
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
