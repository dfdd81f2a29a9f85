"""`hsdp epsilon | delta | calibrate | compare`: the four commands of the accountant."""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..setting.letters import PARAMETERS
from .common import Command
from .guarantee import as_json, by_composition, json_number, report, rounded_up

if TYPE_CHECKING:
    from ..accounting import Comparison, Guarantee, TrainingRun

RUN_OPTIONS = (*(letter.name for letter in PARAMETERS), "sigma_squared")
WHOLE_OPTIONS = ("batch_size", "steps", "epochs", "divisor", "classes", "accumulate", "average")
LISTED = ("learning_rate", "noise_multiplier", "batch_size", "eta", "sigma", "b")
"""With --per, these may be lists."""
LIBRARY = {
    "noise_multiplier": "standard deviation of the noise on a sum of gradients, over the clip norm (a list with --per)",
    "max_grad_norm": "norm C each record's gradient is clipped to; S_g is 2C, or less if --loss has shorter gradients",
    "clip_norm": "another name for --max-grad-norm",
    "sample_rate": "probability with which a record is in a batch (b/n)",
    "batch_size": "size of a mini-batch (a list with --per)",
    "accumulate": "batches whose gradients are added up for one step, with noise once",
    "steps": "number of updates",
    "epochs": "number of epochs of n/b updates",
    "learning_rate": "step size; with --per a list such as 0.5,0.25,0.1",
    "weight_decay": "lam, where lam*theta is added to the gradient after clipping",
    "regulariser": "where the regulariser is added: outside the clip (default), or inside, to every record's loss",
    "divisor": "what sums of gradients are divided by, if not the batch size; 'actual' for each batch's own size",
    "loss": "the loss whose gradients are clipped: logistic, huber, smoothed_hinge, squared, scalar, softmax, "
    "convex or smooth",
    "feature_norm": "for any --loss on features: largest norm of a record's features, before a 1 is appended",
    "curvature": "for --loss scalar, which is phi(x*theta): Lipschitz constant of phi'",
    "slope": "for --loss scalar or huber: largest |phi'|, if it is known: gradients are no longer than it "
    "times the features",
    "classes": "for --loss softmax: number of classes",
    "width": "for --loss smoothed_hinge: over how much of the score its kink is rounded off (default 1)",
    "smoothness": "for --loss convex or smooth: Lipschitz constant of a record's gradient, before clipping",
    "optimizer": "sgd (default) for plain gradient steps; for any other, only composition holds",
    "vouched_lipschitz": "instead of --loss: a Lipschitz constant of the clipped update, on your own word",
}
LOSS_FACTS = ("feature_norm", "curvature", "slope", "width", "smoothness", "classes")
COMMON = ("n", "lam", "beta")
"""Letters that may be given with either way of describing a run."""
SHOWN = ("released", "checkpoints", "average", "projection")
OPTIONS = ("scheme", "delta", "epsilon", "orders", "neighbouring", "effort", "leftover", "bias", "per", *SHOWN)
EVERY_FEW = "every:"
"""Before a number of steps, for --checkpoints."""
_INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
SCHEMES_IN_WORDS = "fixed, shuffle, reshuffle, without_replacement, full_batch, poisson or balls_in_bins"
NEIGHBOURING_IN_WORDS = (
    "how neighbouring datasets differ: replace_one (a record replaced; default), add_remove (added or removed; default "
    "for poisson and balls_in_bins), label_only (another label) or zero_out (a record's gradient left out)"
)
LEFTOVER_IN_WORDS = (
    "what becomes of the records that fill no batch, if b does not divide n: dropped (drop_last), partial (a shorter "
    "batch), blank (a batch filled up with records without gradient) or repeated (with other records: no bound covers "
    "that)"
)
HOW = {
    "neighbouring": ("R", NEIGHBOURING_IN_WORDS),
    "orders": ("A,A,…", "use only these Rényi orders (default: search for the best)"),
    "effort": ("E", "for bounds that take long: quick (skip them), normal (default; seconds) or thorough (minutes)"),
}
"""How a run is accounted for."""
EXAMPLE_RUN = "--n 50 --b 2 --K 40 --eta 0.02 --lam 1 --beta 4 --sigma 2 --S_g 4"
EXAMPLE_CLIPPED = (
    "--n 1344 --batch-size 64 --epochs 15 --learning-rate 0.5 --weight-decay 0.01 --noise-multiplier 8 "
    "--max-grad-norm 1 --loss logistic --feature-norm 1"
)
EXAMPLE_PLANNED = (
    "--n 1344 --batch-size 64 --learning-rate 0.5,0.25,0.1 --per epoch --checkpoints 21,42 --weight-decay 0.01 "
    "--noise-multiplier 8 --max-grad-norm 1 --loss logistic --feature-norm 1"
)


