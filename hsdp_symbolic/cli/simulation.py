"""`hsdp simulate | attack | tightness`: bounds beside what the algorithm itself does."""

from __future__ import annotations

import argparse
import json

from ..setting.letters import PARAMETERS
from .common import Command, add_letters, letters


def register(command: Command) -> None:
    simulation = command("simulate", _simulate)
    simulation.epilog = (
        "example: hsdp simulate thm:shuffle --n 50 --b 2 --K 5 --eta 0.02 --lam 1 --beta 4 --sigma 2 --S_g 4 --alpha 2"
    )
    simulation.add_argument("label", metavar="LABEL", help="label of a statement (hsdp list), e.g. thm:shuffle")
    add_letters(simulation, "the run, and the order alpha")
    simulation.add_argument(
        "--samples",
        type=int,
        default=100_000,
        metavar="N",
        help="independent runs on each of the two datasets (default 100000)",
    )
    simulation.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed of the noise and the batches (default 0)"
    )
    simulation.add_argument("--jobs", type=int, metavar="J", help="threads (default: all cores)")
    simulation.add_argument(
        "--method",
        default="rao_blackwell",
        metavar="M",
        help="estimate from the means of the last updates (rao_blackwell, default), from the last iterates alone "
        "(samples), or by a Gaussian with their mean and variance (plug_in; for fixed and full_batch)",
    )
    simulation.add_argument("--json", action="store_true", help="print one JSON object")

    attacks = command("attack", _attack)
    attacks.epilog = "example: hsdp attack thm:shuffle"
    attacks.add_argument(
        "label", metavar="LABEL", nargs="?", help="one statement (default: every bound on the last iterate)"
    )
    attacks.add_argument("--json", action="store_true", help="print a JSON list")

    table = command("tightness", _tightness)
    table.add_argument("--json", action="store_true", help="print a JSON list")


def _simulate(arguments: argparse.Namespace) -> int:
    from ..experiment.bound_and_truth import bound_and_truth
    from ..setting import Setting

    given = letters(arguments)
    names = [letter.name for letter in PARAMETERS] + ["sigma_squared"]
    run = Setting(**{name: given.pop(name) for name in names if name in given})
    found = bound_and_truth(
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
    from ..experiment.attack import campaign

    rows = list(campaign(arguments.label))
    if arguments.json:
        print(json.dumps([row.record() for row in rows], ensure_ascii=False, indent=2))
    else:
        for row in rows:
            print(f"{row.label}: {row.attacks} attacks, {row.violations} violations")
            print(f"    least bound / divergence {row.least_ratio:.6g}")
            for wrong, verdict in row.wrong_bounds.items():
                print(f"    {wrong}: {verdict}")
    return 1 if any(row.violations for row in rows) else 0


def _tightness(arguments: argparse.Namespace) -> int:
    from ..experiment.attack import FIGURE, tightness

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
