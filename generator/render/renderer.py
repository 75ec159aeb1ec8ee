"""Renders Jinja2 templates for openreg-gen: one JSON request on stdin, one JSON answer on stdout.

Request  {"templates": DIR, "hash": HEX, "caches": [DIR, ...], "globals": {...},
          "jobs": [{"template": "csrc/a.h.j2", "context": {...}, "item": ["ops.native", 3]}], "user": {NAME: SOURCE}}
Answer   A line {"sizes": [BYTES, ...]}, then the texts in the order of the jobs, one behind the other, in UTF-8; or a line
         {"error": {"kind": KIND, "template": NAME, "line": N, "message": TEXT}} and nothing else; KIND is one of
         jinja2 (not installed), missing, syntax, undefined, render. `"user": true`: in a template of `user`.

A job's context is laid over the globals; its `item`, if it has any, is that item of a list of the globals. Undefined names
are errors (StrictUndefined); templates compute nothing.
Compiling is most of Jinja2's cost, so all templates are compiled once: one marshal file, named after this Python, this
Jinja2 and `hash` (of all templates). It is looked for in each of `caches` and written to the last that can be written.
`renderer.py --compile TEMPLATES DIR` only writes it: an installation does so, where Jinja2 is at hand.

Templates of `user` belong to the spec's author, who may be a stranger: jobs with `"user": true` are rendered in Jinja2's
sandbox, on a model that cannot be changed, within bounds of time, memory and size. They may include each other, and
openreg-gen's own; one that they override is "openreg-gen/NAME".
"""

import contextlib
import functools
import gc
import importlib.util
import json
import marshal
import os
import sys

KEPT_CACHES = 8
MANY = 500  # jobs from which on a second process is worth its start
USER_SECONDS = 10  # for all templates of `user` together
USER_MEMORY = 512 << 20
USER_TEXT = 8 << 20  # bytes of one output
OURS = "openreg-gen/"


def make_environment(templates, compiled):
    import jinja2

    class Loader(jinja2.BaseLoader):
        def load(self, environment, name, globals=None):
            code = compiled.get(name)
            if code is None:
                # The template's name stands for its file: the same code whichever folder the templates are in.
                code = compiled[name] = environment.compile(self.get_source(environment, name)[0], name, name)
            return environment.template_class.from_code(environment, code, globals or {})

        def get_source(self, environment, name):
            path = os.path.join(templates, name)
            if not os.path.isfile(path):
                raise jinja2.TemplateNotFound(name)
            with open(path, encoding="utf-8") as file:
                return file.read(), path, None

    return jinja2.Environment(
        loader=Loader(),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
        cache_size=-1,
    )


