"""`hsdp logistic`: the certified ε of a regularised logistic regression, and a worked example of one."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .accounting import LEFTOVER_IN_WORDS, NEIGHBOURING_IN_WORDS, SCHEMES_IN_WORDS
from .common import Command
from .guarantee import as_json, constant, json_number, report, rounded_up

if TYPE_CHECKING:
    from ..accounting.regression import LogisticPrivacy
    from ..examples.logistic import Trained

LOGISTIC_OPTIONS = {
    "n": (("--n",), "number of records"),
    "classes": (("--classes",), "number of classes"),
    "feature_norm": (("--feature-norm", "--L"), "norm a record's features are clipped to, before a 1 is appended"),
    "clip_norm": (("--clip-norm", "--clip"), "norm each record's gradient is clipped to"),
    "lam": (("--lam",), "strength of the regulariser (lam/2)*|theta|^2"),
    "learning_rate": (("--learning-rate", "--eta"), "step size"),
    "batch_size": (("--batch-size", "--batch", "--b"), "size of a mini-batch"),
    "epochs": (("--epochs", "--K"), "number of epochs of n/b updates"),
    "noise_multiplier": (
        ("--noise-multiplier",),
        "standard deviation of the noise on a sum of gradients, over the clip norm",
    ),
}
WHOLE_LOGISTIC_OPTIONS = ("n", "classes", "batch_size", "epochs", "seed", "divisor")
_INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
EXAMPLE_LOGISTIC = (
    "hsdp logistic --n 2000 --classes 2 --feature-norm 1 --clip 0.5 --lam 0.05 --eta 0.5 --batch 100 --epochs 30 "
    "--noise-multiplier 10 --delta 1e-5"
)


def register(command: Command) -> None:
    sub = command("logistic", _logistic)
    sub.epilog = f"example: {EXAMPLE_LOGISTIC}"
    for name, (flags, meaning) in LOGISTIC_OPTIONS.items():
        sub.add_argument(*flags, dest=name, metavar="X", help=meaning)
    sub.add_argument("--delta", metavar="X", help="probability with which epsilon may be exceeded, e.g. 1e-5")
    sub.add_argument(
        "--scheme",
        default="shuffle",
        metavar="S",
        help=f"how batches are made: {SCHEMES_IN_WORDS} (default shuffle)",
    )
    sub.add_argument("--leftover", metavar="W", help=LEFTOVER_IN_WORDS)
    sub.add_argument("--divisor", metavar="X", help="what sums of gradients are divided by, if not the batch size")
    sub.add_argument(
        "--regulariser", default="outside", metavar="W", help="where lam*theta is added: outside the clip, or inside"
    )
    sub.add_argument("--neighbouring", metavar="R", help=NEIGHBOURING_IN_WORDS)
    sub.add_argument(
        "--demo",
        action="store_true",
        help="train on made-up data and print accuracy beside epsilon; options left out take an example's values",
    )
    sub.add_argument("--seed", metavar="X", default="0", help="seed of the data and the noise of --demo (default 0)")
    sub.add_argument("--json", action="store_true", help="print one JSON object")


def _logistic(arguments: argparse.Namespace) -> int:
    given = {name: _number(name, getattr(arguments, name)) for name in LOGISTIC_OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    if arguments.demo:
        return _demonstrate(arguments, given)
    for name, (flags, meaning) in LOGISTIC_OPTIONS.items():
        if name not in given:
            raise ArgumentError(name, None, f"not given ({meaning})", f"pass {flags[0]}, or try --demo")
    if arguments.delta is None:
        raise ArgumentError("delta", None, "not given", "pass --delta 1e-5")
    from ..accounting.regression import logistic_privacy

    found = logistic_privacy(
        **given,
        delta=arguments.delta,
        scheme=arguments.scheme,
        neighbouring=arguments.neighbouring,
        leftover=arguments.leftover,
        divisor=_number("divisor", arguments.divisor),
        regulariser=arguments.regulariser,
    )
    if arguments.json:
        print(json.dumps(_record(found), ensure_ascii=False))
    else:
        _report(found)
    return 0


def _number(name: str, text: str | None) -> Any:
    """A count as an int; anything else as the text it is."""
    return int(text) if text is not None and name in WHOLE_LOGISTIC_OPTIONS and _INTEGER.fullmatch(text) else text


def _demonstrate(arguments: argparse.Namespace, given: dict[str, Any]) -> int:
    from ..examples.logistic import BINARY, DELTA, MULTICLASS, demonstrate

    options = {"delta": arguments.delta or DELTA, "scheme": arguments.scheme, "seed": _number("seed", arguments.seed)}
    chosen = [BINARY | given] if given else [BINARY, MULTICLASS]
    found = [demonstrate(**example, **options) for example in chosen]
    if arguments.json:
        print(json.dumps([_record(each.privacy) | _accuracy(each) for each in found], ensure_ascii=False))
        return 0
    for parameters, each in zip(chosen, found, strict=True):
        _print_example(parameters, each)
    return 0


def _accuracy(found: Trained) -> dict[str, Any]:
    return {
        "accuracy": found.accuracy,
        "deviation": found.deviation,
        "accuracy_without_noise": found.not_private,
        "accuracy_by_chance": found.chance,
        "clipped": found.clipped,
        "runs": found.runs,
        "seed": found.seed,
    }


def _print_example(parameters: dict[str, Any], found: Trained) -> None:
    privacy = found.privacy
    print(", ".join(f"{name} = {value}" for name, value in parameters.items()))
    print(f"  {privacy.case}")
    print(
        f"  accuracy with noise     {found.accuracy:.4f} ± {found.deviation:.4f} ({found.runs} runs, seed {found.seed})"
    )
    print(f"  the same without noise  {found.not_private:.4f}; by chance {found.chance:.4f}")
    print(f"  gradients clipped       {found.clipped:.1%}")
    print(f"  ε, hidden state         {rounded_up(privacy.guarantee.epsilon)} ({privacy.guarantee.bound})")
    print(f"  ε, composition          {rounded_up(privacy.composition.epsilon)} ({privacy.composition.bound})")
    print(f"  at δ = {privacy.guarantee.delta!r}, certified, {privacy.guarantee.neighbouring}")


def _record(found: LogisticPrivacy) -> dict[str, Any]:
    return as_json(found.guarantee) | {
        "composition": json_number(found.composition.epsilon),
        "case": found.case,
        "constants": [constant(each) for each in found.sources],
    }


def _report(found: LogisticPrivacy) -> None:
    report(found.guarantee)
    print(f"  logistic regression: {found.case}")
    for each in found.sources:
        print(f"    {each.name:14} {float(each.value):<12.6g} {each.comes_from}: {each.says}")
    print(f"  composition alone: {rounded_up(found.composition.epsilon)} ({found.composition.bound})")
