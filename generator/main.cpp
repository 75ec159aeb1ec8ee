// openreg-gen: renders a complete PyTorch PrivateUse1 backend from one spec.
#include "cli/run.h"

int main(int argc, char** argv) { return openreg_gen::run_command(argc, argv); }
