"""`hsdp unlearn`: how many further steps, or how much noise, until a record is forgotten."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .accounting import EXAMPLE_CLIPPED, add_options, options_given, options_wanted, run_described
from .common import Command
from .guarantee import json_number

if TYPE_CHECKING:
    from ..accounting import Unlearning

NOT_ASKED = {
    "neighbouring": "forgetting is about one relation: a record's gradient is left out",
    "orders": "what is left of a record is bounded by a Gaussian mechanism, without an order",
    "effort": "no bound on forgetting takes long",
}
"""What commands about a run take and this one does not, with the reason."""
_INTEGER = re.compile(r"\d{1,40}", re.ASCII)


def register(command: Command) -> None:
    sub = add_options(command, "unlearn", _unlearn, "delta", "epsilon", leave_out=tuple(NOT_ASKED))
    sub.add_argument(
        "--further-steps", metavar="R", help="number of steps after training, in which the record is left out"
    )
    sub.add_argument(
        "--further-noise-multiplier", metavar="Z", help="noise multiplier of these steps (default: that of training)"
    )
    sub.add_argument(
        "--training-noise",
        choices=("secret", "known"),
        default="secret",
        help="known: no bound counts on the noise of training (default: secret)",
    )
    sub.epilog = (
        "give --epsilon for the number of further steps, --further-steps for the epsilon they reach, both for the "
        f"noise multiplier they need. examples: hsdp unlearn --scheme reshuffle {EXAMPLE_CLIPPED} --delta 1e-5 "
        "--epsilon 0.1; the same with --further-steps 50"
    )


def _unlearn(arguments: argparse.Namespace) -> int:
    from ..accounting import unlearning

    given = options_given(arguments)
    for name in NOT_ASKED.keys() & given.keys():  # a file may have them
        raise ArgumentError(name, given[name], NOT_ASKED[name], "leave it out")
    steps = arguments.further_steps
    found = unlearning(
        run_described({name: value for name, value in given.items() if name != "epsilon"}),
        scheme=options_wanted(given, "scheme")["scheme"],
        delta=options_wanted(given, "delta")["delta"],
        epsilon=given.get("epsilon"),
        steps=int(steps) if steps is not None and _INTEGER.fullmatch(steps) else steps,
        noise_multiplier=arguments.further_noise_multiplier,
        training_noise=arguments.training_noise,
    )
    if arguments.json:
        print(json.dumps(_as_json(found), ensure_ascii=False))
    else:
        _report(found)
    return 0


def _as_json(found: Unlearning) -> dict[str, Any]:
    return {
        "epsilon": json_number(found.epsilon),
        "delta": found.delta,
        "further_steps": found.steps,
        "further_noise_multiplier": json_number(found.noise_multiplier),
        "solved_for": found.solved_for,
        "bound": found.bound,
        "title": found.title,
        "scheme": found.scheme,
        "needs_training_noise": found.needs_training_noise,
        "update": found.update,
        "assumed_by_you": list(found.assumed_by_you),
        "assumptions": list(found.assumptions),
        "setting": found.setting.exact_strings(),
    }


def _report(found: Unlearning) -> None:
    print(
        f"after {found.steps} further steps without the record, noise multiplier {float(found.noise_multiplier):.7g}: "
        f"({found.epsilon!r}, {found.delta!r})-indistinguishable from never having had it, certified"
    )
    print(f"  solved for    {found.solved_for.replace('_', ' ')}")
    print(f"  bound         {found.bound}: {found.title} (not in the paper)")
    print(f"  batches       {found.scheme}")
    print(f"  update        {found.update}")
    if found.assumed_by_you:
        print("  assumed by you")
        for assumption in found.assumed_by_you:
            print(f"    {assumption}")
    print("  what it means, and what is assumed")
    for assumption in found.assumptions:
        print(f"    {assumption}")
