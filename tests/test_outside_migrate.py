"""`openreg-gen migrate`, tested from outside: only the documentation and what the command writes were read."""

import json
import re
import shutil

import pytest
from trees import ROOT

DECLARATIONS = "torchgen/packaged/ATen/native/native_functions.yaml"
NATIVE = "csrc/aten/native"
OPS = ("relu", "atan2", "poisson", "sub.Tensor", "topk")
FAST = {"relu": "relu(Tensor self, *, bool fast=False) -> Tensor"}
RELU = "at::Tensor relu(const at::Tensor& self) {\n  return self.clone();\n}\n\n"
RELU += 'X_KERNEL("relu", at::_ops::relu, relu, "native");\n'


@pytest.fixture(scope="module")
def rendered(openreg_gen, tmp_path_factory):
    """A tree with native kernels, and the declarations that it was rendered for."""
    where = tmp_path_factory.mktemp("outside_migrate")
    shutil.copytree(ROOT / "tests/torch-2.13.0", where / "torch-2.13.0")
    ops = "".join(f"  {op}: native\n" for op in OPS)
    (where / "start.yaml").write_text(f"backend: {{name: x}}\nprofile: minimal\namp: {{preset: none}}\nops:\n{ops}")
    openreg_gen("new", "x", "--spec", "start.yaml", cwd=where, torch=where / "torch-2.13.0")
    return where


class Tree:
    def __init__(self, where, openreg_gen):
        self.where, self.root, self.run = where, where / "torch_x", openreg_gen

    def kernel(self, name):
        return self.root / NATIVE / f"{name}.cpp"

    def write(self, name, code):
        """Replaces the kernel of a file; its head and its namespace stay."""
        text = self.kernel(name).read_text()
        start, end = text.index("// It starts as"), text.rindex("}  // namespace")
        self.kernel(name).write_text(text[:start] + code + "\n" + text[end:])

    def release(self, version, schemas, base="2.13.0"):
        """Declarations of another release, with these schemas; the tree is rendered for it."""
        other = self.where / f"torch-{version}"
        shutil.copytree(self.where / f"torch-{base}", other)
        text = (other / DECLARATIONS).read_text()
        for op, schema in schemas.items():
            text, found = re.subn(rf"(?m)^- func: {re.escape(op)}\(.*$", lambda _, s=schema: f"- func: {s}", text)
            assert found == 1, op
        (other / DECLARATIONS).write_text(text)
        self.other = other
        return self.run("generate", cwd=self.root, torch=other)

    def migrate(self, *argv, code=0):
        return self.run("migrate", *argv, "--torch", self.other, cwd=self.root, code=code)


@pytest.fixture
def tree(rendered, openreg_gen, tmp_path):
    return Tree(shutil.copytree(rendered, tmp_path / "outside"), openreg_gen)


def code(text):
    """C++ without comments and without spaces."""
    return re.sub(r"\s+", "", re.sub(r"//[^\n]*", "", text))


def test_parameters_of_one_type_that_change_places_are_named_and_rewritten(tree):
    tree.write(
        "atan2",
        "at::Tensor atan2(const at::Tensor& self, const at::Tensor& other) {\n  return self.atan2(other.cpu());\n}\n\n"
        'X_KERNEL("atan2", at::_ops::atan2, atan2, "native");\n',
    )
    said = tree.release("2.14.0", {"atan2": "atan2(Tensor other, Tensor self) -> Tensor"}).stdout
    assert "atan2(const at::Tensor& other, const at::Tensor& self)" in said
    tree.migrate("--yes")
    assert "atan2(const at::Tensor& other, const at::Tensor& self)" in tree.kernel("atan2").read_text()


def test_new_parameter_does_not_get_the_name_of_a_local_variable(tree):
    """Rewritten, it would not compile: a parameter and a variable of the outermost block can't share a name."""
    tree.write("relu", RELU.replace("return self.clone();", "const auto fast = self.clone();\n  return fast;"))
    tree.release("2.14.0", FAST)
    tree.migrate("--yes", code=None)
    text = code(tree.kernel("relu").read_text())
    assert not ("boolfast)" in text and "constautofast=" in text)


def test_kernel_that_is_a_lambda_is_listed_with_its_line(tree):
    tree.write("relu", 'X_KERNEL("relu", at::_ops::relu, [](const at::Tensor& self) { return self + 1; }, "native");\n')
    said = tree.release("2.14.0", FAST).stdout
    before = tree.kernel("relu").read_text()
    line = 1 + before[: before.index("X_KERNEL(")].count("\n")
    said += tree.migrate("--yes", code=1).stdout
    assert tree.kernel("relu").read_text() == before
    assert set(re.findall(r"relu\.cpp:(\d+)", said)) == {str(line)}


