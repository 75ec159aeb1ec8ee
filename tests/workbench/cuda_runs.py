"""Runs the scripts of folders in one process, and prints what each leaves in RESULT.

    python cuda_runs.py [NAME=]FOLDER...

NAME=FOLDER runs the scripts of a folder as they are, under `as_cuda`, on the device NAME. Prints a list of objects in JSON, one per
folder: {"script": {"result": ...} or {"error": "Type: message"}}. A program of its own: PyTorch with a backend and PyTorch without
one can't be in one process.
"""

import contextlib
import io
import json
import os
import pathlib
import runpy
import sys
import tempfile
import warnings

import torch


def run(path, around):
    saved = dict(os.environ)
    torch.manual_seed(0)
    sys.argv = [str(path)]
    try:
        with around, contextlib.redirect_stdout(io.StringIO()):
            return {"result": runpy.run_path(str(path), run_name="__main__")["RESULT"]}
    except (Exception, SystemExit) as error:
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    finally:
        os.environ.clear()
        os.environ.update(saved)


def results(name, folder):
    from openreg_gen.as_cuda import as_cuda

    found = {}
    for path in sorted(folder.glob("*.py")):
        found[path.stem] = run(path, as_cuda(name, None, folder) if name else contextlib.nullcontext())
    return found


def main(words):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folders = []
    for word in words:
        name, _, folder = word.rpartition("=")
        folders.append((name, pathlib.Path(folder).absolute()))
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        print(json.dumps([results(name, folder) for name, folder in folders]))
        os.chdir("/")


if __name__ == "__main__":
    main(sys.argv[1:])
