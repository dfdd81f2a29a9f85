"""`advise`: what one change to a run would cost or save, each change accounted for in full.

A change is a line in `CHANGES`: its kind, and a function from the run and its scheme to the changed ones, in words. A
function refuses a change that makes no sense for the run by `ArgumentError`; what `epsilon` refuses is listed with its
reason too. What a change does to accuracy is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from ..errors import ArgumentError, HsdpError
from ..meaning import SCHEMES, Neighbouring, Scheme
from ..progress import Ticker
from ..setting import Setting
from .candidates import check_neighbouring, check_scheme
from .guarantee import Guarantee, epsilon
from .losses import inside
from .run import Leftover, TrainingRun, as_run
from .update import WHAT_HELPS, Clipped, Unclipped


class Kind(StrEnum):
    """What a change is about."""

    NONE = "as it is"
    BATCHES = "batches"
    REGULARISER = "regulariser"
    CLIP_NORM = "clip norm"
    EPOCHS = "epochs"
    BATCH_SIZE = "batch size"


@dataclass(frozen=True)
class Changed:
    """A run that differs in one thing, and how it differs; `asked` if another relation than the caller's is meant."""

    run: TrainingRun
    scheme: Scheme
    words: str
    neighbouring: Neighbouring | None = None


Make = Callable[[TrainingRun, Scheme], Changed]


@dataclass(frozen=True)
class Change:
    """One thing to change. `made` raises `ArgumentError` where it makes no sense for a run."""

    kind: Kind
    made: Make
    words: str
    """What it is, where it cannot be made."""


@dataclass(frozen=True)
class Row:
    """What a change costs: the whole guarantee of the changed run, or why there is none."""

    kind: Kind
    words: str
    neighbouring: Neighbouring
    guarantee: Guarantee | None
    why_not: str = ""

    @property
    def state(self) -> str:
        """Whether the guarantee needs that only the last iterate is seen."""
        if self.guarantee is None:
            return ""
        return "hidden state" if self.guarantee.hidden_state else "composition"


@dataclass(frozen=True)
class Advice:
    """The run as it is, what each change would cost under the same neighbouring relation, the cheapest first.

    `others` are for another relation, and not to be compared with the rest; `refused` cannot be accounted for. `best`
    is the cheapest change, None if none is cheaper than the run as it is. Where composition is all there is, `note`
    says why and `helps` what would have to be true.
    """

    asked: Row
    rows: tuple[Row, ...]
    others: tuple[Row, ...]
    refused: tuple[Row, ...]
    note: str
    helps: str

    @property
    def best(self) -> Row | None:
        cheaper = self.rows and _cost(self.rows[0]) < _cost(self.asked)
        return self.rows[0] if cheaper else None

    @property
    def best_batches(self) -> Row | None:
        """The cheapest among other ways of making batches of the same size, if it is cheaper: free of other effects."""
        found = next((row for row in self.rows if row.kind is Kind.BATCHES), None)
        return found if found is not None and _cost(found) < _cost(self.asked) else None

    @property
    def hidden_state(self) -> bool:
        """Whether hiding the iterates helps the run as it is, or as changed in one thing."""
        return any(row.guarantee is not None and row.guarantee.hidden_state for row in (self.asked, *self.rows))

    def __str__(self) -> str:
        """In one or two sentences."""
        found, sampler = self.best, self.best_batches
        words = "no single change that was tried costs less"
        if found is not None:
            instead = f"epsilon = {_cost(found):.4g} instead of {_cost(self.asked):.4g}"
            words = f"the one change that helps most: {found.words}: {instead} ({found.state})"
        if sampler is not None and sampler is not found:
            words = f"{words}; of other ways of making batches: {sampler.words}, {_cost(sampler):.4g} ({sampler.state})"
        if self.hidden_state:
            return words
        return f"{words}. Hidden state helps with none of them; composition only: {self.note}"


