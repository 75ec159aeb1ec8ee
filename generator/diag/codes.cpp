#include "diag/codes.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

// clang-format off
constexpr Code kCodes[] = {
    // The file and its text.
    {"E0101", "the spec cannot be read", "There is no such file, or it cannot be opened."},
    {"E0102", "the spec is not a file", "The path names a directory, a device or a pipe. Name the YAML or JSON file."},
    {"E0103", "the spec is too large", "A spec is at most 1 MiB; one that lists every operator of PyTorch needs a quarter of that."},
    {"E0104", "the spec is empty", "The file is empty. The smallest spec is `backend: {name: mydevice}`."},
    {"E0105", "not UTF-8", "Specs are UTF-8. The message gives the first byte that is not valid, and its offset in the file."},
    {"E0106", "NUL bytes", "The file is not text."},
    {"E0107", "syntax", "The text is not well-formed YAML or JSON. A file is read as JSON if its name ends in `.json`, or if it begins with `{` and parses as JSON."},
    {"E0108", "several documents", "A spec is one YAML document."},
    {"E0109", "too many values", "The spec holds more than 50000 values after its aliases were expanded, or an alias is inside the value it names."},
    {"E0110", "nested too deep", "No spec needs more than 32 levels."},
    {"E0111", "a YAML tag", "Tags such as `!!python/object` name types that specs do not have. Leave them out."},
    // Keys and types.
    {"E0112", "unknown key", "The key is not in the [reference](spec.md). YAML's merge key `<<` is unknown as well."},
    {"E0113", "a key given twice", "YAML parsers disagree on which one wins. Keep one."},
    {"E0114", "a key is missing", "The key has no default."},
    {"E0115", "wrong type", "The value does not have the type that the key needs. `2.13`, `true` and `null` are text only in quotes; `yes` and `on` are not booleans."},
    {"E0116", "unknown word", "The key takes one of a few words."},
    {"E0117", "out of range", "The number is below or above what the key allows."},
    {"E0118", "unknown spec_version", "The spec was written for another version of openreg-gen."},
    {"E0119", "an item given twice", "A list names the same thing twice."},
    // Names and texts.
    {"E0120", "malformed backend name", "`torch.device()` accepts only lower-case letters and underscores: no digits, upper case or dashes. Two underscores in a row are reserved by C++."},
    {"E0121", "backend name too long", "A name has at most 30 letters."},
    {"E0122", "name of a device type", "PyTorch has a device type with this name. It refuses to rename PrivateUse1 to it, or treats the name in its own way: it copies tensors of 'meta' and 'xla' differently. Device types that PyTorch no longer uses, such as 'vulkan' and 'opencl', are free."},
    {"E0123", "name of an attribute", "`torch.NAME`, `Tensor.NAME`, `Tensor.is_NAME` or `Module.NAME` exists, so registering the device module or its methods raises."},
    {"E0124", "name of a keyword", "The name becomes a C++ namespace and a Python attribute; a keyword can be neither."},
    {"E0125", "name beginning with cpu or cuda", "`torch.load()` reads every location with such a beginning as the CPU or CUDA."},
    {"E0126", "name of a namespace or function", "The name becomes a C++ namespace at global scope, where C, C++ or PyTorch already has a namespace or function with that name."},
    {"E0127", "name of a library, target or header", "`libNAME.so`, the CMake target `NAME` or `include/NAME.h` would hide an existing one."},
    {"E0128", "bad package", "The package becomes a directory and a Python module: a lower-case identifier, not a path, and not the name of a module of Python or PyTorch."},
    {"E0129", "malformed identifier", "The value becomes part of C++ names: letters, digits and underscores, a letter first. `api_prefix` begins with a lower-case one."},
    {"E0130", "reserved identifier", "C++ or PyTorch uses the name."},
    {"E0131", "control characters", "The text is written into comments and literals of C++, Python, CMake, TOML and Markdown, so it must be one line without control characters."},
    {"E0132", "invisible characters", "Characters that reorder, join or hide text make code look different from what it does."},
    {"E0133", "text that is blank or too long", "A text has 1 to 200 characters."},
    {"E0134", "text that would break out of a comment", "A backslash at the end of a `//` comment continues it on the next line; `*/` ends a comment; `\?\?/` is a trigraph."},
    {"E0135", "malformed version", "Versions follow [PEP 440](https://peps.python.org/pep-0440/)."},
    {"E0136", "malformed licence", "Licences are [SPDX expressions](https://spdx.org/licenses/)."},
    {"E0137", "malformed PyTorch release", "`torch.min` and `torch.max` are `MAJOR.MINOR`, or `MAJOR.MINOR.PATCH`."},
    {"E0138", "empty PyTorch range", "`torch.max` is below `torch.min`."},
    {"E0139", "not a power of two", "`allocator.alignment` and `allocator.roundup_power2_divisions` are powers of two."},
    {"E0140", "malformed size", "A size is a number of bytes, or a whole number with KiB, MiB, GiB, TiB, KB, MB, GB or TB."},
    {"E0141", "key without effect (warning)", "A device that is not simulated reports its own count, each kind of `device.api` has its own keys, and `allocator.device: direct` ignores the settings of the caching allocator."},
    {"E0142", "PyTorch that nobody tried (warning)", "`torch.min` or `torch.max` is beyond the releases that this openreg-gen and its trees are tested with. The tree is rendered, but may not build with the others."},
    // Operators, before PyTorch is looked at.
    {"E0150", "malformed operator name", "An operator is `name` or `name.overload`, without `aten::`."},
    {"E0151", "an operator given twice", "Two kernels for one operator contradict each other. Keep one; or write `ops` as a list and give each entry its own releases of PyTorch (`since`, `until`), without overlap."},
    {"E0152", "pointwise without expr", "The strategy `pointwise` turns the expression in `expr` into a kernel."},
    {"E0153", "key of another strategy", "The key has no meaning with the operator's strategy."},
    {"E0154", "unsupported without reason", "An unsupported operator raises an error that gives the reason."},
    {"E0155", "character in an expression", "An expression holds names, numbers, calls and operators; no strings, comments, braces, brackets, `;` or `#`."},
    {"E0156", "malformed expression", "The text is not a complete C++ expression, or it assigns. The place is the character where parsing stopped."},
    {"E0157", "unknown function or type", "Expressions call the mathematical functions of `std::`, a few of `c10::`, and cast to `scalar_t` and the plain types."},
    {"E0158", "empty list of dtypes", "A list of dtypes must name at least one."},
    {"E0160", "malformed schema", "A schema reads `name(Type argument, *, Type keyword=default) -> Type`, without a namespace. See [chapter 4 of the book](../book/04-kernel.md)."},
    {"E0161", "bad name in a schema", "Names of operators and arguments become C++ and Python names; `grad` is the incoming gradient."},
    {"E0162", "unknown type in a schema", "Types are Tensor, Scalar, int, SymInt, float, bool, str, ScalarType, Device and Generator, with `?`, `[]` and alias marks."},
    {"E0163", "a custom operator given twice", "Two entries define the same name and overload."},
    {"E0164", "autograd does not fit", "`autograd` together with `expr` needs `backward`; `backward` needs both."},
    {"E0165", "schema that an expression can't serve", "A kernel from an expression has Tensor and number arguments, at least one Tensor, and returns one Tensor; `backward` has at most one expression for each."},
    {"E0166", "unknown name in an expression", "An expression of a custom operator names its arguments, and in `backward` also `grad`."},
    {"E0167", "custom operator named as an operator of PyTorch", "Commands and the spec name operators without a namespace, so `relu` can't mean two of them."},
    {"E0168", "argument that no expression uses (warning)", "Every call computes the same, whatever is given for that argument: `add.out` as `self + other` ignores `alpha`."},
    // Lists of operators in files of their own.
    {"E0171", "not a list of operators", "A file of operators is what `openreg-gen record` writes, a JSON list of names, or text with one name per line."},
    {"E0172", "unknown version of a list", "The list was written for another openreg-gen."},
    {"E0173", "operator of another namespace (warning)", "Backends register PyTorch's own operators, `aten::`. A list skips all others."},
    {"E0174", "malformed selection", "Globs are made of the characters of names and `*`, `?`, `[...]`; tags of letters and underscores."},
    {"E0175", "unknown set", "The sets are `@minimal`, `@core`, `@pointwise`, `@amp`, `@tag:NAME` and `@model:FILE`."},
    {"E0176", "minus with a value", "An entry that begins with `-` removes operators from the selections, so it has no value."},
    {"E0177", "empty range of releases", "`until` is before `since`, so the entry is for no release."},
    {"E0178", "path of a list", "The file of `@model:FILE` must be beside the spec or below it, so that it can be copied into the tree."},
    // Components.
    {"E0180", "a component on and off", "`components` and the component's own key (`compile`, `profiler`, `graphs`, `allocator.device`) contradict each other."},
    {"E0181", "a component that another needs", "A component needs others; `openreg-gen components` lists them, and `openreg-gen add component NAME` adds them too."},
    {"E0182", "a key that needs a component", "The spec asks for something that belongs to a component, and the tree does not have that component. Kernels from expressions, for instance, belong to `loops`. `openreg-gen add component NAME` adds it, also while the spec lacks no more than that."},
    {"E0183", "fallback to graphs without a compiler", "With `fallback: graph`, or the strategy `graph`, an operator without a kernel is compiled as a graph of one node. Only a device of `api: compiler` has functions for that."},
    {"E0184", "a component for launched functions", "`host_alias` runs functions of the host in a stream's order, and `graphs` captures streams. A device of `api: compiler` only runs graphs that its compiler made."},
    // Operators and the catalogue.
    {"E0201", "unknown operator", "The installed PyTorch declares no such operator. `openreg-gen ops PATTERN` searches. See [chapter 1 of the book](../book/01-dispatch.md)."},
    {"E0202", "unknown overload", "The operator exists, but not this overload. Use the dispatcher's names: `add.Tensor`. See [chapter 1 of the book](../book/01-dispatch.md)."},
    {"E0203", "composite operator", "PyTorch composes the operator from others, gradients included. A kernel at PrivateUse1 replaces that and silently loses the gradient. Write `override: true` if that is what you want. See [chapter 3 of the book](../book/03-minimal-operators.md)."},
    {"E0204", "can't run on the CPU", "Views must alias, factories must create tensors on the device, random operators must draw from the device's generator, and some operators have no CPU kernel. See [chapter 7 of the book](../book/07-fallback.md)."},
    {"E0205", "no structured form", "Only out variants that PyTorch declares as structured can be structured; they serve the functional and in-place forms too. See [chapter 1 of the book](../book/01-dispatch.md)."},
    {"E0206", "no DispatchStub", "PyTorch's kernel for the operator doesn't call a DispatchStub that a backend can implement."},
    {"E0207", "not pointwise", "An expression over elements can't compute the operator. Examples are operators that work along a `dim`, and losses, whose `reduction` sums their elements. See [chapter 4 of the book](../book/04-kernel.md)."},
    {"E0208", "unknown name in an expression", "The expression uses a name that is not a tensor or number argument of the operator."},
    {"E0209", "operator of the minimal set", "Every backend registers the operator already; two registrations contradict each other. See [chapter 3 of the book](../book/03-minimal-operators.md)."},
    {"E0210", "nothing to override (warning)", "`override` applies only to composite operators."},
    {"E0220", "reduction without combine or init", "The strategy `reduction` builds a kernel from `combine`, which combines two values, and `init`, the value of an empty reduction; or from `prefer`, if the result is an index."},
    {"E0221", "no kernel that PyTorch's devices share", "`in_tree` registers PyTorch's own kernel. It must be the same for the CPU and CUDA, and the DispatchStubs it calls must be known."},
    {"E0222", "not a reduction", "Reductions are structured, and take `self`, `dim`, `keepdim` and `dtype` alone; they have one result or, like `max.dim_max`, a value and its index."},
    {"E0223", "not a matrix product", "The strategy `matmul` serves mm.out, bmm.out, addmm.out, baddbmm.out, addmv.out, dot and vdot. PyTorch composes linear, matmul, mv and others from these."},
    {"E0224", "unknown name in a reduction", "`map` sees `self`, `combine` sees `a` and `b`, `init` sees `lowest` and `highest`, `finish` sees `acc` and `count`, `prefer` sees `a` and `b`."},
    {"E0225", "default value that does not fit", "A default must fit its type: 1, 0.5, True, None for an optional type, [1,1] for a list, text in double quotes. Arguments without one come first, or after `*`."},
    {"E0226", "a result that shares memory in a way that PyTorch can't follow", "A custom operator returns new tensors; or views of its arguments, `(Tensor(a) x) -> Tensor(a)`; or, if it works in place, its first argument, `(Tensor(a!) x) -> Tensor(a!)`."},
    {"E0227", "autograd that can't serve a custom operator", "With `autograd: formula` and no `expr` you write backward in C++. The operator must take single tensors, write to none of them, and return tensors."},
    {"E0228", "operator that a dtype lacks", "A kernel is compiled for each of `dtypes` (default: all real dtypes). `%`, shifts and bitwise operators need integers or results of comparisons; `<` and its like need real numbers."},
    {"E0229", "reduction to a value and to an index", "`combine`, `init` and `finish` compute a value from the elements; `prefer` picks one of them, for argmax.out, argmin.out, max.dim_max and min.dim_min, whose results are indices."},
    {"E0230", "fallback that contradicts the strategy", "`strategy: cpu_fallback` runs the operator on the CPU; `fallback: none`, without a strategy, makes calling it an error. See [chapter 7 of the book](../book/07-fallback.md)."},
    {"E0231", "alias on an external device (warning)", "`alias` runs CPU kernels on the device's memory. Unless the port says that the host can reach that memory, operators fall back on copies. See [chapter 2 of the book](../book/02-memory.md)."},
    {"E0235", "one tolerance without the other", "A result is right within `atol + rtol * |expected|`: give both, or neither."},
    {"E0236", "a check that the operator does not have (warning)", "The operator lacks the form that the check would call. A kernel serves other forms only if PyTorch derives them, as it does for structured operators; otherwise they are separate operators."},
    {"E0237", "a skip, dtype or test given twice", "Two entries of the list say the same."},
    {"E0238", "a skip of a dtype that is not tested (warning)", "The operator is not tested with that dtype."},
    {"E0239", "malformed test name", "A test is named by its class, `TestTorchDeviceType`, or by class and method, `TestTorchDeviceType.test_add`, as the test file has them."},
    {"E0240", "selection of nothing", "The installed PyTorch has no operator that the glob matches or that has the tag."},
    {"E0241", "selection without effect", "None of the operators that the selection matches can be registered this way; `openreg-gen check` says why. Operators that work without a kernel are not selected."},
    {"E0242", "named and removed", "One entry names the operator, another removes it with a minus."},
    {"E0243", "minus without effect (warning)", "No selection contains what the entry removes."},
    {"E0244", "the list of a selection is missing", "The file of `@model:FILE` is not there or cannot be used. `openreg-gen record --device NAME script.py` writes one."},
    {"E0245", "unknown operator in a list (warning)", "The list was recorded with another PyTorch. The installed one doesn't declare the operator, so it is left out."},
    {"E0246", "selection overridden by other entries (warning)", "For every operator of the selection, a more specific or later entry says what to do."},
    // AMP.
    {"E0301", "unknown operator in an AMP rule", "The installed PyTorch declares no such operator."},
    {"E0302", "unknown overload in an AMP rule", "An autocast rule is for one overload, by the dispatcher's name: `pow.Tensor_Scalar`."},
    {"E0303", "two policies", "An operator has one autocast policy."},
    {"E0304", "added and removed", "`add` and `remove` contradict each other. To move an operator of the preset to another policy, both are needed and allowed."},
    {"E0305", "operator that autocast can't serve", "Autocast casts tensor arguments and calls the operator again; operators that write into an argument, return views or take no tensor can't be served."},
    {"E0306", "other policy in the preset", "The preset has the operator with another policy. Name it under `remove` too."},
    {"E0307", "already in the preset (warning)", "The preset has the operator with this policy."},
    {"E0308", "nothing to remove", "The preset has no rule for the operator."},
    // PyTorch and the environment.
    {"E0401", "no PyTorch", "openreg-gen looks for PyTorch at `--torch`, then in the active environment. Install it there, or pass `--torch DIR`."},
    {"E0402", "PyTorch's declarations are broken", "A file that declares operators is missing, unreadable, or in an unknown form."},
    {"E0403", "PyTorch's autocast lists are broken", "`ATen/autocast_mode.h` is missing, or its lists are not the expected ones."},
    {"E0404", "PyTorch out of range", "The installed PyTorch is not within `torch.min` and `torch.max`."},
    {"E0405", "headers without a tree", "`check --against DIR` found PyTorch's C++ headers in `DIR`, but neither declarations of operators nor a tree whose sources could be compared with the headers."},
    {"E0406", "a virtual function of PyTorch", "A class of the tree derives from a class of PyTorch that has other virtual functions in another release: one more, one less, or one with another signature. The place is the override, or the class. It is an error where the tree would no longer compile."},
    {"E0407", "a name of PyTorch is gone", "The tree uses a function, type, enumerator, macro or member that another release of PyTorch lacks, or that takes other arguments there. A note: it may be so."},
    {"E0408", "a header of PyTorch moved", "Another release of PyTorch lacks a header that the tree includes, or has a name in a header that the file doesn't include."},
    {"E0409", "a name of PyTorch's Python is gone", "The tree's package uses a module, or a name of a module, that another release of PyTorch lacks. A note: it overrides a method that is gone there or has other arguments."},
    // The tree.
    {"E0500", "bad command line", "An option or argument is unknown, missing or malformed."},
    {"E0501", "folder in use", "`new` writes into a new or an empty folder only."},
    {"E0502", "no generated backend", "Neither the folder nor one above it has a `.openreg-gen/manifest.json`."},
    {"E0503", "files in the way", "A file that would be overwritten was edited, or was not written by openreg-gen. Nothing was written. `openreg-gen own FILE` makes an edited file yours; `generate --force` replaces it and keeps a copy in `.openreg-gen/backup`."},
    {"E0504", "path outside the tree", "An output's path is absolute, climbs with `..`, or is in `.openreg-gen`."},
    {"E0505", "outputs collide", "Two outputs have the same path, or one file's path is the folder of another."},
    {"E0506", "a disk error", "A file or folder of the tree cannot be read or written."},
    {"E0507", "broken manifest", "`.openreg-gen/manifest.json` is unreadable, or newer than this openreg-gen."},
    {"E0508", "symlink out of the tree", "A symlink inside the tree leads out of it."},
    {"E0510", "the tree is locked", "Another openreg-gen is writing into the tree and did not finish within 3 seconds."},
    {"E0511", "the tree's spec is gone", "The manifest names a spec that does not exist."},
    {"E0512", "an unfinished run", "An earlier run was cut off; the next one that writes finishes or undoes it."},
    {"E0513", "output not written", "Standard output did not accept everything that was printed: a full disk, or a closed pipe."},
    {"E0521", "an unreadable journal", "The journal of an unfinished run is broken, or was written by another version of openreg-gen. The files that the run wrote and replaced are beside it."},
    {"E0522", "edited meanwhile", "Somebody saved a file after it was read and before it was replaced, or after the run that `undo` would revert. Nothing was written. What `add` wrote, `remove` takes back, and keeps your edits; the hint says which verb it is."},
    {"E0530", "not a file that the command takes", "The path is outside the tree, openreg-gen never wrote a file there, or, for `migrate`, the file is not a kernel of yours."},
    {"E0531", "nothing to undo", "There is no run to revert: none has written since the tree was made, or its record was removed."},
    {"E0532", "nothing to give back", "`disown` is for files that you took with `own`. A kernel, like the spec, is always yours. If you delete a kernel, `generate` writes it again."},
    {"E0533", "rendered for another PyTorch", "`migrate` rewrites kernels for the PyTorch that the tree was last rendered for. Run `openreg-gen generate` with the new one first."},
    {"E0534", "git is missing", "`openreg-gen new --git` needs git. Nothing was written."},
    // add, remove, explain.
    {"E0550", "spec that cannot be edited", "`add` and `remove` edit the spec's text in place, then read it again to verify. They don't handle anchors, aliases and a few rare forms: edit those by hand, then run `openreg-gen generate`."},
    {"E0551", "in the spec already", "The operator, or one that serves it, is in the spec already."},
    {"E0552", "another namespace", "A custom operator of a backend is `torch.ops.NAME.op`: its namespace is the backend's name."},
    {"E0553", "not in the spec", "The operator is neither under `ops` nor under `custom_ops`."},
    {"E0554", "nothing to explain", "Neither an operator of the installed PyTorch nor a diagnostic, component, strategy, key of the spec, function of the device API, variable of the [environment](environment.md), macro of a tree or word of the [glossary](glossary.md) has this name. The device API, macros and custom operators belong to a tree: name it with `-C`."},
    {"E0555", "not a file of the tree", "The tree has no file with this name, neither in its manifest nor on disk."},
    {"E0556", "no such component", "`openreg-gen components` lists them."},
    {"E0557", "a component that others need", "Components that would stay need the one to be removed. Remove them too."},
    {"E0558", "the tree is not built", "`openreg-gen test` rebuilds what changed in a tree that was built in place, and runs the Python that it was built with. It installs nothing: run the command in the hint, in the environment that should have the backend."},
    {"E0559", "no Python with PyTorch", "`openreg-gen sweep` and its like need PyTorch, and run the first Python that has it: only the one in OPENREG_GEN_PYTHON if that is set; otherwise the active environment's, then python3 on PATH, then the one beside openreg-gen."},
    {"E0570", "not an audit", "`openreg-gen audit --saved` reads what `openreg-gen audit --out` wrote, or `python -m openreg_gen.audit`. The file is something else, or was cut off."},
    {"E0571", "an audit of another schema", "A newer openreg_gen wrote the file. Update openreg-gen, or repeat the audit with the openreg_gen that comes with it."},
    {"E0572", "a backend that can't be audited", "Python did not find the device, or could not import PyTorch; its message is on standard error."},
    {"E0573", "a backend that can't be adopted", "`openreg-gen new NAME --from PACKAGE` could not import PACKAGE, found nothing at PrivateUse1, or could not read the sources. The message on standard error says which, and what to type next."},
    {"E0574", "input that a tool can't use", "A tool of the workbench (`sweep`, `try`, `compare` and others) was given a file, a name or a combination of options that it can't use. The message says which."},
    {"E0575", "a device that can't be examined", "A tool of the workbench found no backend, or the backend made no tensor, or a package that the tool needs isn't installed. The message names the Python that ran it: [`OPENREG_GEN_PYTHON`](environment.md) names another."},
    {"E0576", "nothing was found", "A tool of the workbench ran, but what it was to look at didn't happen: the script called no operator on the device, say."},
    // Templates and rendering.
    {"E0601", "undefined name in a template", "A template does not exist, or uses a name that the model does not have: a bug in openreg-gen."},
    {"E0602", "template syntax", "Jinja2 cannot parse a template: a bug in openreg-gen."},
    {"E0603", "template error", "A template raised an exception while it was rendered: a bug in openreg-gen."},
    {"E0604", "broken templates.yaml", "A row lacks a field, or names an unknown class, condition or list."},
    {"E0605", "no Python", "Rendering needs the Python of a PyTorch environment."},
    {"E0606", "no Jinja2", "Rendering needs Jinja2, which comes with PyTorch."},
    {"E0607", "the renderer failed", "The Python process ended before it had answered."},
    {"E0608", "openreg-gen's files are missing", "Templates or the renderer are not where the installation put them."},
    {"E0609", "a program did not end", "A program that openreg-gen started, such as Python, hung and was killed after ten minutes, or after the number of seconds in the environment variable OPENREG_GEN_CHILD_SECONDS."},
    {"E0610", "undefined name in one of your templates", "A template in the folder of `templates:` uses a name that the model does not have, or includes a template that does not exist. A misspelt name is an error, never silently empty."},
    {"E0611", "error in one of your templates", "Jinja2 cannot parse it, it raised an exception, or it did something that the sandbox forbids: private attributes, changing the model, ranges above 100,000, more than 10 seconds or 512 MiB."},
    {"E0612", "folder of templates", "The folder that `templates:` names does not exist, contains a symlink, or is too large."},
    {"E0613", "error in your templates.yaml", "A row lacks a field, names an unknown class, condition, list or template, or writes to the path of another output; or a template has no row and does not share the name of one of openreg-gen's."},
    {"E0614", "bad path for the folder of templates", "`templates:` must name a folder below the folder of the spec."},
    {"E0699", "a bug in openreg-gen", "Please report it with the spec."},
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
      "| code | meaning |\n|---|---|\n"
      "| 0 | done |\n"
      "| 1 | a check failed: `generate --check` found files that are out of date, files are in the way or in "
      "conflict, `check --against` found something that would break |\n"
      "| 2 | bad input: the spec or the command line |\n"
      "| 3 | an error of the environment: no PyTorch, a full disk |\n"
      "| 4 | a bug in openreg-gen |\n\n"
      "`openreg-gen test` ends with 1 if a test fails.\n"
      "\n## For programs\n\n"
      "With `--json` a verb prints one JSON object on standard output. Its key `schema_version`, now 1, increases when "
      "a "
      "key is renamed, removed or changes its meaning; new keys may appear at any time. An error is "
      "`{\"schema_version\": 1, \"diagnostics\": [...]}`, each with `code`, `severity`, `message`, `file`, `line`, "
      "`column` and `hint`. The place is null if there is none, as for a value on the command line. A wrong command "
      "line and a bug in openreg-gen have the same form.\n\n"
      "On GitHub Actions, `--error-format github` shows errors at their place in a change:\n\n"
      "```yaml\n"
      "- run: openreg-gen check mybackend.yaml --error-format github\n"
      "- run: openreg-gen generate --check --error-format github    # an annotation per stale or "
      "edited file\n"
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