def make_sandbox(ours, sources):
    """The environment of the templates in `sources`; `ours` gives the text of openreg-gen's own."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError

    class Sandbox(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**", "%"})

        def call_binop(self, context, operator, left, right):
            sized = [each for each in (left, right) if isinstance(each, (str, list, tuple))]
            number = next((each for each in (right, left) if isinstance(each, int)), 0)
            if operator == "*" and sized and len(sized[0]) * number > USER_TEXT:
                raise SecurityError("a text or list grows beyond bounds")
            if operator == "**" and (abs(right) > 64 or abs(left) > 1 << 32):
                raise SecurityError("a power is beyond bounds")
            if operator == "%" and isinstance(left, str):
                raise SecurityError("formats with % are not used here; use the filter `replace` or `~`")
            return super().call_binop(context, operator, left, right)

        def getattr(self, obj, attribute):
            self.check(attribute)
            return super().getattr(obj, attribute)

        def getitem(self, obj, argument):
            self.check(argument)
            return super().getitem(obj, argument)

        @staticmethod
        def check(name):
            if isinstance(name, str) and name.startswith("_"):
                raise SecurityError(f"{name!r} is private")

        def is_safe_attribute(self, obj, attr, value):
            # Methods that make texts of any length from a number.
            wide = attr in ("center", "ljust", "rjust", "zfill", "expandtabs", "format", "format_map")
            return not wide and super().is_safe_attribute(obj, attr, value)

    def load(name):
        text = sources.get(name) if name != "templates.yaml" else None
        if text is None:  # openreg-gen's own, by its plain name where one of them includes it
            text = ours(name.removeprefix(OURS))
        if text is None:
            raise jinja2.TemplateNotFound(name)
        return text, name, None

    sandbox = Sandbox(
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
        cache_size=-1,
    )
    for chance in ("random", "center", "format", "indent", "wordwrap", "pprint"):
        sandbox.filters.pop(chance, None)  # another output each time, or texts of any length
    sandbox.globals.pop("lipsum", None)
    return sandbox


def bound_resources():
    """Ends templates that would not end by themselves: an exception after USER_SECONDS, no memory beyond USER_MEMORY."""
    import resource
    import signal

    def too_long(*_):
        raise TimeoutError(f"it takes more than {USER_SECONDS} s")

    signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, USER_SECONDS, 1)
    for kind, limit in ((resource.RLIMIT_AS, USER_MEMORY), (resource.RLIMIT_CPU, 3 * USER_SECONDS)):
        hard = resource.getrlimit(kind)[1]
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (soft, hard))


def render_in_sandbox(template, context):
    pieces, size = [], 0
    for piece in template.generate(context):
        size += len(piece)
        if size > USER_TEXT:
            raise MemoryError("its output is larger than 8 MiB")
        pieces.append(piece)
    return "".join(pieces)


def compile_all(environment, templates):
    compiled = {}
    for folder, folders, files in os.walk(templates):
        folders.sort()
        for file in sorted(files):
            if file.endswith(".j2"):
                name = os.path.relpath(os.path.join(folder, file), templates).replace(os.sep, "/")
                source, _, _ = environment.loader.get_source(environment, name)
                compiled[name] = environment.compile(source, name, name)
    return compiled


def cache_name(digest):
    import jinja2

    magic = importlib.util.MAGIC_NUMBER.hex()
    return f"templates-{magic}-{jinja2.__version__}-{digest}.marshal"


def hash_templates(templates):
    """As hash_templates of render/data_dir.cpp has it."""
    import hashlib

    names = [
        os.path.relpath(os.path.join(at, each), templates) for at, _, files in os.walk(templates) for each in files
    ]
    digest = hashlib.sha256()
    for name, path in [(each, os.path.join(templates, each)) for each in sorted(names)] + [("renderer.py", __file__)]:
        with open(path, "rb") as file:
            text = file.read()
        digest.update(f"{name}\n{len(text)}\n".encode() + text)
    return digest.hexdigest()


def read_cache(folders, name):
    for folder in folders:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                return marshal.loads(file.read())
        except (OSError, ValueError, EOFError, TypeError):
            continue
    return None


def write_cache(folder, name, compiled):
    path = os.path.join(folder, name)
    try:
        os.makedirs(folder, exist_ok=True)
        with open(f"{path}.{os.getpid()}", "wb") as file:
            file.write(marshal.dumps(compiled))
        os.replace(f"{path}.{os.getpid()}", path)
        caches = [os.path.join(folder, each) for each in os.listdir(folder) if each.endswith(".marshal")]
        for old in sorted(caches, key=os.path.getmtime)[:-KEPT_CACHES]:
            os.unlink(old)
    except OSError:
        pass  # without a cache each run compiles: slower, not wrong


def load_templates(environment, request):
    name = cache_name(request["hash"])
    compiled = read_cache(request["caches"], name)
    if not isinstance(compiled, dict):
        compiled = compile_all(environment, request["templates"])
        if request["caches"]:
            write_cache(request["caches"][-1], name, compiled)
    return compiled


def own_source(templates, compiled):
    """Of openreg-gen's own templates, by name; no other file is read."""

    def source(name):
        if name not in compiled:
            return None
        with open(os.path.join(templates, name), encoding="utf-8") as file:
            return file.read()

    return source


def line_in(traceback, template, names):
    """The innermost template and line of a traceback; included templates count."""
    line = 0
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if name in names:
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


