"""Renders Jinja2 templates for openreg-gen: one JSON request on stdin, one JSON answer on stdout.

Request  {"templates": DIR, "workbench": DIR, "compiled": [DIR, ...], "globals": {...}, "user": {NAME: SOURCE},
          "jobs": [{"template": "csrc/a.h.j2", "context": {...}, "item": ["ops.native", 3], "user": false}]}
Answer   A line {"sizes": [BYTES, ...]}, then the texts in the order of the jobs, one behind the other, in UTF-8; or a line
         {"error": {"kind": KIND, "template": NAME, "line": N, "message": TEXT, "user": BOOL}} and nothing else; KIND is
         one of jinja2 (not installed), missing, syntax, undefined, render. "user": in a template of `user`.

A job's context is laid over the globals; its `item`, if it has any, is that item of a list of the globals. Undefined names
are errors (StrictUndefined); templates compute nothing.

"openreg_gen/testing/NAME" is a file that trees share with the workbench: templates include it from there.

Compiling is most of Jinja2's cost. `renderer.py --compile TEMPLATES DIR`, which the build and the installation run, writes
the code of all templates to DIR: one marshal file, named after this Python and this Jinja2. A run looks for it in each of
`compiled` and finds code by a template's name and text, so it compiles the templates that were edited since.

Templates of `user` are the spec author's. They may include each other, and openreg-gen's own; one that they override is
"openreg-gen/NAME".
"""

import functools
import importlib.util
import json
import marshal
import os
import sys

try:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    jinja2 = None

USER_SECONDS = 10  # for all templates of `user` together
USER_MEMORY = 512 << 20


SHARED = "openreg_gen/testing/"  # of the workbench


def find_in(templates, workbench):
    """Finds templates by name, in the folder of templates or among what the workbench shares, and no other files."""

    def find(name):
        folder = workbench if name.startswith(SHARED) else templates
        path = os.path.join(folder, *jinja2.loaders.split_template_path(name))
        if not os.path.isfile(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read(), name, None  # the name stands for the file in code and messages, wherever the folder is

    return find


def make_environment(find, make=None, bytecode_cache=None):
    return (make or jinja2.Environment)(
        loader=jinja2.FunctionLoader(find),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        cache_size=-1,
        bytecode_cache=bytecode_cache,
    )


def make_user_environment(find, sources):
    """The sandbox stops accidents (a changed model, a range without end); it is no security border, since whoever builds a
    tree runs code that its templates wrote."""

    def find_user(name):
        text = sources.get(name)
        return find(name.removeprefix("openreg-gen/")) if text is None else (text, name, None)

    return make_environment(find_user, ImmutableSandboxedEnvironment)


def bound_resources():
    """Ends templates that would not end by themselves: an exception after USER_SECONDS, no memory beyond USER_MEMORY."""
    import resource
    import signal

    def too_long(*_):
        raise TimeoutError(f"it takes more than {USER_SECONDS} s")

    signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, USER_SECONDS, 1)
    resource.setrlimit(resource.RLIMIT_AS, (USER_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def make_compiled():
    """The code of templates, by their names and texts."""

    class TemplateCache(jinja2.BytecodeCache):
        def __init__(self):
            self.code = {}
            self.file = f"templates-{importlib.util.MAGIC_NUMBER.hex()}-{jinja2.__version__}.marshal"

        def load_bytecode(self, bucket):
            bucket.code = self.code.get(bucket.key + bucket.checksum)

        def dump_bytecode(self, bucket):
            self.code[bucket.key + bucket.checksum] = bucket.code

        def read(self, folders):
            for folder in folders:
                try:
                    with open(os.path.join(folder, self.file), "rb") as file:
                        self.code.update(marshal.loads(file.read()))
                except (OSError, ValueError, EOFError, TypeError):
                    continue

    return TemplateCache()


def compile_all(templates, folder):
    compiled = make_compiled()
    environment = make_environment(find_in(templates, ""), bytecode_cache=compiled)  # includes are not followed
    for at, _, files in os.walk(templates):
        for file in files:
            if file.endswith(".j2"):
                environment.get_template(os.path.relpath(os.path.join(at, file), templates))
    with open(os.path.join(folder, compiled.file), "wb") as file:
        marshal.dump(compiled.code, file)


def line_in(traceback, template, is_template):
    """The innermost template and line of a traceback; included templates count."""
    line = 0
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if is_template(name):
            template, line = name, traceback.tb_lineno
        traceback = traceback.tb_next
    return template, line


def find_items(jobs, model):
    """Puts each job's item into its context: null for a job of no list."""
    lists = {}
    for job in jobs:
        item = None
        if "item" in job:
            name, index = job["item"]
            if name not in lists:
                lists[name] = functools.reduce(dict.__getitem__, name.split("."), model)
            item = lists[name][index]
        job["context"].setdefault("item", item)


def render(request):
    """The answer and the texts in UTF-8."""
    jobs, sources = request["jobs"], request["user"]
    find = find_in(request["templates"], request.get("workbench", ""))
    compiled = make_compiled()
    compiled.read(request["compiled"])
    environment = make_environment(find, bytecode_cache=compiled)
    texts = [b""] * len(jobs)
    job = {"template": "", "user": False}
    try:
        find_items(jobs, request["globals"])
        # Those of `user` last, since the bounds hold for the rest of the process.
        for index in sorted(range(len(jobs)), key=lambda index: jobs[index]["user"]):
            if jobs[index]["user"] and not job["user"]:
                environment = make_user_environment(find, sources)
                bound_resources()
            job = jobs[index]
            template = environment.get_template(job["template"], globals=request["globals"])
            texts[index] = template.render(job["context"]).encode()
    except Exception as error:  # noqa: BLE001  whatever a template does wrong belongs into the answer
        is_template = sources.__contains__ if job["user"] else lambda name: name.endswith(".j2")
        template, line = line_in(error.__traceback__, job["template"], is_template)
        kind, message = "render", f"{type(error).__name__}: {error}"
        if isinstance(error, jinja2.TemplateSyntaxError):
            kind, template, line, message = "syntax", error.name or template, error.lineno, error.message
        elif isinstance(error, jinja2.TemplateNotFound):
            kind, message = "missing", f"no template {error.name!r}"
        elif isinstance(error, jinja2.UndefinedError):
            kind, message = "undefined", str(error)
        answer = {"kind": kind, "template": template, "line": line, "message": message, "user": job["user"]}
        return {"error": answer}, []
    return {"sizes": [len(text) for text in texts]}, texts


def main():
    if sys.argv[1:2] == ["--compile"]:
        if jinja2:
            compile_all(*sys.argv[2:])
        return
    request = json.load(sys.stdin.buffer)
    if jinja2:
        answer, texts = render(request)
    else:
        answer, texts = {"error": {"kind": "jinja2", "template": "", "line": 0, "message": "", "user": False}}, []
    sys.stdout.buffer.writelines([json.dumps(answer).encode(), b"\n", *texts])


if __name__ == "__main__":
    main()
