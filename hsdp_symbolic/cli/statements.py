"""`hsdp list | show | eval`: the statements, their derivations and their values."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..setting.letters import ARGUMENTS, PARAMETERS
from .common import Command, add_letters, letters
from .example import EXAMPLE_EVAL

if TYPE_CHECKING:
    from ..setting import Setting
    from ..statement import Statement


NOT_VERIFIED = "not verified yet (hsdp verify)"


def register(command: Command) -> None:
    listing = command("list", _list)
    listing.add_argument("--json", action="store_true", help="print a JSON list")

    show = command("show", _show)
    show.epilog = "example: hsdp show thm:shuffle"
    show.add_argument("label", metavar="LABEL", help="label of a statement (hsdp list), e.g. thm:strconvexsmooth")
    show.add_argument("--fresh", action="store_true", help="prove it now; do not read the record of an earlier proof")
    show.add_argument("--tree", action="store_true", help="prove it now and print every application of a rule")

    evaluate = command("eval", _eval)
    evaluate.epilog = f"example: {EXAMPLE_EVAL}"
    evaluate.add_argument("label", metavar="LABEL", help="label of a statement (hsdp list), e.g. thm:strconvexsmooth")
    add_letters(evaluate, "where to evaluate", ranges=True)
    evaluate.add_argument(
        "--engine",
        default="arb",
        metavar="E",
        help="interval engine: arb (default), mpmath, or both, which must overlap",
    )
    evaluate.add_argument(
        "--rtol", metavar="W", help="relative width of the bracket (default 1e-20; wider where a value needs a grid)"
    )
    evaluate.add_argument("--exact", action="store_true", help="also print the exact value, where it is rational")
    evaluate.add_argument("--json", action="store_true", help="print one JSON object")


def _list(arguments: argparse.Namespace) -> int:
    from proofs_check.cache import Memory

    from ..index import labels
    from ..standing import described

    memory = Memory()
    rows = []
    for label in labels():
        about = described(label)
        verdict = memory.theorem(label) or NOT_VERIFIED
        shown = {name: about[name] for name in ("where", "title", "says", "needs")}
        rows.append({"label": label, "kind": about["kind"], "verdict": verdict, **shown})
    waiting = sum(row["verdict"] == NOT_VERIFIED for row in rows)
    if waiting < len(rows):
        print("verdicts are remembered from earlier runs; `hsdp verify --fresh` decides all again", file=sys.stderr)
    if waiting:
        print(f"{waiting} not verified yet: `hsdp verify LABEL` verifies one, `hsdp verify` all", file=sys.stderr)
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    columns = ("label", "kind", "verdict", "where")
    widths = [max(len(str(row[column])) for row in rows) for column in columns]
    for row in rows:
        cells = [f"{row[column]!s:{width}}" for column, width in zip(columns, widths, strict=True)]
        print("  ".join([*cells, str(row["title"])]).rstrip())
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from proofs_check.cache import Memory

    from ..catalogue import statement
    from ..standing import proof_record
    from ..tex import plain

    found = statement(arguments.label)
    print(f"{found.label}: {found.title}")
    print(f"{found.where}. {found.says}\n")
    print(f"LaTeX       {found.latex()}")
    print(f"Computed    {plain(found.expr)}")
    print(f"where       {_abbreviations(found)}")
    for assumption in found.assumptions:
        print(f"Assumes     {assumption}")
    print("Hypotheses  " + (", ".join(map(plain, found.hypotheses)) or "none beyond the ranges of the letters"))
    fresh = arguments.fresh or arguments.tree
    rests = proof_record(found.label, fresh=fresh)
    print("Rests on    " + (", ".join(rests["facts"]) or "no cited fact") + f"   (hsdp axioms {found.label})")
    print("\nProof")
    if arguments.tree:
        from ..proof.tree import every_rule

        for line in every_rule(found.theorem):
            print(f"  {line}")
    else:
        for number, line in enumerate(rests["proof"], start=1):
            print(f"{number:3}. {line['name'] or found.label}: {line['says']}")
            if line["support"]:
                print(f"     {line['support']}")
    verdict = "proved now" if fresh else Memory().theorem(found.label)
    print(f"\n{verdict or f'as recorded; to prove it now: hsdp show {found.label} --fresh, or hsdp verify'}")
    return 0


def _abbreviations(found: Statement) -> str:
    """What the abbreviations in a statement's formula stand for."""
    from ..symbols import ABBREVIATIONS
    from ..tex import plain

    used = {symbol for symbol in ABBREVIATIONS if found.expr.has(symbol)}
    return (
        ", ".join(f"{symbol} = {plain(ABBREVIATIONS[symbol])}" for symbol in ABBREVIATIONS if symbol in used)
        or "no abbreviation"
    )