def advise(
    run: Setting | TrainingRun,
    /,
    *,
    delta: object,
    scheme: str,
    neighbouring: str | None = None,
    effort: str = "normal",
) -> Advice:
    """What this run costs with one thing changed: sampler, regulariser, clip norm, number of epochs, batch size.

    >>> from hsdp_symbolic import Setting
    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> found = advise(run, delta="1e-5", scheme="fixed", effort="quick")
    >>> found.best.words, found.best.state
    ('full batches, same sigma and epochs', 'hidden state')
    """
    told, chosen = as_run(run), check_scheme(scheme)
    relation = check_neighbouring(chosen, neighbouring)
    ticker = Ticker()

    def certified(changed: Changed, kind: Kind) -> Row:
        ticker.say(f"{kind}: {changed.words}")
        relation_here = _relation(changed, relation)
        try:
            found = epsilon(changed.run, delta=delta, scheme=changed.scheme, neighbouring=relation_here, effort=effort)
        except HsdpError as error:
            return Row(kind, changed.words, relation_here, None, _reason(error))
        return Row(kind, changed.words, relation_here, found)

    now = epsilon(told, delta=delta, scheme=chosen, neighbouring=relation, effort=effort)  # an error is the caller's
    rows = []
    for change in CHANGES:
        try:
            changed = change.made(told, chosen)
        except ArgumentError as error:
            rows.append(Row(change.kind, change.words, relation, None, f"{error.problem}"))
            continue
        if (changed.run, changed.scheme) != (told, chosen) or _relation(changed, relation) is not relation:
            rows.append(certified(changed, change.kind))
    ticker.clear()
    held = sorted((row for row in rows if row.guarantee is not None), key=_cost)
    return Advice(
        Row(Kind.NONE, f"{_IN_WORDS[chosen]}", relation, now),
        tuple(row for row in held if row.neighbouring is relation),
        tuple(row for row in held if row.neighbouring is not relation),
        tuple(row for row in rows if row.guarantee is None),
        now.note,
        now.helps or _what_helps(told),
    )


def _reason(error: HsdpError) -> str:
    """Why a changed run is refused; its description, which the reader has, is left out."""
    return f"{error.problem}; {error.remedy}" if isinstance(error, ArgumentError) else str(error)


def _relation(changed: Changed, asked: Neighbouring) -> Neighbouring:
    """The relation a changed run is accounted for under: a record replaced may be one whose label alone differs.

    Where no record can be replaced, as under balls in bins, a gradient left out is that of a record that is not there.
    """
    if changed.neighbouring is None:
        return asked
    known = changed.scheme.neighbours
    narrower = asked in (Neighbouring.LABEL_ONLY, Neighbouring.ZERO_OUT) and asked in known
    usual = changed.neighbouring is Neighbouring.REPLACE_ONE or Neighbouring.REPLACE_ONE not in known
    return asked if narrower and usual else changed.neighbouring


def _what_helps(run: TrainingRun) -> str:
    """What would have to be true of a clipped update, where no loss or optimiser is known that contracts."""
    unknown = isinstance(run.update, Clipped) and run.update.because
    return f"take plain gradient steps (optimizer 'sgd'), and {WHAT_HELPS}" if unknown else ""


def _cost(row: Row) -> float:
    assert row.guarantee is not None
    return row.guarantee.epsilon


# --- What can be changed --------------------------------------------------------------------------------------------

_IN_WORDS = {
    Scheme.FIXED: "a fixed order",
    Scheme.SHUFFLE: "shuffled once",
    Scheme.RESHUFFLE: "reshuffled every epoch",
    Scheme.WITHOUT_REPLACEMENT: "drawn without replacement at every step",
    Scheme.FULL_BATCH: "full batches",
    Scheme.POISSON: "Poisson sampling",
    Scheme.BALLS_IN_BINS: "every record in a batch of its own choice each epoch (balls in bins)",
}


