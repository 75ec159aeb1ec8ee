"""`openreg-gen try`: the package is `trial`, since a package named by a word of Python's can't be imported."""

from . import command
from .trial.__main__ import main

if __name__ == "__main__":
    command.run(main)
