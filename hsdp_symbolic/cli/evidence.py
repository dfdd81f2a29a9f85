"""`hsdp verify | audit | errata | prove | soundness`: what holds, and how we know."""

from __future__ import annotations

import argparse

from ..errors import ArgumentError
from .common import Command, add_letters, letters

EXAMPLE_BOX = "--n 50 --b 2 --K 80:120 --eta 0.01:0.02 --lam 1 --beta 4 --sigma 2 --S_g 4 --alpha 10:15"


def register(command: Command) -> None:
    verify = command("verify", _verify)
    verify.epilog = "example: hsdp verify thm:shuffle --controls"
    verify.add_argument("label", metavar="LABEL", nargs="?", help="only this statement and the claims about it")
    verify.add_argument(
        "--controls",
        action="store_true",
        help="also require that each check rejects wrong versions of itself (mutants)",
    )
    verify.add_argument(
        "--fresh", action="store_true", help="decide everything now; do not use verdicts remembered from earlier runs"
    )
    verify.add_argument("--ledger", action="store_true", help="decide everything now and write proofs_check/LEDGER.md")
    verify.add_argument("--kernel", action="store_true", help="have Coq check the proofs (needs coqc)")
    verify.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="write every verdict as JSON, to FILE or to stdout"
    )

    audit = command("audit", _audit)
    audit.epilog = "example: hsdp audit thm:shuffle/bernoulli"
    audit.add_argument(
        "id", metavar="ID", nargs="?", help="a claim (thm:shuffle/bernoulli) or an item of the paper (D.5/display-3)"
    )

    errata = command("errata", _errata)
    errata.add_argument("--latex", action="store_true", required=True, help="as a LaTeX document, on stdout")

    prove = command("prove", _prove)
    prove.epilog = f'example: hsdp prove "thm:shuffle < mironov2019" {EXAMPLE_BOX}'
    prove.add_argument(
        "claim", metavar="CLAIM", nargs="?", help='LABEL < LABEL (or <=, >, >=), e.g. "thm:shuffle < mironov2019"'
    )
    add_letters(prove, "the box", ranges=True)
    prove.add_argument(
        "--budget", type=int, default=20_000, metavar="N", help="pieces of the box to examine at most (default 20000)"
    )
    prove.add_argument("--file", metavar="FILE", help="write the certificate to FILE; one that is there is continued")
    prove.add_argument("--replay", metavar="FILE", help="check the certificate in FILE instead of searching for one")
    prove.add_argument(
        "--engine", metavar="E", help="interval engine: arb or mpmath (default: arb to prove, mpmath to replay)"
    )

    sound = command("soundness", _soundness)
    sound.add_argument(
        "--cases", type=int, default=100_000, metavar="N", help="random settings to try (default 100000)"
    )
    sound.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the settings (default 0)")
    sound.add_argument("--jobs", type=int, metavar="J", help="processes (default: all cores)")


def _verify(arguments: argparse.Namespace) -> int:
    from proofs_check.report import verify

    if arguments.kernel:
        return _kernel(arguments)
    if arguments.ledger and arguments.label:
        raise ArgumentError("--ledger", arguments.label, "the ledger has every claim", "leave out the label")
    fresh = arguments.fresh or arguments.ledger
    code, entries = verify(arguments.label, controls=arguments.controls, fresh=fresh, json_target=arguments.json)
    if arguments.ledger:
        from proofs_check.audit import LEDGER, ledger_page

        from ..files import write_atomically

        write_atomically(LEDGER, ledger_page(entries))
    return code


def _kernel(arguments: argparse.Namespace) -> int:
    """Coq's verdicts: 0 if all that was asked for is kernel-checked, 1 if not, 2 without Coq."""
    import sys

    from proofs_check.kernel.compiled import NoCoq, coqc
    from proofs_check.kernel.verdict import report, verdicts

    from ..catalogue import statement

    try:
        coqc()
    except NoCoq as why:
        print(f"hsdp: {why}", file=sys.stderr)
        return 2
    chosen = [statement(arguments.label).label] if arguments.label else None
    found, _ = verdicts(chosen)
    print(report(found))
    return 0 if all(each.kernel_checked for each in found) else 1


def _audit(arguments: argparse.Namespace) -> int:
    from proofs_check.audit import overview, story

    print(story(arguments.id) if arguments.id else overview())
    return 0


def _errata(arguments: argparse.Namespace) -> int:
    from proofs_check.audit import errata

    print(errata(), end="")
    return 0


def _prove(arguments: argparse.Namespace) -> int:
    from proofs_check.prove import BoxProof, prove_over, replay

    if arguments.replay:
        proof = BoxProof.load(arguments.replay)
        holds = replay(proof, engine=arguments.engine or "mpmath")
        print(f"{proof}\n{'the certificate holds' if holds else 'the certificate does NOT hold'}")
        return 0 if holds else 1
    if not arguments.claim:
        raise ArgumentError("claim", "", "nothing to prove", 'give a claim such as "thm:shuffle < mironov2019"')
    engine = arguments.engine or "arb"
    proof = prove_over(letters(arguments), arguments.claim, budget=arguments.budget, file=arguments.file, engine=engine)
    print(proof)
    return {"proved": 0, "refuted": 1}.get(str(proof.verdict), 3)


def _soundness(arguments: argparse.Namespace) -> int:
    from proofs_check.soundness import report, soundness

    tally = soundness(arguments.cases, arguments.seed, arguments.jobs)
    print(report(tally))
    return 1 if tally.violations else 0