def test_declaration_and_calls_of_a_rewritten_kernel_are_not_left_behind(tree):
    """The old declaration would still compile, and its call would be an undefined symbol of the library."""
    declared = "at::Tensor relu(const at::Tensor& self);\n\n"
    tree.write(
        "relu", declared + RELU.replace("return self", "if (self.dim() > 3) return relu(self[0]);\n  return self")
    )
    tree.release("2.14.0", FAST)
    tree.migrate("--yes", code=None)
    text = code(tree.kernel("relu").read_text())
    assert not ("relu(constat::Tensor&self,boolfast){" in text and "relu(constat::Tensor&self);" in text)


def test_kernel_that_only_calls_the_cpu_in_an_order_of_its_own_hands_the_new_parameter_on(tree):
    """Or it is listed; it may not be written with a call that lacks the argument."""
    tree.write(
        "sub_Tensor",
        "at::Tensor sub_Tensor(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {\n"
        "  return host_call<at::_ops::sub_Tensor>(other, self, alpha);\n}\n\n"
        'X_KERNEL("sub.Tensor", at::_ops::sub_Tensor, sub_Tensor, "native");\n',
    )
    schema = "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1, bool negate=False) -> Tensor"
    tree.release("2.14.0", {"sub.Tensor": schema})
    tree.migrate("--yes", code=None)
    text = code(tree.kernel("sub_Tensor").read_text())
    if "boolnegate)" in text:
        assert "host_call<at::_ops::sub_Tensor>(other,self,alpha,negate)" in text


def test_file_with_crlf_line_ends_keeps_them(tree):
    tree.write("relu", RELU)
    crlf = tree.kernel("relu").read_bytes().replace(b"\n", b"\r\n")
    tree.kernel("relu").write_bytes(crlf)
    tree.release("2.14.0", FAST)
    tree.migrate("--yes")
    text = tree.kernel("relu").read_bytes()
    assert b"bool fast" in text
    assert text.count(b"\n") == text.count(b"\r\n")
    assert b" \r\n" not in text


def test_two_kernels_in_one_moved_file_are_both_rewritten_and_undone(tree):
    tree.write("relu", RELU)
    atan2 = RELU.replace("relu", "atan2").replace("self)", "self, const at::Tensor& other)")
    marks = "[openreg-gen aten::relu] [openreg-gen aten::atan2]"
    text = tree.kernel("relu").read_text().replace("[openreg-gen aten::relu]", marks)
    text = text.replace("\n}  // namespace", f"\n{atan2}\n}}  // namespace")
    text = text.replace(
        "#include <ATen/ops/relu_ops.h>", "#include <ATen/ops/atan2_ops.h>\n#include <ATen/ops/relu_ops.h>"
    )
    moved = tree.root / "csrc/mine/both kernels.cpp"
    moved.parent.mkdir()
    moved.write_text(text)
    tree.kernel("relu").unlink()
    tree.kernel("atan2").unlink()
    tree.release("2.14.0", {**FAST, "atan2": "atan2(Tensor self, Tensor other, *, float eps=0.5) -> Tensor"})
    tree.migrate("--yes")
    assert "bool fast" in moved.read_text() and "double eps" in moved.read_text()
    tree.run("undo", cwd=tree.root)
    assert moved.read_text() == text


def test_kernel_that_knows_only_a_default_is_named_when_a_release_changes_the_default(tree):
    """After 2.15, each call without `fast` is an error: the kernel compares it with the default of 2.14."""
    tree.write("relu", RELU)
    tree.release("2.14.0", FAST)
    tree.migrate("--yes")
    assert "TORCH_CHECK_NOT_IMPLEMENTED(!fast" in tree.kernel("relu").read_text()
    said = tree.release("2.15.0", {"relu": FAST["relu"].replace("False", "True")}, base="2.14.0").stdout
    said += tree.migrate("--yes", code=None).stdout
    listed = "default" in said and "relu.cpp:" in said
    assert listed or "TORCH_CHECK_NOT_IMPLEMENTED(fast" in tree.kernel("relu").read_text()