def _eval(arguments: argparse.Namespace) -> int:
    from ..catalogue import statement
    from ..setting import Setting
    from ..setting.gate import admit

    found = statement(arguments.label)
    given = letters(arguments)
    used = {*found.needs, *(("sigma_squared",) if "sigma" in found.needs else ())}
    given = {name: value for name, value in given.items() if name in used or not isinstance(value, tuple)}
    ranges = {name: value for name, value in given.items() if isinstance(value, tuple)}
    names = [letter.name for letter in PARAMETERS] + ["sigma_squared"]
    run = Setting(**{name: given[name] for name in names if name in given and name not in ranges})
    extra = {
        letter.name: given[letter.name] for letter in ARGUMENTS if letter.name in given and letter.name in found.needs
    }
    _check_used(found, given)
    if ranges:
        return _eval_range(arguments, found, run, extra | ranges)
    rtol = arguments.rtol or found.rtol
    bracket = found.enclose(run, rtol=rtol, engine=arguments.engine, **extra)
    lower, upper = bracket.decimals(max(20, _digits_for(rtol)))
    numeric = _float_or_none(found, run, extra)
    exact = str(found.exact(run, **extra)) if arguments.exact else None
    if arguments.json:
        record = {
            "label": found.label,
            "lower": lower,
            "upper": upper,
            "numeric": numeric,
            "engine": arguments.engine,
            "setting": {**run.exact_strings(), **{name: str(admit(name, value)) for name, value in extra.items()}},
        }
        if exact:
            record["exact"] = exact
        print(json.dumps(record))
        return 0
    print(f"{found.label} ({found.where}){_about(found)}")
    print(f"  lower    {lower}")
    print(f"  upper    {upper}   certified ({arguments.engine})")
    sketched = " (a sketch, good to a few per cent)" if any(node.on_a_grid for node in found.functions) else ""
    print(f"  numeric  {'outside the range of doubles' if numeric is None else repr(numeric)}{sketched}")
    if exact:
        print(f"  exact    {exact}")
    return 0


def _check_used(found: Statement, given: dict[str, Any]) -> None:
    """Refuse a δ or ε that a profile does not ask for, as if it changed the answer."""
    for name, view in (("epsilon", "delta(run, epsilon)"), ("delta", "epsilon(run, delta)")):
        if found.is_profile and found.quantity and name in given and name not in found.needs:
            problem = f"{found.label} bounds {found.quantity.words}"
            raise ArgumentError(name, given[name], problem, f"from Python: statement('{found.label}').{view}")


def _about(found: Statement) -> str:
    """What a profile bounds, as it is neither an ε nor a divergence."""
    return f": {found.quantity.words}" if found.is_profile and found.quantity else ""


def _eval_range(arguments: argparse.Namespace, found: Statement, run: Setting, given: dict[str, Any]) -> int:
    """A certified range over ranges of letters."""
    if arguments.exact:
        raise ArgumentError("exact", "with a range", "a range has no exact value", "leave out --exact")
    _digits_for(arguments.rtol or found.rtol)  # an rtol that is no number is refused, although a range does not use it
    bracket = found.enclose(run, engine=arguments.engine, **given)
    lower, upper = bracket.decimals()
    if arguments.json:
        box = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
        record = {"label": found.label, "lower": lower, "upper": upper, "engine": arguments.engine}
        print(json.dumps({**record, "setting": {**run.exact_strings(), **box}}))
        return 0
    print(f"{found.label} ({found.where}) over the whole range")
    print(f"  lower    {lower}")
    print(f"  upper    {upper}   certified ({arguments.engine})")
    return 0


def _float_or_none(found: Statement, run: Setting, extra: dict[str, str]) -> float | None:
    """The value as a float; None where it is outside the range of doubles, as the bracket need not be."""
    from ..errors import OutsideDoubleRange

    try:
        return float(found.numeric(run, **extra))
    except OutsideDoubleRange:
        return None


def _digits_for(rtol: str) -> int:
    """How many significant digits to print, so that rounding does not widen a bracket of this relative width much."""
    from ..setting.gate import to_fraction

    return len(str(int(1 / to_fraction("rtol", rtol)))) + 1