def _sampler(scheme: Scheme, relation: Neighbouring = Neighbouring.REPLACE_ONE) -> Change:
    """The same run, its batches made another way; every other option stays."""

    def made(run: TrainingRun, _: Scheme) -> Changed:
        changed = replace(run, leftover=None, accumulated=1) if scheme.draws_afresh else run
        return Changed(changed, scheme, _IN_WORDS[scheme], relation)

    return Change(Kind.BATCHES, made, _IN_WORDS[scheme])


def _require_like_steps(run: TrainingRun, name: str) -> None:
    """Refuse a schedule, which was made for its length and its batches."""
    if run.schedule is not None:
        raise ArgumentError(
            name, None, "the schedule says how long training is, and how large its batches", "give another schedule"
        )


def _full_batch(run: TrainingRun, scheme: Scheme) -> Changed:
    _require_like_steps(run, "batch_size")
    changed = run if isinstance(run.update, Unclipped) else _resized(run, int(run.setting["n"]))
    words = f"{_IN_WORDS[Scheme.FULL_BATCH]}, {_same_noise(run)} and epochs"
    return Changed(replace(changed, leftover=None), Scheme.FULL_BATCH, words, Neighbouring.REPLACE_ONE)


def _same_noise(run: TrainingRun) -> str:
    return "same sigma" if isinstance(run.update, Unclipped) else "same noise multiplier"