def register(command: Command) -> None:
    epsilon = add_options(command, "epsilon", _epsilon, "delta")
    epsilon.epilog = (
        f"examples: hsdp epsilon --scheme shuffle {EXAMPLE_RUN} --delta 1e-5; "
        f"hsdp epsilon --scheme reshuffle {EXAMPLE_CLIPPED} --delta 1e-5; "
        f"hsdp epsilon --scheme shuffle {EXAMPLE_PLANNED} --delta 1e-5"
    )
    epsilon.add_argument(
        "--conversion",
        default="best",
        metavar="C",
        help="from Rényi to (epsilon, delta): best (default) or mironov2017",
    )
    epsilon.add_argument(
        "--certify-minimum",
        action="store_true",
        help="also print a certified minimum: the bound used gives no less at any order",
    )
    epsilon.add_argument(
        "--advise",
        action="store_true",
        help="also say which one change helps most (seconds to minutes; hsdp advise tells more)",
    )
    delta = add_options(command, "delta", _delta, "epsilon")
    delta.epilog = f"example: hsdp delta --scheme shuffle {EXAMPLE_RUN} --epsilon 1"

    calibrate = add_options(command, "calibrate", _calibrate, "delta", "epsilon")
    calibrate.epilog = (
        "example: hsdp calibrate --scheme poisson --epsilon 1 --delta 1e-5 --sample-rate 0.01 --steps 1000"
    )
    calibrate.add_argument(
        "--solve-for",
        metavar="NAME",
        help="what to find: noise_multiplier (default), sigma (default with the paper's letters), K, b, lam or "
        "noise_scale, a factor on all noises of the run",
    )
    compare = add_options(command, "compare", _compare, "delta")
    compare.epilog = (
        f"examples: hsdp compare --scheme fixed {EXAMPLE_RUN} --delta 1e-5; "
        f"hsdp compare --scheme shuffle {EXAMPLE_PLANNED} --delta 1e-5"
    )
    compare.add_argument(
        "--at", metavar="K,K,…", help="numbers of epochs to compare at (default: about a dozen up to K)"
    )
    compare.add_argument("--plot", metavar="FILE", help="also draw the curves into FILE (.pdf, .png or .svg)")


def add_options(
    command: Command, name: str, run: Any, *wanted: str, leave_out: tuple[str, ...] = ()
) -> argparse.ArgumentParser:
    """A command about a run, with the options that describe it; those named in `leave_out` mean nothing to it."""
    sub = command(name, run)
    meanings = {
        "delta": "probability with which epsilon may be exceeded, e.g. 1e-5",
        "epsilon": "the epsilon to find delta for" if name == "delta" else "the epsilon to meet",
    }
    for option in wanted:
        sub.add_argument(f"--{option}", metavar="X", help=meanings[option])
    sub.add_argument("--scheme", metavar="S", help=f"how batches are made: {SCHEMES_IN_WORDS}")
    for option, (metavar, meaning) in HOW.items():
        if option not in leave_out:
            sub.add_argument(f"--{option}", metavar=metavar, help=meaning)
    sub.add_argument(
        "--leftover",
        metavar="W",
        help=LEFTOVER_IN_WORDS,
    )
    sub.add_argument("--per", metavar="U", help="what entries of a list such as 0.5,0.25,0.1 are for: epoch or step")
    shown = sub.add_argument_group("which iterates may be seen (default: the last one only)")
    shown.add_argument("--checkpoints", metavar="T,T,…", help="those after so many steps too; every:T for all T steps")
    shown.add_argument("--average", metavar="M", help="the average of the last M, and nothing else")
    shown.add_argument("--released", metavar="R", help="last (default) or every")
    shown.add_argument(
        "--projection",
        metavar="D",
        help="diameter of a convex set (ball or box) onto which every iterate is projected after its noise",
    )
    sub.add_argument(
        "--from",
        dest="file",
        metavar="FILE",
        help="read options from a TOML file (_ for - in names); the command line wins",
    )
    sub.add_argument("--json", action="store_true", help="print one JSON object")
    paper = sub.add_argument_group("the run in the paper's letters (gradients are not clipped)")
    for letter in PARAMETERS:
        paper.add_argument(f"--{letter.name}", metavar="X", help=letter.meaning)
        if letter.name == "sigma":
            paper.add_argument("--sigma_squared", metavar="X", help="sigma^2, instead of --sigma")
    library = sub.add_argument_group("or, with --n, in the words of DP-SGD libraries (gradients are clipped)")
    for option, meaning in LIBRARY.items():
        library.add_argument(f"--{option.replace('_', '-')}", dest=option, metavar="X", help=meaning)
    library.add_argument(
        "--no-bias", dest="bias", action="store_const", const=False, help="no constant 1 is appended to the features"
    )
    return sub


