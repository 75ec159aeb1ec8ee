"""Renders Jinja2 templates for openreg-gen: one JSON request on stdin, one JSON answer on stdout.

Request  {"templates": DIR, "hash": HEX, "caches": [DIR, ...], "globals": {...},
          "jobs": [{"template": "csrc/a.h.j2", "context": {...}}]}
Answer   {"outputs": ["text", ...]} in the order of the jobs, or
         {"error": {"kind": KIND, "template": NAME, "line": N, "message": TEXT}} and nothing else; KIND is one of
         jinja2 (not installed), missing, syntax, undefined, render.

A job's context is laid over the globals. Undefined names are errors (StrictUndefined); templates compute nothing.
Compiling is most of Jinja2's cost, so all templates are compiled once: one marshal file, named after this Python, this
Jinja2 and `hash` (of all templates). It is looked for in each of `caches` and written to the last that can be written.
`renderer.py --compile TEMPLATES DIR` only writes it: an installation does so, where Jinja2 is at hand.
"""

import contextlib
import gc
import importlib.util
import json
import marshal
import os
import sys

KEPT_CACHES = 8


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


def line_in(traceback, template, names):
    """The innermost template and line of a traceback; included templates count."""
    line = 0
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if name in names:
            template, line = name, traceback.tb_lineno
        traceback = traceback.tb_next
    return template, line


def render(request):
    try:
        import jinja2
    except ImportError as error:
        return {"error": {"kind": "jinja2", "template": "", "line": 0, "message": str(error)}}
    compiled = {}
    environment = make_environment(request["templates"], compiled)
    outputs = []
    name = ""
    try:
        compiled.update(load_templates(environment, request))
        for job in request["jobs"]:
            name = job["template"]
            template = environment.get_template(name, globals=request["globals"])
            outputs.append(template.render(job["context"]))
    except jinja2.TemplateSyntaxError as error:
        where = {"kind": "syntax", "template": error.name or name, "line": error.lineno, "message": error.message}
        return {"error": where}
    except jinja2.TemplateNotFound as error:
        return {"error": {"kind": "missing", "template": error.name, "line": 0, "message": f"asked for by {name}"}}
    except Exception as error:  # noqa: BLE001  whatever a template does wrong belongs into the answer
        template, line = line_in(error.__traceback__, name, compiled)
        kind = "undefined" if isinstance(error, jinja2.UndefinedError) else "render"
        message = str(error) if kind == "undefined" else f"{type(error).__name__}: {error}"
        return {"error": {"kind": kind, "template": template, "line": line, "message": message}}
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
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    main()
