"""Trees whose device takes kernels in a language: what is rendered, and that each GLSL program is one."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parent.parent
KINDS = "api: external\n  kernels: glsl"
REAL = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


def spec_with(tmp_path, device):
    """The expressions of the OpenCL spec for another device."""
    text = (ROOT / "specs/opencl.yaml").read_text().replace("api: opencl", device)
    path = tmp_path / "mychip.yaml"
    path.write_text(re.sub(r"name: \w+", "name: mychip", text, count=1))
    return path


@pytest.fixture(scope="module")
def glsl(openreg_gen, tmp_path_factory):
    folder = tmp_path_factory.mktemp("glsl")
    openreg_gen("new", "mychip", "--spec", str(spec_with(folder, KINDS)), "--out", str(folder / "tree"), cwd=folder)
    return folder / "tree"


def test_external_trees_have_the_generic_half_and_their_languages_sources(glsl):
    assert {path.name for path in (glsl / "csrc/programs").iterdir()} >= {
        "Programs.cpp",
        "Language.cpp",
        "Elements.cpp",
    }
    assert not (glsl / "csrc/programs/Rows.cpp").exists()  # GLSL has no rows.glsl
    assert (glsl / "tests/test_bringup_4b_programs.py").exists()


def test_expressions_that_glsl_lacks_functions_of_run_on_copies(glsl, openreg_gen, environment):
    assert "ONLY_exp_out" in (source := (glsl / "torch_mychip/glsl/pointwise.glsl").read_text())
    assert "ONLY_erf_out" not in source
    listed = openreg_gen("ops", "coverage", "-C", glsl, "--list", "native", "--torch", environment[1]).stdout
    assert "GLSL has no 'std::erf'" in listed
    assert re.search("argmax.out .* on copies: GLSL has no kernels that pick", listed)
    assert re.search("(?m)^sum.IntList_out .* reduction$", listed)


@pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="glslangValidator is not installed")
@pytest.mark.parametrize(
    "dtype", [name if name in ("float32", "int32") else pytest.param(name, marks=pytest.mark.nightly) for name in REAL]
)
def test_programs_are_glsl(glsl, dtype, tmp_path):
    folder = glsl / "torch_mychip/glsl"
    common = "".join((folder / f"{file}.glsl").read_text() for file in ("types", "functions"))
    command = ["glslangValidator", "-V", "--target-env", "vulkan1.2", "-S", "comp", "-o", str(tmp_path / "out")]
    programs = []
    for file, forms in (("pointwise", ("flat", "any")), ("reduction", ("each", "fold", "end"))):
        names = re.findall(r"defined\(ONLY_(\w+)\)", (folder / f"{file}.glsl").read_text())
        for i, name in enumerate(names):
            form = forms[i % len(forms)]  # each operator in one of its forms
            programs.append((file, [f"-DONLY_{name}", f"-DKERNEL_{name}_{form}", "-DGROUP=64"]))
    programs += [("copy", ["-DBYTES=1", "-DKERNEL_convert"])]
    wrong = {}
    for file, options in programs:
        (tmp_path / "program.comp").write_text(common + "#line 1\n" + (folder / f"{file}.glsl").read_text())
        done = subprocess.run(
            [*command, f"-DT_{dtype}", *options, str(tmp_path / "program.comp")], capture_output=True, text=True
        )
        if done.returncode != 0:
            wrong[options[0]] = done.stdout
    # Functions of float alone: the C++ half never builds these for float64, nor, as PyTorch promotes, for whole numbers.
    if dtype == "float64":
        wrong = {name: text for name, text in wrong.items() if "no matching overloaded function" not in text}
    if dtype == "int64":  # which GLSL turns into float by a constructor alone
        wrong = {name: text for name, text in wrong.items() if "no operation" not in text or "float" not in text}
    assert not wrong


def test_a_language_that_is_none_has_a_place_and_a_hint(openreg_gen, tmp_path):
    path = spec_with(tmp_path, "api: external\n  kernels: glls")
    done = openreg_gen("check", str(path), cwd=tmp_path, code=2)
    assert "kernels" in done.stderr + done.stdout
    assert "glsl" in done.stderr + done.stdout
