#include "diag/codes.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

// clang-format off
constexpr Code kCodes[] = {
    // The file and its text.
    {"E0101", "the spec cannot be read", "There is no such file, or it cannot be opened."},
    {"E0102", "the spec is no file", "The path names a folder, a device or a pipe. Name the YAML or JSON file."},
    {"E0103", "the spec is too large", "A spec holds at most 1 MiB; one that lists every operator of PyTorch has a quarter of that."},
    {"E0104", "the spec is empty", "The file holds no value. The least spec is `backend: {name: mydevice}`."},
    {"E0105", "not UTF-8", "Specs are UTF-8. The message names the first byte that is not, and its offset from the start of the file."},
    {"E0106", "NUL bytes", "The file is not text."},
    {"E0107", "syntax", "The text is no well-formed YAML or JSON. A file whose name ends in `.json` is read as JSON, as is what begins with `{` and parses as JSON."},
    {"E0108", "several documents", "A spec is one YAML document."},
    {"E0109", "too many values", "The spec holds more than 50000 values after its aliases were expanded, or an alias stands inside the value it names."},
    {"E0110", "nested too deep", "No spec needs more than 32 levels."},
    {"E0111", "a YAML tag", "Tags such as `!!python/object` ask a reader for types that specs do not have. Leave them out."},
    // Keys and types.
    {"E0112", "unknown key", "The key is not in the [reference](spec.md). YAML's merge key `<<` is unknown as well."},
    {"E0113", "a key given twice", "YAML parsers differ in which one wins. Keep one."},
    {"E0114", "a key is missing", "The key has no default."},
    {"E0115", "wrong type", "The value is of another type than the key wants. `2.13`, `true` and `null` are no text unless they are quoted; `yes` and `on` are no booleans."},
    {"E0116", "unknown word", "The key takes one of a few words."},
    {"E0117", "out of range", "The number is below or above what the key allows."},
    {"E0118", "unknown spec_version", "The spec was written for another openreg-gen."},
    {"E0119", "an item given twice", "A list names the same thing twice."},
    // Names and texts.
    {"E0120", "malformed backend name", "`torch.device()` parses lower-case letters and underscores only: no digit, no upper case, no dash. Two underscores in a row are reserved by C++."},
    {"E0121", "backend name too long", "A name has at most 30 letters."},
    {"E0122", "name of a device type", "PyTorch has a device type of this name; renaming PrivateUse1 to it is refused, or silently aliases that device."},
    {"E0123", "name of an attribute", "`torch.NAME`, `Tensor.NAME` or `Module.NAME` exists, so registering the device module or its methods raises."},
    {"E0124", "name of a keyword", "The name becomes a C++ namespace and a Python attribute; a keyword can be neither."},
    {"E0125", "name beginning with cpu or cuda", "`torch.load()` takes locations that begin so for the CPU or for CUDA."},
    {"E0126", "name of a namespace or function", "The name becomes a C++ namespace at global scope, where C, C++ or PyTorch has one, or a function, of that name."},
    {"E0127", "name of a library, target or header", "`libNAME.so`, the CMake target `NAME` or `include/NAME.h` would hide one that is there already."},
    {"E0128", "bad package", "The package becomes a folder and a Python module: a lower-case identifier, no path, and none of Python's or PyTorch's own modules."},
    {"E0129", "malformed identifier", "The value becomes part of C++ names: letters, digits and underscores, a letter first. `api_prefix` begins with a lower-case one."},
    {"E0130", "reserved identifier", "C++ or PyTorch has taken the name."},
    {"E0131", "control characters", "The text goes into comments and literals of C++, Python, CMake, TOML and Markdown, so it must be one line without control characters."},
    {"E0132", "invisible characters", "Characters that reorder, join or hide text make code read otherwise than it is."},
    {"E0133", "blank or too long a text", "A text has 1 to 200 characters."},
    {"E0134", "text that would break out of a comment", "A backslash at the end of a `//` comment continues it on the next line; `*/` ends a comment; `\?\?/` is a trigraph."},
    {"E0135", "malformed version", "Versions are as [PEP 440](https://peps.python.org/pep-0440/) has them."},
    {"E0136", "malformed licence", "Licences are [SPDX expressions](https://spdx.org/licenses/)."},
    {"E0137", "malformed PyTorch release", "`torch.min` and `torch.max` are `MAJOR.MINOR`, or `MAJOR.MINOR.PATCH`."},
    {"E0138", "empty PyTorch range", "`torch.max` is below `torch.min`."},
    {"E0139", "no power of two", "`allocator.alignment` and `allocator.roundup_power2_divisions` are powers of two."},
    {"E0140", "malformed size", "A size is a number of bytes, or a whole number with KiB, MiB, GiB, TiB, KB, MB, GB or TB."},
    {"E0141", "key without effect (warning)", "A device that is not simulated says itself how many there are, and each kind of `device.api` has keys of its own; the settings of the caching allocator mean nothing to `allocator.device: direct`."},
    // Operators, without regard to PyTorch.
    {"E0150", "malformed operator name", "An operator is `name` or `name.overload`, without `aten::`."},
    {"E0151", "an operator given twice", "Two kernels for one operator contradict each other. Keep one; or write `ops` as a list and give each entry the releases of PyTorch that it is for (`since`, `until`), none of them twice."},
    {"E0152", "pointwise without expr", "The strategy `pointwise` makes a kernel of the expression in `expr`."},
    {"E0153", "key of another strategy", "The key has no meaning with the operator's strategy."},
    {"E0154", "unsupported without reason", "An unsupported operator raises an error that gives the reason."},
    {"E0155", "character in an expression", "An expression holds names, numbers, calls and operators; no strings, comments, braces, brackets, `;` or `#`."},
    {"E0156", "malformed expression", "The text is no complete C++ expression, or it assigns. The place is the character where it went wrong."},
    {"E0157", "unknown function or type", "Expressions call the mathematical functions of `std::`, a few of `c10::`, and cast to `scalar_t` and the plain types."},
    {"E0158", "empty list of dtypes", "A list of dtypes that is given names at least one."},
    {"E0160", "malformed schema", "A schema reads `name(Type argument, *, Type keyword=default) -> Type`, without a namespace."},
    {"E0161", "bad name in a schema", "Names of operators and arguments become C++ and Python names; `grad` is the incoming gradient."},
    {"E0162", "unknown type in a schema", "Types are Tensor, Scalar, int, SymInt, float, bool, str, ScalarType, Device and Generator, with `?`, `[]` and alias marks."},
    {"E0163", "a custom operator given twice", "Two entries define the same name and overload."},
    {"E0164", "autograd does not fit", "`autograd` with `expr` needs `backward`; `backward` needs both."},
    {"E0165", "schema that an expression can't serve", "A kernel from an expression has Tensor and number arguments, at least one Tensor, and returns one Tensor; `backward` has at most one expression for each."},
    {"E0166", "unknown name in an expression", "An expression of a custom operator names its arguments, and in `backward` also `grad`."},
    // Lists of operators in files of their own.
    {"E0171", "no list of operators", "A file of operators is what `openreg-gen record` writes, a JSON list of names, or text with one name a line."},
    {"E0172", "unknown version of a list", "The list was written for another openreg-gen."},
    {"E0173", "operator of another namespace (warning)", "Backends register PyTorch's own operators, `aten::`. Others are left out of what a list selects."},
    {"E0174", "malformed selection", "Globs are made of the characters of names and `*`, `?`, `[...]`; tags of letters and underscores."},
    {"E0175", "unknown set", "The sets are `@minimal`, `@core`, `@pointwise`, `@amp`, `@tag:NAME` and `@model:FILE`."},
    {"E0176", "minus with a value", "An entry that begins with `-` takes operators out of what selections bring. There is nothing to say about them."},
    {"E0177", "empty range of releases", "`until` is before `since`, so the entry is for no release."},
    {"E0178", "path of a list", "The file of `@model:FILE` lies beside the spec or below it, so that a rendered tree can take it along."},
    // Components.
    {"E0180", "a component on and off", "`components` and a key of the component's own (`compile`, `profiler`, `graphs`, `allocator.device`) contradict each other."},
    {"E0181", "a component that another needs", "A component needs others, which `openreg-gen components` lists. `openreg-gen add component NAME` adds them with it."},
    {"E0182", "a key that needs a component", "The spec asks for something that belongs to a component, and the tree does not have that component. Kernels from expressions, for instance, belong to `loops`."},
    // Operators and the catalogue.
    {"E0201", "unknown operator", "The installed PyTorch declares no such operator. `openreg-gen ops PATTERN` searches."},
    {"E0202", "unknown overload", "The operator exists, but not this overload. Names are those of the dispatcher: `add.Tensor`."},
    {"E0203", "composite operator", "PyTorch composes the operator from others, gradients included. A kernel at PrivateUse1 replaces that and silently loses the gradient. `override: true` says that you know."},
    {"E0204", "no way through the CPU", "Views must alias, factories must make tensors on the device, random operators must draw from the device's generator, and some operators have no CPU kernel."},
    {"E0205", "no structured form", "Only out variants that PyTorch declares as structured can be structured; they serve the functional and in-place forms too."},
    {"E0206", "no DispatchStub", "PyTorch's kernel of the operator ends in no DispatchStub that a backend can serve."},
    {"E0207", "not pointwise", "An expression over elements can't be the operator's kernel: neither of what works along a `dim`, nor of losses, which sum up their elements as `reduction` says."},
    {"E0208", "unknown name in an expression", "The expression names something that is no tensor or number argument of the operator."},
    {"E0209", "operator of the minimal set", "Every backend registers the operator already; two registrations contradict each other."},
    {"E0210", "nothing to override (warning)", "`override` concerns composite operators only."},
    {"E0220", "reduction without combine or init", "The strategy `reduction` makes a kernel of `combine`, which makes one value of two, and `init`, the value of none; or of `prefer`, where the result is a place."},
    {"E0221", "no kernel in the tree that devices share", "`in_tree` registers PyTorch's own kernel. It must be the same for the CPU and CUDA, and the DispatchStubs it calls must be known."},
    {"E0222", "not a reduction", "Reductions are structured, and take `self`, `dim`, `keepdim` and `dtype` alone; they have one result, or, as `max.dim_max`, a value and its place."},
    {"E0223", "not a matrix product", "The strategy `matmul` serves mm.out, bmm.out, addmm.out, baddbmm.out, addmv.out, dot and vdot. PyTorch composes linear, matmul, mv and others of these."},
    {"E0224", "unknown name in a reduction", "`map` sees `self`, `combine` sees `a` and `b`, `init` sees `lowest` and `highest`, `finish` sees `acc` and `count`, `prefer` sees `a` and `b`."},
    {"E0225", "default value that does not fit", "A default is written as the type wants it: 1, 0.5, True, None for an optional type, [1,1] for a list, a text in double quotes. Arguments without one come first, or behind `*`."},
    {"E0226", "a result that shares memory in a way that PyTorch can't follow", "A custom operator returns new tensors, or views of its arguments, `(Tensor(a) x) -> Tensor(a)`, or, written in place, its first argument, `(Tensor(a!) x) -> Tensor(a!)`."},
    {"E0227", "autograd that can't serve a custom operator", "With `autograd: formula` and no `expr` the owner writes backward in C++, for an operator that takes single tensors, writes none of them and returns tensors."},
    {"E0228", "operator that a dtype has not", "A kernel is compiled for each of `dtypes` (without them: all real numbers). `%`, shifts and bits are of integers, order is of real numbers; results of comparisons have bits, too."},
    {"E0229", "reduction to a value and to a place", "`combine`, `init` and `finish` make a value of the elements; `prefer` picks one of them, for argmax.out, argmin.out, max.dim_max and min.dim_min, whose results are places."},
    {"E0230", "fallback that contradicts the strategy", "`strategy: cpu_fallback` runs the operator on the CPU; `fallback: none` alone makes it an error to call it."},
    {"E0231", "alias on an external device (warning)", "`alias` runs CPU kernels on the device's memory. Where the port does not say that the host can reach it, operators fall back by copying."},
    {"E0235", "one tolerance without the other", "A result is right within `atol + rtol * |expected|`: both are given, or neither."},
    {"E0236", "a check that the operator has not (warning)", "The operator has no form that the check would call. A kernel serves other forms only where PyTorch makes them of it, as it does for structured operators; else they are operators of their own."},
    {"E0237", "a skip, dtype or test given twice", "Two entries of the list say the same."},
    {"E0238", "a skip of a dtype that is not tested (warning)", "The dtype is not among those that the operator is tested with."},
    {"E0239", "malformed test name", "A test is named by its class, `TestTorchDeviceType`, or by class and method, `TestTorchDeviceType.test_add`, as the test file has them."},
    {"E0240", "selection of nothing", "The installed PyTorch has no operator that the glob matches or that has the tag."},
    {"E0241", "selection without effect", "Of the operators that the selection matches none can be registered so; `openreg-gen check` says why. Operators that work without a kernel are not selected."},
    {"E0242", "named and taken out", "One entry names the operator, another takes it out with a minus."},
    {"E0243", "minus without effect (warning)", "No selection brings what the entry takes out."},
    {"E0244", "the list of a selection is missing", "The file of `@model:FILE` is not there or cannot be used. `openreg-gen record --device NAME script.py` writes one."},
    {"E0245", "unknown operator in a list (warning)", "The list was recorded with another PyTorch; the installed one declares no such operator, which is left out."},
    {"E0246", "selection settled by others (warning)", "Other entries say more exactly, or later, what to do with each operator that the selection brings."},
    // AMP.
    {"E0301", "unknown operator in an AMP rule", "The installed PyTorch declares no such operator."},
    {"E0302", "unknown overload in an AMP rule", "Autocast rules are for one overload each, named as the dispatcher has it: `pow.Tensor_Scalar`."},
    {"E0303", "two policies", "An operator has one autocast policy."},
    {"E0304", "added and removed", "`add` and `remove` contradict each other. To move an operator of the preset to another policy, both are needed and allowed."},
    {"E0305", "operator that autocast can't serve", "Autocast casts tensor arguments and calls the operator again; operators that write into an argument, return views or take no tensor can't be served."},
    {"E0306", "other policy in the preset", "The preset has the operator with another policy. Name it under `remove` as well."},
    {"E0307", "already in the preset (warning)", "The preset has the operator with this policy."},
    {"E0308", "nothing to remove", "The preset has no rule for the operator."},
    // PyTorch and the environment.
    {"E0401", "no PyTorch", "PyTorch is looked for at `--torch`, then in the active environment. Install it there, or name it."},
    {"E0402", "PyTorch's declarations are broken", "A file that declares operators is missing, unreadable or not understood."},
    {"E0403", "PyTorch's autocast lists are broken", "`ATen/autocast_mode.h` is missing or has other lists than expected."},
    {"E0404", "PyTorch out of range", "The installed PyTorch is not within `torch.min` and `torch.max`."},
    // The tree.
    {"E0500", "bad command line", "An option or argument is unknown, missing or malformed."},
    {"E0501", "folder in use", "`new` writes into a new or an empty folder only."},
    {"E0502", "no generated backend", "The folder, and those above it, hold no `.openreg-gen/manifest.json`."},
    {"E0503", "files in the way", "A file that would be written was edited, or is there without having been written by the tool. Nothing was written. `openreg-gen own FILE` makes an edited file yours; `generate --force` takes the render and keeps a copy in `.openreg-gen/backup`."},
    {"E0504", "path outside the tree", "An output's path is absolute, climbs with `..`, or lies in the tool's own folder."},
    {"E0505", "outputs collide", "Two outputs have one path, or a file is another's folder."},
    {"E0506", "the disk refuses", "A file or folder of the tree cannot be read or written."},
    {"E0507", "broken manifest", "`.openreg-gen/manifest.json` is unreadable, or newer than this openreg-gen."},
    {"E0508", "symlink out of the tree", "A symlink inside the tree leads out of it."},
    {"E0510", "the tree is locked", "Another openreg-gen writes into the tree, and did not end within 3 seconds."},
    {"E0511", "the tree's spec is gone", "The manifest names a spec that is not there."},
    {"E0512", "an unfinished run", "An earlier run was cut off; the next one that writes finishes or undoes it."},
    {"E0513", "output not taken", "Standard output did not take all that was printed: a full disk, or a closed pipe."},
    {"E0521", "a journal that is not understood", "The journal of a run that was cut off is broken, or of another openreg-gen. What the run had written is beside it, what it had replaced as well."},
    {"E0522", "edited meanwhile", "A file was saved by somebody else between the moment it was read and the moment it would have been replaced, or since the run that `undo` would take back. Nothing was written."},
    {"E0530", "no file of the tree", "The path is outside the tree, or openreg-gen never wrote a file there."},
    {"E0531", "nothing to undo", "No run is known that could be taken back: none has written since the tree was made, or its record was removed."},
    {"E0532", "nothing to give back", "`disown` is for files that you took with `own`. A kernel, like your spec, is always yours. If you delete a kernel, `generate` writes it again."},
    // add, remove, explain.
    {"E0550", "spec that cannot be edited", "`add` and `remove` edit the spec's text in place, and read it again to compare. Anchors, aliases and a few rare forms are left to you: edit by hand, then `openreg-gen generate`."},
    {"E0551", "in the spec already", "The operator to be added, or one that serves it, is in the spec."},
    {"E0552", "another namespace", "A custom operator of a backend is `torch.ops.NAME.op`: its namespace is the backend's name."},
    {"E0553", "not in the spec", "The operator to be removed is neither under `ops` nor under `custom_ops`."},
    {"E0554", "nothing to explain", "Neither an operator of the installed PyTorch nor a diagnostic, component, strategy, key of the spec, function of the device API or word of the [glossary](glossary.md) has this name. The device API and custom operators are those of a tree: give it with `-C`."},
    {"E0555", "no file of the tree", "Neither the manifest nor the disk has a file of this name in the tree."},
    {"E0556", "no such component", "`openreg-gen components` lists them."},
    {"E0557", "a component that others need", "What is to be removed is needed by components that would stay. Remove them with it."},
    {"E0558", "the tree is not built", "`openreg-gen test` compiles what changed of a tree that was built in place, and runs the Python that it was built with. It installs nothing: type the hint's command in the environment that is to have the backend."},
    {"E0559", "no Python with PyTorch", "`openreg-gen sweep` and its like run inside PyTorch, with the first Python that has it: the one in OPENREG_GEN_PYTHON alone if that is set, else the one beside openreg-gen, the active environment's, python3 on PATH."},
    {"E0570", "no audit", "`openreg-gen audit --from` reads what `openreg-gen audit NAME --save` wrote, or `python -m openreg_gen.audit`. The file is something else, or was cut off."},
    {"E0571", "an audit of another schema", "A newer openreg_gen wrote the file. Update the command, or audit again with the copy of openreg_gen that the command brings."},
    {"E0572", "a backend that can't be audited", "Python did not find the device, or PyTorch could not be imported; standard error has its words."},
    // Templates and rendering.
    {"E0601", "undefined name in a template", "A template uses a name that the model has not, or does not exist: a fault of the tool."},
    {"E0602", "template syntax", "Jinja2 cannot parse a template: a fault of the tool."},
    {"E0603", "template error", "A template raised while it was rendered: a fault of the tool."},
    {"E0604", "broken templates.yaml", "A row lacks a field, or names an unknown class, condition or list."},
    {"E0605", "no Python", "Rendering needs the Python of a PyTorch environment."},
    {"E0606", "no Jinja2", "Rendering needs Jinja2, which each PyTorch environment has."},
    {"E0607", "the renderer failed", "The Python child ended without a whole answer."},
    {"E0608", "the tool's files are missing", "Templates or the renderer are not where the installation put them."},
    {"E0609", "a program did not end", "A program that openreg-gen started, such as Python, hangs. It was killed after ten minutes, or after the seconds that the environment variable OPENREG_GEN_CHILD_SECONDS gives."},
    {"E0610", "undefined name in a template of the spec's own", "A template in the folder of `templates:` uses a name that the model has not, or includes a template that is not there. Names are checked strictly: a misspelt one renders nothing silently."},
    {"E0611", "error in a template of the spec's own", "Jinja2 cannot parse it, it raised, or it did what the sandbox does not allow: private attributes, changing the model, ranges above 100,000, more than 10 seconds or 512 MiB."},
    {"E0612", "folder of templates", "The folder that `templates:` names is not there, holds a symlink, or is too large."},
    {"E0613", "row of the spec's own templates.yaml", "A row lacks a field, names an unknown class, condition, list or template, or renders to a path that is an output already; or a template is named by no row and called like none of openreg-gen's."},
    {"E0614", "path of the folder of templates", "`templates:` names a folder below the spec's own."},
    {"E0699", "a fault of the tool", "Something happened that should not. Please report it with the spec."},
};
// clang-format on

}  // namespace