def test_kernel_for_both_releases_and_lambda_changed_by_hand_are_up_to_date(tree):
    both = "#if X_TORCH_RELEASE >= 214\n    , bool fast\n#endif\n) {"
    tree.write("relu", RELU.replace(") {", "\n" + both, 1))
    tree.write(
        "atan2",
        'X_KERNEL("atan2", at::_ops::atan2, [](const at::Tensor& self, const at::Tensor& other, double eps) {\n'
        '  return self;\n}, "native");\n',
    )
    tree.release("2.14.0", {**FAST, "atan2": "atan2(Tensor self, Tensor other, *, float eps=0.5) -> Tensor"})
    tree.run("generate", "--check", "--torch", tree.other, cwd=tree.root, torch=None)
    assert "nothing to migrate" in tree.migrate().stdout


def test_kernel_that_can_not_be_read_is_named_and_is_no_error(tree):
    tree.write("relu", 'X_KERNEL("relu", at::_ops::relu, elsewhere, "native");\n')
    before = tree.kernel("relu").read_bytes()
    said = tree.release("2.14.0", FAST).stdout
    assert "can't read your kernels: compare them" in said and "bool fast" in said and "build fails" not in said
    tree.run("generate", "--check", "--torch", tree.other, cwd=tree.root, torch=None)
    assert "can't read which signature it has" in tree.migrate("--yes").stdout
    status = json.loads(tree.run("status", "--json", cwd=tree.root).stdout)
    assert len(status["unread"]) == 1 and status["drifted"] == []
    assert tree.kernel("relu").read_bytes() == before


def test_only_kernels_are_taken_a_second_run_changes_nothing_and_undo_gives_back_each_byte(tree):
    for name in ("relu", "atan2"):
        tree.kernel(name).chmod(0o444)
    tree.write("relu", RELU.replace("clone();", "clone();  // } relu(const at::Tensor& self) {"))
    before = {name: tree.kernel(name).read_bytes() for name in ("relu", "atan2")}
    tree.release("2.14.0", {**FAST, "atan2": "atan2(Tensor self, Tensor other, *, float eps=0.5) -> Tensor"})
    for other in ("README.md", "../start.yaml", NATIVE, ""):
        tree.migrate("--yes", f"{NATIVE}/relu.cpp", other, code=2)
    assert {name: tree.kernel(name).read_bytes() for name in before} == before
    tree.migrate("--yes", f"{NATIVE}/relu.cpp")
    after = tree.kernel("relu").read_bytes()
    assert b"bool fast" in after and tree.kernel("atan2").read_bytes() == before["atan2"]
    tree.migrate("--yes", f"{NATIVE}/relu.cpp")
    assert tree.kernel("relu").read_bytes() == after
    tree.run("undo", cwd=tree.root)
    assert tree.kernel("relu").read_bytes() == before["relu"]
    assert tree.kernel("relu").stat().st_mode & 0o777 == 0o444
    tree.run("undo", cwd=tree.root)
    assert tree.kernel("relu").read_bytes() == after


def test_spec_is_not_a_kernel(tree):
    tree.release("2.14.0", FAST)
    tree.migrate("x.yaml", code=2)


def test_what_is_not_mechanical_is_listed_with_both_signatures_and_never_written(tree):
    tree.release(
        "2.14.0",
        {
            "relu": "relu(Tensor self, bool fast=False) -> (Tensor, Tensor)",  # returns
            "atan2": "atan2(Tensor self, Scalar other, *, float eps=0.5) -> Tensor",  # another type, and a new one
            "sub.Tensor": "sub.Tensor(Tensor self, Tensor other) -> Tensor",  # gone
            "poisson": "poisson(Tensor self, int seed, Generator? generator=None) -> Tensor",  # no default
            "topk": "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, str how='any')"
            " -> (Tensor values, Tensor indices)",
        },
    )
    names = ("relu", "atan2", "sub_Tensor", "poisson")
    before = {name: tree.kernel(name).read_bytes() for name in names}
    answer = json.loads(tree.migrate("--yes", "--json", code=None).stdout)
    assert {name: tree.kernel(name).read_bytes() for name in names} == before
    assert "how" in tree.kernel("topk").read_text()
    listed = {file["path"].split("/")[-1]: file for file in answer["files"]}
    assert {name for name, file in listed.items() if not file["migrated"]} == {f"{name}.cpp" for name in names}
    for file in listed.values():
        assert file["was"] != file["now"] and "(const at::Tensor& self" in file["was"] and file["line"] > 0
    outcome = tree.migrate(code=1)
    assert "const at::Scalar& other" in outcome.stdout and "int64_t seed" in outcome.stdout
