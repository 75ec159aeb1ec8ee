"""`python -m openreg_gen.adopt.write`: the plan of an adoption, from facts, the catalogue and sources. Needs no PyTorch."""

import argparse
import json
import pathlib
import sys
from collections.abc import Sequence
from dataclasses import asdict

from ..exits import Exit, Parser, fail
from .items import ParserMissing
from .plan import make_plan
from .report import report_text
from .spec_text import spec_text


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = Parser(prog="python -m openreg_gen.adopt.write", description=__doc__)
    parser.add_argument("--name", required=True, help="the new backend's name")
    parser.add_argument("--facts", required=True, metavar="FILE", help="what openreg_gen.adopt.read wrote")
    parser.add_argument("--operators", required=True, metavar="FILE", help="what the command's catalogue knows")
    parser.add_argument("--sources", action="append", default=[], metavar="DIR", type=pathlib.Path)
    parser.add_argument("--json", required=True, metavar="FILE", help="the plan to write")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    facts, catalogue = (json.loads(pathlib.Path(each).read_text()) for each in (given.facts, given.operators))
    if "adopt" not in facts:
        fail(
            f"{given.facts} is an audit of `openreg-gen audit`",
            "`python -m openreg_gen.adopt.read PACKAGE --json FILE` makes facts",
        )
    try:
        plan = make_plan(given.name, facts, catalogue, given.sources)
    except ParserMissing as error:
        text, _, hint = str(error).partition(": ")
        fail(text, hint, Exit.ENVIRONMENT)
    written = {
        "spec": spec_text(plan),
        "report": report_text(plan, catalogue),
        "package": facts["package"],
        "device": facts["device"],
        "operators": [
            {
                "op": each.op,
                "strategy": each.strategy,
                "why": each.why,
                "moved": each.code is not None,
                **asdict(each.at),
            }
            for each in plan.choices
        ],
        "custom_ops": [{"op": each.op, "schema": each.schema, "moved": each.code is not None} for each in plan.custom],
        "amp": {"preset": plan.amp.preset, "add": plan.amp.add, "remove": plan.amp.remove, "rules": plan.amp.rules},
        "fallback": plan.fallback,
        "interfaces": [{"name": row["name"], "verdict": row["verdict"]} for row in facts["interfaces"]],
        "unclear": [asdict(each) for each in plan.unclear],
        "kernels": plan.kernels,
        "files": plan.files,
        "python": plan.python,
        "port": plan.with_port,
    }
    pathlib.Path(given.json).write_text(json.dumps(written, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