def _resized(run: TrainingRun, size: int) -> TrainingRun:
    """Another batch size, and as many epochs; for clipped gradients, with the same noise multiplier."""
    if run.schedule is not None:
        raise ArgumentError("schedule", str(run.schedule), "steps differ, and so may their batches", "leave it")
    setting = run.setting
    old = setting["b"]
    if run.only_rate:
        raise ArgumentError("sample_rate", float(old / setting["n"]), "n is not given", "give n and batch_size")
    changes: dict[str, Fraction | int] = {"b": size}
    if not isinstance(run.update, Unclipped):
        changes["sigma_squared"] = setting["sigma2"] * (old / size) ** 2
    steps = None if run.steps is None else max(1, -(-run.steps * int(old) // size))
    divisor = size if run.divisor == old else run.divisor
    return replace(run, setting=setting.replace(**changes), steps=steps, divisor=divisor, accumulated=1)


def _batch_size(factor: Fraction) -> Change:
    words = f"batches {'twice' if factor > 1 else 'half'} as large"

    def made(run: TrainingRun, scheme: Scheme) -> Changed:
        _require_like_steps(run, "batch_size")
        if scheme is Scheme.FULL_BATCH:
            raise ArgumentError("batch_size", int(run.setting["n"]), "a full batch has one size", "leave it")
        if "b" not in run.setting:
            raise ArgumentError("batch_size", None, "batches differ in size", "leave it")
        size = run.setting["b"] * factor
        if size.denominator != 1 or size > run.setting["n"]:
            raise ArgumentError("batch_size", str(size), f"no batch can hold {size} records", "leave it")
        changed = _resized(run, int(size))
        words = f"batches of {int(size)}, {_same_noise(run)} and epochs"
        if changed.has_leftover() and changed.leftover is None and scheme.goes_through_epochs:
            changed, words = replace(changed, leftover=Leftover.DROPPED), f"{words}, what is left over dropped"
        return Changed(changed, scheme, words)

    return Change(Kind.BATCH_SIZE, made, words)


def _epochs(factor: Fraction) -> Change:
    words = f"{'twice' if factor > 1 else 'half'} as many epochs"

    def made(run: TrainingRun, scheme: Scheme) -> Changed:
        _require_like_steps(run, "epochs")
        length = run.setting["K"] if run.steps is None else Fraction(run.steps)
        longer = length * factor
        if longer.denominator != 1:
            longer = Fraction(longer.__ceil__())
        if longer == length:
            raise ArgumentError("epochs", int(length), "one epoch is the least", "leave it")
        unit = "epochs" if run.steps is None else "steps"
        changed = run.with_epochs(int(longer)) if run.steps is None else replace(run, steps=int(longer))
        return Changed(changed, scheme, f"{int(longer)} {unit}")

    return Change(Kind.EPOCHS, made, words)


def _clip_norm(factor: Fraction) -> Change:
    words = f"{'twice' if factor > 1 else 'half'} the clip norm"

    def made(run: TrainingRun, scheme: Scheme) -> Changed:
        if isinstance(run.update, Unclipped):
            raise ArgumentError("max_grad_norm", None, "gradients are not clipped", "leave it")
        setting = run.setting.replace(S_g=run.setting["S_g"] * factor)
        clip = float(setting["S_g"] / 2)
        return Changed(
            replace(run, setting=setting), scheme, f"clip norm {clip:g}, same standard deviation of the noise"
        )

    return Change(Kind.CLIP_NORM, made, words)


def _weight_decay(factor: Fraction) -> Change:
    """λ twice or half as large; where there is none, one with which an epoch forgets about as much as it learns."""
    words = f"a regulariser {'twice' if factor > 1 else 'half'} as strong, outside the clip"

    def made(run: TrainingRun, scheme: Scheme) -> Changed:
        setting = run.typical
        if isinstance(run.update, Clipped):
            raise ArgumentError("weight_decay", None, run.footing().lacks, "say which loss is clipped")
        if "lam" in setting:
            decay = setting["lam"] * factor
        elif "eta" not in setting or "b" not in setting:
            raise ArgumentError(
                "learning_rate", None, "a decay is tried for one learning rate and batch size", "give it"
            )
        else:
            steps = setting["n"] // setting["b"] if scheme is not Scheme.FULL_BATCH else Fraction(10)
            decay = Fraction(f"{float(factor / (2 * setting['eta'] * steps)):.1g}")
        name = "lam" if isinstance(run.update, Unclipped) else "weight_decay"
        if isinstance(run.update, Unclipped) and "beta" in setting and decay > setting["beta"]:
            raise ArgumentError("lam", float(decay), "a loss is at least as smooth as it is convex", "leave it")
        changed = replace(run, setting=run.setting.replace(lam=decay))
        return Changed(changed, scheme, f"{name} = {float(decay):g}{_outside(run)}")

    return Change(Kind.REGULARISER, made, words)


def _outside(run: TrainingRun) -> str:
    return "" if isinstance(run.update, Unclipped) else ", added after clipping"


def _without_regulariser(run: TrainingRun, scheme: Scheme) -> Changed:
    if "lam" not in run.setting:
        raise ArgumentError("lam", None, "there is none as it is", "leave it")
    return Changed(replace(run, setting=run.setting.replace(lam=None)), scheme, "no regulariser")


def _inside(run: TrainingRun, scheme: Scheme) -> Changed:
    if isinstance(run.update, Unclipped):
        raise ArgumentError("max_grad_norm", None, "gradients are not clipped", "leave it")
    if "lam" not in run.setting:
        raise ArgumentError("weight_decay", None, "there is none as it is", "leave it")
    within = inside(run.update, run.setting["lam"])
    changed = replace(run, setting=run.setting.replace(lam=None), update=within)
    return Changed(changed, scheme, "the regulariser inside the clip, a part of the loss")


_HALF, _TWICE = Fraction(1, 2), Fraction(2)
CHANGES = (
    *(_sampler(scheme) for scheme in SCHEMES if scheme not in (Scheme.FULL_BATCH, Scheme.BALLS_IN_BINS)),
    *(_sampler(scheme, Neighbouring.ADD_REMOVE) for scheme in (Scheme.POISSON, Scheme.BALLS_IN_BINS)),
    *map(_weight_decay, (_HALF, _TWICE)),
    Change(Kind.REGULARISER, _inside, "the regulariser inside the clip"),
    Change(Kind.REGULARISER, _without_regulariser, "no regulariser"),
    *map(_clip_norm, (_HALF, _TWICE)),
    *map(_epochs, (_HALF, _TWICE)),
    *map(_batch_size, (_HALF, _TWICE)),
    Change(Kind.BATCH_SIZE, _full_batch, "full batches"),
)
"""Everything that is tried; one more thing to change is one more line."""