std::span<const Code> all_codes() { return kCodes; }

const Code* find_code(std::string_view code) { return find_sorted(kCodes, code, &Code::code); }

std::string codes_markdown() {
  constexpr std::pair<char, std::string_view> kGroups[] = {{'1', "E01xx: the spec's text, keys and values"},
                                                           {'2', "E02xx: operators"},
                                                           {'3', "E03xx: automatic mixed precision"},
                                                           {'4', "E04xx: PyTorch and the environment"},
                                                           {'5', "E05xx: the command line, the tree and its files"},
                                                           {'6', "E06xx: templates and rendering"}};
  std::string out =
      "# Diagnostics\n\n"
      "This page is printed by `openreg-gen schema --diagnostics`.\n"
      "\n## Exit codes\n\n"
      "| code | what it says |\n|---|---|\n"
      "| 0 | done |\n"
      "| 1 | the answer is no: `generate --check` found files that are not up to date, files are in the way or in "
      "conflict, `check --against` found what would break |\n"
      "| 2 | bad input: the spec or the command line |\n"
      "| 3 | the environment: no PyTorch, a disk that is full |\n"
      "| 4 | a fault of openreg-gen |\n\n"
      "`openreg-gen test` ends with pytest's exit code once the tree is built.\n"
      "\n## For programs\n\n"
      "With `--json` a verb prints one JSON object on standard output. Its key `schema_version`, now 1, is raised when "
      "a "
      "key is renamed or removed, or changes its meaning; new keys may come at any time. An error is "
      "`{\"schema_version\": 1, \"diagnostics\": [...]}`, each with `code`, `severity`, `message`, `file`, `line`, "
      "`column` and `hint`. The place is null where there is none, as for a value of the command line. A wrong command "
      "line and a fault of openreg-gen have the same form.\n\n"
      "On GitHub Actions, `--error-format github` shows errors at their place in a change:\n\n"
      "```yaml\n"
      "- run: openreg-gen check mybackend.yaml --error-format github\n"
      "- run: openreg-gen generate --check --error-format github    # an annotation for each file that is stale or "
      "edited\n"
      "```\n";
  char group = 0;
  for (const Code& code : kCodes) {
    if (code.code[2] != group) {
      group = code.code[2];
      for (const auto& [digit, title] : kGroups)
        if (digit == group) out += "\n## " + std::string(title) + "\n";
    }
    out += "\n### " + std::string(code.code) + ": " + std::string(code.title) + "\n\n" + std::string(code.explanation) +
           "\n";
  }
  return out;
}

}  // namespace openreg_gen
