"""Runs scripts of scripts_cuda in one process, and prints what each leaves in RESULT.

    python cuda_runs.py FOLDER [--as-cuda NAME]

A line per script: its name, and {"result": ...} or {"error": "Type: message"}. A program of its own, as PyTorch without a backend
and one with it can't be in one process.
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
        with around(), contextlib.redirect_stdout(io.StringIO()):
            return {"result": runpy.run_path(str(path), run_name="__main__")["RESULT"]}
    except (Exception, SystemExit) as error:
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    finally:
        os.environ.clear()
        os.environ.update(saved)


def main(folder, *words):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder, around = pathlib.Path(folder).absolute(), contextlib.nullcontext
    if words:
        from openreg_gen.as_cuda import as_cuda

        def around():
            return as_cuda(words[1], None, folder)

    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for path in sorted(folder.glob("*.py")):
            print(json.dumps([path.stem, run(path, around)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