def render_all(jobs, render_one):
    """The texts of the jobs; a second process makes half of them where there are many."""
    half = len(jobs) // 2 if len(jobs) >= MANY and (os.cpu_count() or 1) > 1 else len(jobs)
    there = b""
    if half < len(jobs):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                there = marshal.dumps([render_one(job) for job in jobs[half:]])
                with open(write, "wb") as pipe:
                    pipe.write(there)
            finally:
                os._exit(0)
        os.close(write)
    texts = [render_one(job) for job in jobs[:half]]
    if half < len(jobs):
        with open(read, "rb") as pipe:
            there = pipe.read()
        os.waitpid(child, 0)
    # Whatever went wrong there goes wrong here, too, where it is reported.
    return texts + (marshal.loads(there) if there else [render_one(job) for job in jobs[half:]])


def render(request):
    """The texts in UTF-8, or what went wrong."""
    try:
        import jinja2
    except ImportError as error:
        return {"error": {"kind": "jinja2", "template": "", "line": 0, "message": str(error)}}
    compiled = {}
    environment = make_environment(request["templates"], compiled)
    name = ""
    user = False
    sources = request.get("user") or {}
    sandbox = None
    try:
        find_items(request["jobs"], request["globals"])
        compiled.update(load_templates(environment, request))

        def render_one(job):
            nonlocal name
            name = job["template"]
            return environment.get_template(name, globals=request["globals"]).render(job["context"]).encode()

        ours = iter(render_all([job for job in request["jobs"] if not job.get("user")], render_one))
        outputs = [None if job.get("user") else next(ours) for job in request["jobs"]]
        # Last, since the bounds hold for the rest of the process.
        for index, job in enumerate(request["jobs"]):
            if job.get("user"):
                name, user = job["template"], True
                if sandbox is None:
                    sandbox = make_sandbox(own_source(request["templates"], compiled), sources)
                    bound_resources()
                template = sandbox.get_template(name, globals=request["globals"])
                outputs[index] = render_in_sandbox(template, job["context"]).encode()
    except jinja2.TemplateSyntaxError as error:
        where = {"kind": "syntax", "template": error.name or name, "line": error.lineno, "message": error.message}
        return {"error": where | {"user": user}}
    except jinja2.TemplateNotFound as error:
        if user:
            _, line = line_in(error.__traceback__, name, sources)
            where = {
                "kind": "missing",
                "template": name,
                "line": line,
                "message": f"there is no template {error.name!r}",
            }
            return {"error": where | {"user": True}}
        return {"error": {"kind": "missing", "template": error.name, "line": 0, "message": f"asked for by {name}"}}
    except Exception as error:  # noqa: BLE001  whatever a template does wrong belongs into the answer
        template, line = line_in(error.__traceback__, name, sources if user else compiled)
        kind = "undefined" if isinstance(error, jinja2.UndefinedError) else "render"
        message = str(error) if kind == "undefined" else f"{type(error).__name__}: {error}"
        return {"error": {"kind": kind, "template": template, "line": line, "message": message, "user": user}}
    return {"outputs": outputs}


def environment(templates):
    """An environment that compiles each template of a folder when it is first used."""
    return make_environment(templates, {})


def main():
    gc.disable()  # one short run: a collection would only cost time
    with contextlib.suppress(ImportError):
        import jinja2  # noqa: F401  while the request is still being made
    if sys.argv[1:2] == ["--compile"]:
        templates, folder = sys.argv[2:]
        if "jinja2" in sys.modules:
            write_cache(
                folder, cache_name(hash_templates(templates)), compile_all(make_environment(templates, {}), templates)
            )
        return
    answer = render(json.loads(sys.stdin.buffer.read()))
    texts = answer.pop("outputs", [])
    if "error" not in answer:
        answer["sizes"] = [len(text) for text in texts]
    sys.stdout.buffer.writelines([json.dumps(answer).encode(), b"\n", *texts])
    sys.stdout.buffer.flush()
    os._exit(0)  # taking megabytes of objects apart would only cost time


if __name__ == "__main__":
    main()