def options_given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options given: on the command line or, where it is silent, in the file."""
    names = (*RUN_OPTIONS, *LIBRARY, *OPTIONS)
    found = _read(arguments.file, names) if arguments.file else {}
    for name in names:
        value = getattr(arguments, name, None)
        if value is not None:
            is_count = name in WHOLE_OPTIONS and _INTEGER.fullmatch(value)
            found[name] = int(value) if is_count else value
    for name in ("orders", *LISTED):
        if isinstance(found.get(name), str) and (name == "orders" or "," in found[name]):
            found[name] = [_entry(name, part.strip()) for part in found[name].split(",")]
    return found


def _entry(name: str, text: str) -> int | str:
    """One entry of a list."""
    return int(text) if name in ("batch_size", "b") and _INTEGER.fullmatch(text) else text


def _shown(given: dict[str, Any]) -> dict[str, Any]:
    """Which iterates may be seen, and the set they are projected onto."""
    from ..accounting import average, checkpoints

    named = [name for name in ("released", "checkpoints", "average") if name in given]
    if len(named) > 1:
        raise ArgumentError(named[1], given[named[1]], f"{named[0]} is given too", "give one of them")
    found: dict[str, Any] = {"projection": given["projection"]} if "projection" in given else {}
    if "released" in given:
        if given["released"] not in ("last", "every"):
            problem = "it does not say which iterates may be seen"
            remedy = "pass last or every; or --checkpoints 100,200, or --average 10"
            raise ArgumentError("released", given["released"], problem, remedy)
        found["released"] = given["released"]
    if "average" in given:
        found["released"] = average(given["average"])
    if "checkpoints" in given:
        told = given["checkpoints"]
        if isinstance(told, str) and told.startswith(EVERY_FEW):
            few = told.removeprefix(EVERY_FEW).strip()
            found["released"] = checkpoints(every=int(few) if _INTEGER.fullmatch(few) else few)
            return found
        parts = [part.strip() for part in told.split(",")] if isinstance(told, str) else told
        steps: list[Any] = [int(part) if isinstance(part, str) and _INTEGER.fullmatch(part) else part for part in parts]
        found["released"] = checkpoints(*steps)
    return found


def _read(path: str, names: tuple[str, ...]) -> dict[str, Any]:
    """The options in a TOML file; decimals stay text, so that they are read exactly."""
    try:
        with open(path, "rb") as stream:
            found = tomllib.load(stream, parse_float=str)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ArgumentError("from", path, f"cannot be read: {reason}", "give a TOML file such as `n = 50`") from None
    for name, value in found.items():
        if name not in names:
            raise ArgumentError("from", path, f"{name!r} is no option", f"use {', '.join(names)}")
        if isinstance(value, dict):
            raise ArgumentError("from", path, f"{name} is a table", "give plain values")
    return found


def options_wanted(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """The options every guarantee needs; one that is missing is an error."""
    for name in names:
        if given.get(name) is None:
            examples = {
                "scheme": f"--scheme with {SCHEMES_IN_WORDS}",
                "delta": "--delta 1e-5",
                "epsilon": "--epsilon 1",
            }
            raise ArgumentError(name, None, "not given", f"pass {examples[name]}")
    return {name: given[name] for name in (*names, "neighbouring", "orders", "effort") if given.get(name) is not None}


def _split(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The run in the paper's letters or in the libraries' names, whichever was used."""
    letters = {name: given[name] for name in RUN_OPTIONS if name in given}
    library = {name: given[name] for name in LIBRARY if name in given}
    if not library:
        return letters, {}
    for name in letters.keys() - set(COMMON):
        raise ArgumentError(
            name, letters[name], f"cannot be mixed with {next(iter(library))}", "use one way to describe the run"
        )
    if isinstance(letters.get("n"), str) and _INTEGER.fullmatch(letters["n"]):
        letters["n"] = int(letters["n"])
    return {}, library | letters


