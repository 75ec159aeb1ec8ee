"""Adopt: a spec from a backend that exists, for `openreg-gen new NAME --from PACKAGE`.

    read          imports the package, and writes what the dispatcher and the interfaces say (the only step with PyTorch)
    write         turns that and the owner's sources into a spec, a report and a list of all that is unclear
    place         moves the owner's kernels into a tree that was rendered from the spec

docs/design.md has the modules behind them. Nothing is guessed: what can't be read is a row of `unclear`.
"""

from .. import python_kernels

python_kernels.watch()  # before a backend is imported
