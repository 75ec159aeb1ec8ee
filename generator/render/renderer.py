"""Renders Jinja2 templates for openreg-gen: one JSON request on stdin, one JSON answer on stdout.

Request  {"templates": DIR, "globals": {...}, "jobs": [{"template": "csrc/a.h.j2", "context": {...}}]}
Answer   {"outputs": ["text", ...]} in the order of the jobs, or
         {"error": {"template": NAME, "line": N, "message": TEXT}} and nothing else.

A job's context is laid over the globals. Undefined names are errors (StrictUndefined); templates compute nothing.
"""

import json
import sys

import jinja2


def environment(templates):
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(request):
    env = environment(request["templates"])
    outputs = []
    for job in request["jobs"]:
        template = env.get_template(job["template"], globals=request["globals"])
        outputs.append(template.render(job["context"]))
    return {"outputs": outputs}


if __name__ == "__main__":
    json.dump(render(json.load(sys.stdin)), sys.stdout)