def _keywords(given: dict[str, Any], library: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `training_run`: the loss is put together from its name and its facts."""
    from ..accounting.losses import named_loss

    facts = {name: library.pop(name) for name in LOSS_FACTS if name in library}
    if "bias" in given:
        facts["bias"] = given["bias"]
    name, vouched = library.pop("loss", None), library.pop("vouched_lipschitz", None)
    if name == "vouched":
        raise ArgumentError("loss", name, "a constant you vouch for is no loss", "pass --vouched-lipschitz instead")
    if vouched is not None:
        if name is not None:
            raise ArgumentError("vouched_lipschitz", vouched, f"loss {name} is given too", "give one of the two")
        name, facts["lipschitz"] = "vouched", vouched
    for fact, value in facts.items():
        if name is None:
            raise ArgumentError(fact, value, "describes a loss, and none is given", "pass --loss logistic")
    if name is not None:
        library["loss"] = named_loss(name, **facts)
    library |= {name: given[name] for name in ("leftover", "per") if name in given}
    return library | _shown(given)


def run_described(given: dict[str, Any]) -> TrainingRun:
    from ..accounting import training_run

    letters, library = _split(given)
    if library:
        if "noise_multiplier" not in library:
            raise ArgumentError("noise_multiplier", None, "not given", "pass --noise-multiplier 1.1")
        return training_run(**_keywords(given, library))
    if "bias" in given:
        raise ArgumentError("bias", given["bias"], "describes a clipped loss, and none is given", "leave it out")
    return _in_letters(given, letters)


def _in_letters(given: dict[str, Any], letters: dict[str, Any]) -> TrainingRun:
    """A run of the paper's algorithm."""
    from ..accounting import TrainingRun, scheduled_run
    from ..setting import Setting

    lists = {name: letters.pop(name) for name in ("eta", "sigma", "b") if isinstance(letters.get(name), list)}
    told = {"leftover": given.get("leftover"), **_shown(given)}
    if lists:
        return scheduled_run(Setting(**letters), per=given.get("per"), **lists, **told)
    if "per" in given:
        raise ArgumentError("per", given["per"], "nothing is given per step or epoch", "leave it out")
    return TrainingRun(Setting(**letters), **told)


def _epsilon(arguments: argparse.Namespace) -> int:
    from ..accounting import epsilon

    given = options_given(arguments)
    wanted = options_wanted(given, "delta", "scheme")
    run = run_described(given)
    found = epsilon(run, **wanted, conversion=arguments.conversion, certify_minimum=arguments.certify_minimum)
    _print(arguments, found)
    if arguments.advise and not arguments.json:
        from ..accounting import advise

        print(f"  advice        {advise(run, **{key: value for key, value in wanted.items() if key != 'orders'})}")
    return 0


def _delta(arguments: argparse.Namespace) -> int:
    from ..accounting import delta

    given = options_given(arguments)
    _print(arguments, delta(run_described(given), **options_wanted(given, "epsilon", "scheme")))
    return 0


def _calibrate(arguments: argparse.Namespace) -> int:
    from ..accounting import calibrate

    given = options_given(arguments)
    wanted = options_wanted(given, "epsilon", "delta", "scheme")
    wanted["target_epsilon"] = wanted.pop("epsilon")
    letters, library = _split(given)
    solve_for = arguments.solve_for or ("sigma" if letters else "noise_multiplier")
    runs = [_in_letters(given, letters)] if letters else []
    found = calibrate(*runs, solve_for=solve_for, **wanted, **(_keywords(given, library) if library else {}))
    if arguments.json:
        fields = {
            found.solve_for: found.value if isinstance(found.value, int) else _written(found.value),
            "target_epsilon": found.target_epsilon,
            **as_json(found.guarantee),
            "monotone": found.monotone,
            "every": found.every,
        }
        print(json.dumps(fields, ensure_ascii=False))
        return 0
    value = found.value if isinstance(found.value, int) else _written(found.value)
    name = "weight_decay" if library and found.solve_for == "lam" else found.solve_for
    print(f"{name} = {value}{by_composition(found.guarantee)}")
    if found.every:
        print("every value up to this one, the largest admitted, meets the target")
    elif found.monotone:
        print("by the rules for directions, all bounds that were tried are monotone in it")
    else:
        print("not all bounds are known to be monotone in it: the best of the values scanned")
    report(found.guarantee)
    return 0


def _written(value: Fraction) -> float:
    """The double whose shortest decimal is exactly `value`; where there is none, the least double above it."""
    from ..arithmetic.doubles import double_above

    near = float(value)
    return near if Fraction(repr(near)) == value else double_above(value)


def _compare(arguments: argparse.Namespace) -> int:
    from ..accounting import compare

    given = options_given(arguments)
    wanted = options_wanted(given, "delta", "scheme")
    epochs = None
    if arguments.at is not None:
        parts = [part.strip() for part in arguments.at.split(",")]
        epochs = [int(part) if _INTEGER.fullmatch(part) else part for part in parts]
    if arguments.plot:
        from ..files import require_writable
        from ..plots.bounds_over_epochs import check_format

        check_format(arguments.plot)
        require_writable(arguments.plot)
    found = compare(run_described(given), **wanted, epochs=epochs)
    if arguments.plot:
        from ..files import write_atomically
        from ..plots.bounds_over_epochs import check_format, draw_bounds

        write_atomically(arguments.plot, draw_bounds(found, check_format(arguments.plot)))
    if arguments.json:
        fields = {
            "scheme": found.scheme,
            "neighbouring": found.neighbouring,
            "delta": found.delta,
            "epochs": found.epochs,
            "epsilon": {label: [json_number(value) for value in values] for label, values in found.curves},
            "crossovers": [
                {"K": each.K, "before": each.before, "after": each.after, "certified": each.certified}
                for each in found.crossovers
            ],
            "does_not_apply": dict(found.does_not_apply),
            "update": found.update,
            "assumed_by_you": found.assumed_by_you,
            "note": found.note,
            "helps": found.helps,
            "unfinished": found.unfinished,
        }
        print(json.dumps(fields, ensure_ascii=False))
        return 0
    _table(found)
    return 0


def _table(found: Comparison) -> None:
    kind = f"{found.scheme}, {found.neighbouring}; * smallest{by_composition(found)}"
    print(f"certified ε at δ = {found.delta!r}, {kind}")
    labels = [label for label, _ in found.curves]
    widths = [max(len(label), 11) for label in labels]
    print("  ".join([f"{'K':>8}", *(f"{label:>{width}}" for label, width in zip(labels, widths, strict=True))]))
    for row, K in enumerate(found.epochs):
        values = [values[row] for _, values in found.curves]
        least = min(value for value in values if value is not None)
        cells = ["-" if value is None else f"{'*' if value == least else ''}{rounded_up(value)}" for value in values]
        print("  ".join([f"{K:>8}", *(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))]))
    if found.unfinished:
        print(found.unfinished)
    for each in found.crossovers:
        status = "certified" if each.certified else "not certified"
        print(f"from K = {each.K} on {each.after} is smaller than {each.before} ({status})")
    if found.helps:
        print(f"what helps: {found.helps}")
    for assumption in found.assumed_by_you:
        print(f"assumed by you: {assumption}")
    reasons = dict.fromkeys(reason for _, reason in found.does_not_apply)
    for reason in reasons:
        named = ", ".join(label for label, each in found.does_not_apply if each == reason)
        print(f"{named}: {reason}")


def _print(arguments: argparse.Namespace, found: Guarantee) -> None:
    if arguments.json:
        print(json.dumps(as_json(found), ensure_ascii=False))
    else:
        report(found)
