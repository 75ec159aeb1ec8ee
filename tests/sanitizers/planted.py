"""Are the sanitizers of a tree's option NAME_SANITIZE awake in each of its libraries? scripts/nightly.sh sanitized_trees runs this.

planted.py TREE     minimal, with component ci, and PyTorch in build/ci/venv

Plants four faults in the device library, the runtime and the bindings, each in a function that synchronize() runs, builds the tree as
step `sanitize` of ci/steps.sh does, and asks for each fault in a process of its own. What sanitizers can't see is in
docs/guides/sanitizers.md.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

FAULTS = {  # what the report must say
    "overflow": (
        "int* volatile four = new int[4]; volatile int end = 4; four[end] = 1; delete[] four;",
        "heap-buffer-overflow",
    ),
    "freed": ("int* volatile one = new int(1); delete one; *one = 2;", "heap-use-after-free"),
    "shift": ("volatile int bits = 40; volatile int one = 1; one = one << bits;", "shift exponent 40 is too large"),
    "leak": (
        "int* volatile lost = new int[100]; if (lost != nullptr) lost = nullptr;",
        "LeakSanitizer: detected memory leaks",
    ),
}
PLACES = {  # library: its file, and how the function begins
    "device": ("third_party/{name}/src/device.cpp", r"^\w+Error_t \w+DeviceSynchronize\(\) \{\n"),
    "runtime": ("csrc/runtime/Functions.cpp", r"^void device_synchronize\(c10::DeviceIndex device\) \{\n"),
    "bindings": ("torch_{name}/csrc/Module.cpp", r"^void synchronize\(int64_t index\) \{(?= )"),
}
SCRIPT = 'import torch; torch.ones(1, device="{name}"); torch.{name}.synchronize()'


def plant(tree: Path, name: str) -> None:
    for library, (file, begin) in PLACES.items():
        path = tree / file.format(name=name)
        faults = "".join(f'  if (planted == "{library}:{fault}") {{ {code} }}\n' for fault, (code, _) in FAULTS.items())
        call = f'\n  const char* const said = ::getenv("PLANTED");\n  const std::string planted = said == nullptr ? "" : said;\n{faults} '
        text, count = re.subn(begin, lambda found, call=call: found[0] + call, path.read_text(), flags=re.MULTILINE)
        assert count == 1, f"{path}: {count} places for {begin}"
        path.write_text("#include <stdlib.h>\n#include <string>\n" + text)


def main() -> int:
    tree = Path(sys.argv[1]).resolve()
    name = next((tree / "third_party").iterdir()).name
    plant(tree, name)
    steps = (tree / "ci/steps.sh").read_text()
    step = re.search(r"^step_sanitize\(\) \{\n(.*?)^\}", steps, re.MULTILINE | re.DOTALL)[1]
    assert "python -m pytest" in step
    # The step itself, but for what it runs.
    shell = steps[: steps.index('[ "$(type -t "step_')].replace('cd "$(dirname "$0")/.."', f"cd {tree}")
    shell += (
        "run() {\n"
        + re.sub(r"python -m pytest.*", f"python -c {shlex.quote(SCRIPT.format(name=name))}", step)
        + "}\nrun"
    )
    missed = []
    for wanted in ["nothing", *(f"{library}:{fault}" for library in PLACES for fault in FAULTS)]:
        env = {**os.environ, "PLANTED": wanted}
        if wanted != "nothing":  # it is built
            shell = shell.replace("step_build address", "use_environment")
        done = subprocess.run(["bash", "-c", shell], env=env, capture_output=True, text=True, timeout=1200, check=False)
        report = FAULTS.get(wanted.partition(":")[2], (None, None))[1]
        if (done.returncode != 0) != (report is not None) or (report or "") not in done.stderr:
            missed.append(wanted)
            print(f"{wanted}: it ended with {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}", flush=True)
    print(f"figures: {len(PLACES) * len(FAULTS)} planted faults, {len(missed)} missed")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
