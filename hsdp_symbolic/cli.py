"""The command line: `hsdp COMMAND`; `hsdp --help` lists the commands.

Only the standard library is imported here, so that help and errors are instant. Anything the user got wrong ends
in one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import ArgumentError, HsdpError
from .letters import ARGUMENTS, PARAMETERS

if TYPE_CHECKING:
    from .setting import Setting
    from .statement import Statement

_EXAMPLE = (
    "hsdp eval thm:strconvexsmooth --n 50 --b 2 --K 40 --eta 0.02 --lam 1 --beta 4 --sigma 2 --S_g 4 --alpha 15 --j0 24"
)
_EXAMPLE_BOX = "--n 50 --b 2 --K 80:120 --eta 0.01:0.02 --lam 1 --beta 4 --sigma 2 --S_g 4 --alpha 10:15"


class _Parser(argparse.ArgumentParser):
    """argparse, with errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (try {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (0 success, 1 a check failed, 2 bad input, 3 undecided)."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except HsdpError as error:
        print(f"hsdp: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("hsdp: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone (`hsdp list | head`); nothing is left to say
        return 141
    return code


def _parser() -> _Parser:
    from . import __version__

    parser = _Parser(
        prog="hsdp",
        description="Hidden-state differential privacy: derive, verify and evaluate the theorems of Ye & Shokri.",
        epilog=f"example: {_EXAMPLE}",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"hsdp {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Any, summary: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        sub.set_defaults(run=run)
        return sub

    listing = command("list", _list, "list all statements in the paper's order")
    listing.add_argument("--json", action="store_true", help="print a JSON list")

    show = command("show", _show, "show a statement, its hypotheses and its derivation with the evidence of each step")
    show.add_argument("label", metavar="LABEL", help="the paper's label, e.g. thm:strconvexsmooth")

    evaluate = command("eval", _eval, "evaluate a statement: a certified bracket and a float")
    evaluate.epilog = f"example: {_EXAMPLE}"
    evaluate.add_argument("label", metavar="LABEL", help="the paper's label, e.g. thm:strconvexsmooth")
    _add_letters(evaluate)
    evaluate.add_argument("--engine", default="arb", metavar="E", help="arb (default), mpmath, or both (must overlap)")
    evaluate.add_argument("--rtol", default="1e-20", metavar="W", help="relative width of the bracket (default 1e-20)")
    evaluate.add_argument("--exact", action="store_true", help="also print the exact rational")
    evaluate.add_argument("--json", action="store_true", help="print one JSON object")

    latex = command("latex", _latex, "print a statement in LaTeX, in the paper's notation")
    latex.add_argument("label", metavar="LABEL", help="the paper's label, e.g. thm:strconvexsmooth")

    verify = command("verify", _verify, "run every derivation and check; exit 1 if anything is left undecided or wrong")
    verify.add_argument("label", metavar="LABEL", nargs="?", help="only what concerns this statement")
    verify.add_argument("--controls", action="store_true", help="also require that every mutant is rejected")
    verify.add_argument("--fresh", action="store_true", help="decide everything again, whatever is remembered")
    verify.add_argument("--ledger", action="store_true", help="write proofs_check/LEDGER.md")
    verify.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="write the ledger as JSON (default: stdout)"
    )

    audit = command("audit", _audit, "what is not plainly right in the paper, or the whole story of one claim or item")
    audit.add_argument("id", metavar="ID", nargs="?", help="a claim (thm:shuffle/bernoulli) or an item (D.5/display-3)")

    errata = command("errata", _errata, "a note of errata to the paper")
    errata.add_argument("--latex", action="store_true", required=True, help="as a LaTeX document, on stdout")

    prove = command("prove", _prove, "prove or refute an inequality between two statements over a box of parameters")
    prove.epilog = f'example: hsdp prove "thm:shuffle < mironov2019" {_EXAMPLE_BOX}'
    prove.add_argument(
        "claim", metavar="CLAIM", nargs="?", help='LABEL < LABEL (or <=, >, >=), e.g. "thm:shuffle < mironov2019"'
    )
    _add_letters(prove)
    prove.add_argument("--budget", type=int, default=20_000, metavar="N", help="pieces to examine (default 20000)")
    prove.add_argument("--file", metavar="FILE", help="write the certificate here; an existing one is continued")
    prove.add_argument("--replay", metavar="FILE", help="check a certificate, by default with the other engine")
    prove.add_argument("--engine", metavar="E", help="arb or mpmath (default: arb to prove, mpmath to replay)")

    simulation = command(
        "simulate", _simulate, "run the algorithm of a statement and compare its divergence with the bound"
    )
    simulation.epilog = (
        "example: hsdp simulate thm:shuffle --n 50 --b 2 --K 5 --eta 0.02 --lam 1 --beta 4 --sigma 2 --S_g 4 --alpha 2"
    )
    simulation.add_argument("label", metavar="LABEL", help="the paper's label, e.g. thm:shuffle")
    _add_letters(simulation)
    simulation.add_argument(
        "--samples", type=int, default=100_000, metavar="N", help="chains on each dataset (default 100000)"
    )
    simulation.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the run (default 0)")
    simulation.add_argument("--jobs", type=int, metavar="J", help="threads (default: all cores)")
    simulation.add_argument(
        "--method", default="rao_blackwell", metavar="M", help="rao_blackwell (default), samples or plug_in"
    )
    simulation.add_argument("--json", action="store_true", help="print one JSON object")

    attacks = command(
        "attack",
        _attack,
        "search for an instance whose exact divergence exceeds a bound, and for wrong bounds it exposes",
    )
    attacks.add_argument("label", metavar="LABEL", nargs="?", help="one statement (default: all with an algorithm)")
    attacks.add_argument("--json", action="store_true", help="print a JSON list")

    table = command("tightness", _tightness, "bound over worst divergence found, at the figure setting")
    table.add_argument("--json", action="store_true", help="print a JSON list")

    sound = command("soundness", _soundness, "compare the certified views with the other engine at random settings")
    sound.add_argument("--cases", type=int, default=100_000, metavar="N", help="settings to compare (default 100000)")
    sound.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the settings (default 0)")
    sound.add_argument("--jobs", type=int, metavar="J", help="processes (default: all cores)")
    return parser


def _add_letters(command: argparse.ArgumentParser) -> None:
    """An option for every letter; a range is written LOW:HIGH."""
    for letter in PARAMETERS:
        command.add_argument(f"--{letter.name}", metavar="X", help=f"{letter.meaning}: {letter.describe_range()}")
        if letter.name == "sigma":
            command.add_argument(
                "--sigma_squared", metavar="X", help="instead of --sigma, where only sigma^2 is rational"
            )
    for letter in ARGUMENTS:
        command.add_argument(f"--{letter.name}", metavar="X", help=f"{letter.meaning}: {letter.describe_range()}")


def _letters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The letters given on the command line: text, or a pair of texts for LOW:HIGH."""
    names = [letter.name for letter in (*PARAMETERS, *ARGUMENTS)] + ["sigma_squared"]
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return {name: tuple(text.split(":")) if ":" in text else text for name, text in given.items()}


def _list(arguments: argparse.Namespace) -> int:
    from proofs_check.cache import derivation_verdicts

    from .catalogue import statements

    verdicts = derivation_verdicts()
    rows = [
        {
            "label": s.label,
            "kind": s.kind,
            "verdict": verdicts[s.label],
            "where": s.where,
            "title": s.title,
            "says": s.says,
            "needs": s.needs,
        }
        for s in statements()
    ]
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
    from .catalogue import statement
    from .tex import plain

    found = statement(arguments.label)
    print(f"{found.label}: {found.title}")
    print(f"{found.where}. {found.says}\n")
    print(f"LaTeX       {found.latex()}")
    print(f"Computed    {plain(found.expr)}")
    print(f"where       {_abbreviations(found)}")
    for assumption in found.assumes:
        print(f"Assumes     {assumption}")
    print("Needs       " + (", ".join(map(plain, found.hypotheses)) or "none beyond the ranges of the letters"))
    if found.uses:
        print("Rests on    " + ", ".join(found.uses))
    print("\nDerivation")
    passed = True
    for number, step in enumerate(found.steps, start=1):
        evidence = step.check.verify()
        passed &= evidence.verdict.passes
        print(f"{number:3}. {step.says}")
        print(f"     {plain(step.check.formula())}")
        print(f"     {evidence.verdict} [{evidence.method}; {evidence.scope}] {evidence.detail}")
    return 0 if passed else 1


def _abbreviations(found: Statement) -> str:
    """The abbreviations that occur in a statement, spelled out."""
    from .symbols import ABBREVIATIONS
    from .tex import plain

    used = {symbol for symbol in ABBREVIATIONS if found.expr.has(symbol)}
    return (
        ", ".join(f"{symbol} = {plain(ABBREVIATIONS[symbol])}" for symbol in ABBREVIATIONS if symbol in used)
        or "no abbreviation"
    )


def _eval(arguments: argparse.Namespace) -> int:
    from .catalogue import statement
    from .setting import Setting, admit

    found = statement(arguments.label)
    given = _letters(arguments)
    used = {*found.needs, *(("sigma_squared",) if "sigma" in found.needs else ())}
    given = {name: value for name, value in given.items() if name in used or not isinstance(value, tuple)}
    ranges = {name: value for name, value in given.items() if isinstance(value, tuple)}
    names = [letter.name for letter in PARAMETERS] + ["sigma_squared"]
    run = Setting(**{name: given[name] for name in names if name in given and name not in ranges})
    extra = {
        letter.name: given[letter.name] for letter in ARGUMENTS if letter.name in given and letter.name in found.needs
    }
    if ranges:
        return _eval_range(arguments, found, run, extra | ranges)
    bracket = found.enclose(run, rtol=arguments.rtol, engine=arguments.engine, **extra)
    lower, upper = bracket.decimals(max(20, _digits_for(arguments.rtol)))
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
    print(f"{found.label} ({found.where})")
    print(f"  lower    {lower}")
    print(f"  upper    {upper}   certified ({arguments.engine})")
    print(f"  numeric  {'outside the range of doubles' if numeric is None else repr(numeric)}")
    if exact:
        print(f"  exact    {exact}")
    return 0


def _eval_range(arguments: argparse.Namespace, found: Statement, run: Setting, given: dict[str, Any]) -> int:
    """A certified range over ranges of letters."""
    if arguments.exact:
        raise ArgumentError("exact", "with a range", "a range has no exact value", "leave out --exact")
    _digits_for(arguments.rtol)  # refused if it is no number, although a range needs none
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
    """The float view, or None where it does not fit: the certified bracket stands without it."""
    from .errors import OutsideDoubleRange

    try:
        return float(found.numeric(run, **extra))
    except OutsideDoubleRange:
        return None


def _digits_for(rtol: str) -> int:
    """Enough significant digits for a bracket of this relative width not to be blurred by its own printing."""
    from .setting import to_fraction

    return len(str(int(1 / to_fraction("rtol", rtol)))) + 1


def _latex(arguments: argparse.Namespace) -> int:
    from .catalogue import statement

    print(statement(arguments.label).latex())
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    from proofs_check.report import verify

    code = verify(arguments.label, controls=arguments.controls, fresh=arguments.fresh, json_target=arguments.json)
    if arguments.ledger:
        from proofs_check.audit import LEDGER, ledger_page
        from proofs_check.report import examine_all

        from .files import write_atomically

        write_atomically(LEDGER, ledger_page(examine_all()))
    return code


def _audit(arguments: argparse.Namespace) -> int:
    from proofs_check.audit import overview, story

    print(story(arguments.id) if arguments.id else overview())
    return 0


def _errata(arguments: argparse.Namespace) -> int:
    from proofs_check.audit import errata

    print(errata(), end="")
    return 0


def _prove(arguments: argparse.Namespace) -> int:
    from .prove import BoxProof, prove_over, replay

    if arguments.replay:
        proof = BoxProof.load(arguments.replay)
        holds = replay(proof, engine=arguments.engine or "mpmath")
        print(f"{proof}\n{'the certificate holds' if holds else 'the certificate does NOT hold'}")
        return 0 if holds else 1
    if not arguments.claim:
        raise ArgumentError("claim", "", "nothing to prove", 'give a claim such as "thm:shuffle < mironov2019"')
    engine = arguments.engine or "arb"
    proof = prove_over(
        _letters(arguments), arguments.claim, budget=arguments.budget, file=arguments.file, engine=engine
    )
    print(proof)
    return {"proved": 0, "refuted": 1}.get(str(proof.verdict), 3)


def _simulate(arguments: argparse.Namespace) -> int:
    from .comparison import compare
    from .setting import Setting

    given = _letters(arguments)
    names = [letter.name for letter in PARAMETERS] + ["sigma_squared"]
    run = Setting(**{name: given.pop(name) for name in names if name in given})
    found = compare(
        arguments.label,
        run,
        samples=arguments.samples,
        seed=arguments.seed,
        jobs=arguments.jobs,
        method=arguments.method,
        **given,
    )
    if arguments.json:
        print(json.dumps(found.record()))
    else:
        print(f"{found.label}, {found.scheme} batches, {found.samples:,} chains on each dataset, seed {found.seed}")
        print(f"  estimate  {found.estimate:.6g}   in [{found.ci[0]:.6g}, {found.ci[1]:.6g}] ({found.method}, 95 %)")
        print(f"  exact     {'not known' if found.exact is None else f'{found.exact:.12g}   ({found.exact_by})'}")
        print(f"  bound     {found.bound:.12g}   certified")
        print(f"  ratio     {found.ratio:.4g}   bound / {'estimate' if found.exact is None else 'exact'}")
    return 0 if found.consistent else 1


def _attack(arguments: argparse.Namespace) -> int:
    from .attack import campaign

    rows = [row.record() for row in campaign(arguments.label)]
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        for row in rows:
            print(f"{row['label']}: {row['attacks']} attacks, {row['violations']} violations")
            print(f"    least bound / divergence {row['least_ratio']:.6g}")
            for wrong, verdict in row["wrong_bounds"].items():
                print(f"    {wrong}: {verdict}")
    return 1 if any(row["violations"] for row in rows) else 0


def _tightness(arguments: argparse.Namespace) -> int:
    from .attack import FIGURE, tightness

    rows = tightness()
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    columns = [name for name in rows[0] if name.startswith("K=")]
    print(f"bound / worst divergence found, alpha = 15, {FIGURE}")
    print(f"{'':40} {'j0':>3} " + " ".join(f"{name:>8}" for name in columns))
    for row in rows:
        cells = ["" if row[name] is None else f"{row[name]:.3f}".replace("inf", "∞") for name in columns]
        print(
            f"{row['label']:40} {'' if row['j0'] is None else row['j0']:>3} " + " ".join(f"{cell:>8}" for cell in cells)
        )
    return 0


def _soundness(arguments: argparse.Namespace) -> int:
    from proofs_check.soundness import report, soundness

    tally = soundness(arguments.cases, arguments.seed, arguments.jobs)
    print(report(tally))
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
