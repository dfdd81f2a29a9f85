"""`Statement`: a theorem with a label, and its views.

What it claims (expression, hypotheses, whom it is about) is its theorem's; exact value, enclosure, NumPy array and
LaTeX are computed from that. Every view checks the hypotheses first and refuses a setting outside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar, get_args

from .errors import (
    ArgumentError,
    HsdpError,
    HypothesisError,
    MissingArgument,
    PrecisionExhausted,
    UnknownArgument,
)
from .index import PLACES, scheme_of
from .meaning import PROFILES, Asks, Neighbouring, Quantity, Released, Scheme, Terms
from .setting import Setting
from .setting.gate import Number, admit, to_fraction
from .setting.letters import ARGUMENTS, LETTERS
from .setting.parameters import PARAMETER_NAMES

if TYPE_CHECKING:
    import numpy as np
    from sympy import Expr, Symbol
    from sympy.core.relational import Relational

    from .evaluate.boxes import Box, Range
    from .evaluate.enclosure import Enclosure
    from .evaluate.program import Program
    from .functions.interface import BoundFunction
    from .proof.kernel import Theorem
    from .proof.propositions import Proposition
    from .proof.tree import Line
    from .setting.arrays import Array, Samples

Value = TypeVar("Value", "Fraction", "Fraction | Range", "Fraction | Samples")
STATEMENT_RTOL = "1e-20"
"""The relative width of an enclosure, unless the statement or the caller says otherwise."""
ON_A_GRID_TEXT = "1/20"
"""The relative width of a δ that is computed from distributions on a grid; the ε it belongs to is far narrower."""
ON_A_GRID = Fraction(1, 1000)
"""A relative width that values computed on a grid (by a dynamic programme) reach in reasonable time."""
_REMEMBERED = ("terms", "functions", "needs", "as_printed", "_program", "_profile", "_solvable", "_conditions")
"""What a statement computes once and keeps."""
_ARGUMENT_NAMES = frozenset(letter.name for letter in ARGUMENTS)


Kind = Literal["theorem", "lemma", "proposition", "corollary", "baseline", "equation", "law"]
_NAMING = ("equation", "baseline", "proposition")
"""Kinds of statements that may introduce a name for a bound."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Statement:
    """A bound or lemma of the paper: a theorem, with a label and how it is printed. What it claims is the theorem's.

    >>> from hsdp_symbolic import Setting, statement
    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> statement("thm:convexsmooth").exact(run, alpha=15, j0=24)
    Fraction(24, 125)
    """

    label: str
    title: str
    where: str
    """Where it is found in the paper, or where else it comes from."""
    says: str
    """What it says, in a sentence or two."""
    bounds: str
    """What is bounded, as LaTeX: the left side."""
    theorem: Theorem
    """What is claimed, and its proof, written when somebody looks at it."""
    shown: Expr
    """The value as the paper writes it: a display tree (`display`) that means `expr`."""
    hypotheses: tuple[Relational, ...]
    """What must hold between the letters, as it is printed: the theorem's own. Every view checks it."""
    first_epoch: tuple[Expr, Symbol] | None = None
    """What ε₀^j(α) means in `shown`, and the symbol it is written in, if it occurs there."""
    printed_with: Callable[[], Sequence[Theorem]] = tuple
    """Theorems that what `shown` divides by is not 0, and equalities by which functions or powers in it are read."""
    uses: tuple[str, ...] = ()
    """The labels of the statements its derivation rests on."""
    also: tuple[tuple[str, Expr], ...] = ()
    """Further equations it is printed with: left side as LaTeX, right side. Notation, unless a theorem `beside` it says
    the same: the value is computed from `expr` alone."""
    beside: tuple[Theorem, ...] = ()
    """Further theorems, one for each of the first equations in `also`, which gives its value as it is printed."""
    names: tuple[tuple[Expr, Expr], ...] = ()
    """Names of other bounds that `shown` is written with, each with what it stands for."""
    kind: Kind = "theorem"
    side: Literal["left", "right"] | None = None
    """For an inequality between numbers: the side that is the value."""
    names_it: bool = False
    """Whether the left side is a name for the bound, so that it is printed with "="."""
    bounded: Quantity | None = None
    """What an inequality between numbers bounds; other propositions say so themselves."""
    assumes: tuple[str, ...] = ()
    """What else is assumed, for the reader; nothing is decided by it."""
    rtol: str = STATEMENT_RTOL
    """The relative width of an enclosure if no other is asked for; wider for what is computed on a grid."""

    def __post_init__(self) -> None:
        from .proof.about import fits, mixture_in

        fits(self.label, self.theorem, self.hypotheses, self.side)
        if self.kind not in get_args(Kind):
            raise TypeError(f"{self.label}: {self.kind!r} is no kind of statement")
        if self.bounded is not None and self.side is None and self.bounded is not mixture_in(self.theorem.proposition):
            raise TypeError(f"{self.label}: its proposition says what it bounds")
        if self.names_it and (self.kind not in _NAMING or self.side):
            raise TypeError(f"{self.label}: a {self.kind} names no bound")

    def __init_subclass__(cls, **_: object) -> NoReturn:
        raise TypeError("Statement has no subclasses: what it claims is its theorem's")

    def __reduce__(self) -> tuple[Callable[[str], Statement], tuple[str]]:
        """A statement of the catalogue is stored, and copied, by its label; no other can be."""
        if self.label not in PLACES or listed(self.label) is not self:
            raise TypeError(f"{self.label} is not the catalogue's: store how to make it")
        return listed, (self.label,)

    @property
    def proposition(self) -> Proposition:
        """What the theorem says."""
        return self.theorem.proposition

    @property
    def expr(self) -> Expr:
        """The value, as it is computed: the theorem's."""
        found: Expr = getattr(self.proposition, self.side) if self.side else self.proposition.value
        return found

    @property
    def relation(self) -> Literal["<=", ">=", "="]:
        """Whether what is bounded is at most, at least or equal to the value."""
        if self.names_it:
            return "="
        if self.side:
            return "=" if self.proposition.relation == "=" else "<=" if self.side == "right" else ">="
        return self.proposition.relation  # type: ignore[return-value]

    @property
    def quantity(self) -> Quantity | None:
        """What is bounded."""
        return self.bounded or self.proposition.quantity

    @cached_property
    def terms(self) -> Terms | None:
        """On what terms it bounds a run; None for what bounds none."""
        from .proof.about import terms_of

        return terms_of(self.theorem)

    @cached_property
    def proof(self) -> Sequence[Line]:
        """The named theorems of its proof, each after what it rests on; the proof is written now."""
        from .proof.tree import outline

        return outline(self.theorem)

    def verify(self) -> int:
        """Prove it, every rule applied again, and that it is printed as meant: the number of rules, or `Refused`."""
        from .proof.about import fits, verified

        fits(self.label, self.theorem, self.hypotheses, self.side)
        self.require_unchanged()
        rules = sum(len(verified(self.label, each)) for each in (self.theorem, *self.beside))
        return rules + len(self.as_printed)

    def require_unchanged(self) -> None:
        """Compute again what is remembered of it; `Refused` where somebody changed that behind its back."""
        from .proof.about import printed_beside
        from .proof.kernel import Refused

        kept = {name: vars(self).pop(name) for name in _REMEMBERED if name in vars(self)}
        for name, value in kept.items():
            if getattr(self, name) != value:
                raise Refused(f"{self.label}: {name.strip('_')} was changed after the statement was made")
        printed_beside(self.label, self.also, self.beside)

    @cached_property
    def as_printed(self) -> tuple[Theorem, ...]:
        """That the display tree means the value, case by case."""
        from .proof.about import printed

        return printed(self.expr, self.shown, self.first_epoch, self.printed_with)

    def __repr__(self) -> str:
        return f"<Statement {self.label}: {self.title}>"

    def within_reach(self, rtol: Fraction) -> Fraction:
        """The width to ask an enclosure for if `rtol` is wanted: wider where the value is computed on a grid."""
        return rtol if self.rtol == STATEMENT_RTOL else max(rtol, ON_A_GRID)

    @property
    def scheme(self) -> Scheme:
        """How the batches of the algorithm it bounds are made; empty for a lemma, which bounds no algorithm."""
        from .proof.about import scheme_in

        return scheme_in(self.proposition) or scheme_of(self.label)

    @property
    def neighbouring(self) -> Neighbouring | None:
        """Which datasets are compared."""
        return self.terms.neighbouring if self.terms else None

    @property
    def released(self) -> Released | None:
        """Which iterates may be seen."""
        return self.terms.released if self.terms else None

    @property
    def asks(self) -> Asks | None:
        """What it asks of the update."""
        return self.terms.asks if self.terms else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Everything assumed that is not a relation between letters, in words."""
        return (*(self.terms.words if self.terms else ()), *self.assumes)

    @cached_property
    def functions(self) -> frozenset[BoundFunction]:
        """The functions in its expression that are more than arithmetic."""
        from .functions.interface import functions_in

        return frozenset(functions_in(self.expr))

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The letters a value depends on or a hypothesis mentions, in the paper's order."""
        conditions = [each for alternatives in self._conditions for each in alternatives]
        programs = [self._program, *(side for _, *sides in conditions for side in sides)]
        used = set[str]().union(*(program.leaves for program in programs))
        return tuple(name for name in LETTERS if ("sigma2" if name == "sigma" else name) in used)

    def exact(self, setting: Setting, /, **arguments: object) -> Fraction:
        """The exact rational value; an error where it is irrational or has too many digits to write down."""
        from .evaluate.enclosure import exact

        return exact(self._program, self._admit(setting, arguments))

    def enclose(
        self,
        setting: Setting,
        /,
        *,
        rtol: Number | None = None,
        atol: Fraction = Fraction(0),
        engine: str = "arb",
        **arguments: object,
    ) -> Enclosure:
        """An interval with exact endpoints that contains the true value.

        Its relative width is at most `rtol`, or its width at most `atol`. Without `rtol` the statement's own is used:
        1e-20, unless its value is computed on a grid.

        A pair stands for a range: `enclose(run, eta=("0.01", "0.03"), alpha=15)` contains the values for every η from
        0.01 to 0.03, and little more (`rtol` does not apply). The hypotheses must hold on the whole range.
        """
        return self.enclose_at(setting, arguments, rtol=rtol, atol=atol, engine=engine)

    def enclose_at(
        self,
        setting: Setting,
        arguments: Mapping[str, object],
        *,
        rtol: Number | None = None,
        atol: Fraction = Fraction(0),
        engine: str = "arb",
    ) -> Enclosure:
        """`enclose`, with the letters in a mapping."""
        from .evaluate.enclosure import enclose

        if any(isinstance(value, (tuple, list)) for value in arguments.values()):
            from .evaluate.boxes import range_of, ranged

            box = self.box(setting, **arguments)
            if ranged(box):
                return range_of(self.expr, box, engine)
            arguments = {
                name: value[0] if isinstance(value, (tuple, list)) else value for name, value in arguments.items()
            }
        rtol = self.rtol if rtol is None else rtol
        return enclose(self._program, self._admit(setting, arguments), rtol=rtol, atol=atol, engine=engine)

    def box(self, setting: Setting, /, **arguments: object) -> Box:
        """The exact values and ranges this statement is asked for, with its hypotheses checked on all of them."""
        from .evaluate.boxes import admit_range, ends_of
        from .evaluate.enclosure import certainly

        values = self._gather(setting, arguments, admit_range)
        for alternatives in self._conditions:
            pairs = [(h, ends_of(h.lhs, values), ends_of(h.rhs, values)) for h, _, _ in alternatives]
            if not any(certainly(h.rel_op, left, right) for h, left, right in pairs):
                self._refuse([(h, left.simplest(), right.simplest()) for h, left, right in pairs])
        return values

    def upper(
        self, setting: Setting, /, *, rtol: Number | None = None, engine: str = "arb", **arguments: object
    ) -> float:
        """A double that is never below the true value."""
        return self.enclose_at(setting, arguments, rtol=rtol, engine=engine).upper()

    def lower(
        self, setting: Setting, /, *, rtol: Number | None = None, engine: str = "arb", **arguments: object
    ) -> float:
        """A double that is never above the true value."""
        return self.enclose_at(setting, arguments, rtol=rtol, engine=engine).lower()

    def numeric(self, setting: Setting, /, **arguments: object) -> Array | np.float64:
        """A float64 value, within 1e-13 of the truth but not certified; arrays broadcast.

        Any letter may be an array, a list or a range. Shapes broadcast as in NumPy; 1-D arrays of different
        lengths span a grid, in the order given: `numeric(run, alpha=[10, 15], K=range(1, 41))` has shape (2, 40).
        """
        from .evaluate.numeric import evaluate_over

        found: Array | np.float64 = evaluate_over(self._program, self._admit_arrays(setting, arguments))[()]
        return found

    @property
    def is_profile(self) -> bool:
        """Whether it gives δ for every ε of a run by itself, without an order to be chosen."""
        from .proof.about import descent_of

        return self.quantity in PROFILES and descent_of(self.proposition) is not None

    def delta(
        self,
        setting: Setting,
        epsilon: object,
        /,
        *,
        rtol: Number | None = None,
        engine: str = "arb",
        **arguments: object,
    ) -> Enclosure:
        """δ at ε = `epsilon`, for a statement about a whole profile: an interval that contains the bound's value.

        >>> from hsdp_symbolic import Setting, statement
        >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        >>> statement("gdp:cyclic").delta(run, "0.358", j0=24).upper() < 1.01e-5
        True
        """
        from .evaluate.enclosure import enclose

        at = admit("epsilon", epsilon)
        arguments = {**arguments, **self.choices(setting, arguments, epsilon=at), "epsilon": at}
        values = self._admit(setting, arguments)
        try:
            return enclose(self._profile, values, rtol=self.rtol if rtol is None else rtol, engine=engine)
        except PrecisionExhausted:
            if rtol is not None:
                raise
            return enclose(self._profile, values, rtol=2, engine=engine)  # so small that only its upper end is known

    def epsilon(
        self,
        setting: Setting,
        delta: object,
        /,
        *,
        rtol: Number | None = None,
        engine: str = "arb",
        **arguments: object,
    ) -> Enclosure:
        """The least ε with δ(ε) ≤ `delta`, for a statement about a whole profile: an interval that contains it.

        >>> from hsdp_symbolic import Setting, statement
        >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        >>> print(statement("gdp:cyclic").epsilon(run, "1e-5", j0=24).decimals(7)[1])
        0.3580185
        """
        from .evaluate.enclosure import agreed, enclose
        from .evaluate.inversion import DEFAULT_RTOL, least_epsilon

        if engine == "both":
            return agreed(
                self.epsilon(setting, delta, rtol=rtol, engine=name, **arguments) for name in ("arb", "mpmath")
            )
        target = admit("delta", delta)
        arguments = {**arguments, **self.choices(setting, arguments, delta=target)}
        values = self._admit(setting, {**arguments, "epsilon": 0})
        if self._solvable is not None:
            return self._solved(values, target, ON_A_GRID if rtol is None else to_fraction("rtol", rtol), engine)

        def profile(at: Fraction) -> Enclosure:
            return enclose(self._profile, {**values, "epsilon": at}, rtol=self._finest(rtol), engine=engine)

        width = DEFAULT_RTOL if rtol is None else to_fraction("rtol", rtol)
        off = Fraction(0) if self.rtol == STATEMENT_RTOL else ON_A_GRID
        return least_epsilon(profile, target, width, self._roughly(values, target), off)

    def added(self, setting: Setting, **arguments: object) -> Enclosure | None:
        """Of a profile: the part of δ that is there whatever ε is; None if there is none."""
        from .evaluate.enclosure import enclose
        from .evaluate.program import compile_expression

        if self._solvable is None or not self._solvable[1]:
            return None
        values = self._admit(setting, {**arguments, "epsilon": 0})
        return enclose(
            compile_expression(self._solvable[1]), values, rtol=Fraction(1, 10**6), atol=Fraction(1, 10**300)
        )

    @cached_property
    def _solvable(self) -> tuple[BoundFunction, Expr] | None:
        """A function in it that solves for ε by itself, and what is added to that, if that is all there is."""
        from .symbols import epsilon

        found = [node for node in self.functions if node.solves and node.args[-1] == epsilon]
        if len(found) != 1 or (rest := self.expr - found[0]).has(epsilon):
            return None
        return found[0], rest

    def _solved(self, values: Mapping[str, Fraction], delta: Fraction, rtol: Fraction, engine: str) -> Enclosure:
        """ε from a function that solves for it: at δ less what is added to it."""
        from .evaluate.enclosure import Enclosure, enclose, exact
        from .evaluate.program import compile_expression

        assert self._solvable is not None
        node, rest = self._solvable
        least = Fraction(1, 2**20) * delta
        added = enclose(compile_expression(rest), values, rtol=Fraction(1, 10**6), atol=least, engine=engine)
        if added.hi >= delta:
            raise ArgumentError(
                "delta",
                float(delta),
                f"{self.label} adds {float(added.hi):.3g} to δ whatever ε is",
                "give a larger delta, or change what that depends on",
            )
        numbers = [exact(compile_expression(part), values) for part in node.args[:-1]]
        ends = [node.solved(engine, delta - more, rtol, *numbers) for more in dict.fromkeys((added.lo, added.hi))]
        return Enclosure(ends[0][0], ends[-1][1])

    def _roughly(self, values: Mapping[str, Fraction], delta: Fraction) -> float | None:
        """Where the profile passes δ, in doubles; None if they do not tell."""
        import numpy as np

        from .evaluate.inversion import roughly
        from .evaluate.numeric import evaluate_raw
        from .setting.arrays import Samples

        if not float(delta):
            return None

        def profile(epsilon: float) -> float:
            at = Samples(np.array([epsilon]), epsilon, epsilon)
            with np.errstate(all="ignore"):
                return float(evaluate_raw(self._profile, {**values, "epsilon": at})[0])

        try:
            return roughly(profile, float(delta))
        except HsdpError:
            return None

    def _finest(self, rtol: Number | None) -> Number:
        """How narrow δ must be for an ε that is `rtol` narrow; what is computed on a grid is as narrow as it is."""
        if self.rtol != STATEMENT_RTOL:
            return self.rtol
        return STATEMENT_RTOL if rtol is None else to_fraction("rtol", rtol) / 10**6

    def mu(
        self, setting: Setting, /, *, rtol: Number | None = None, engine: str = "arb", **arguments: object
    ) -> Enclosure:
        """μ of Gaussian differential privacy: what is released is as hard to tell apart as N(0, 1) and N(μ, 1).

        >>> from hsdp_symbolic import Setting, statement
        >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        >>> print(statement("gdp:gd").mu(run).decimals(5)[1])
        0.024644
        """
        from .evaluate.enclosure import root

        if self.quantity is not Quantity.GAUSSIAN:
            about = self.quantity.words if self.quantity else "no run"
            problem = f"{self.label} bounds {about}, which is no μ"
            raise UnknownArgument("statement", self.label, problem, "use a gdp: statement")
        return root(self.enclose_at(setting, arguments, rtol=rtol, engine=engine))

    def choices(
        self,
        setting: Setting,
        arguments: Mapping[str, object],
        *,
        delta: Fraction | None = None,
        epsilon: Fraction | None = None,
    ) -> dict[str, Fraction]:
        """Letters that may be chosen freely and were not: good values, for a δ or an ε in mind; all are valid."""
        from .evaluate.enclosure import exact
        from .evaluate.program import compile_expression

        found: dict[str, Fraction] = {}
        for node in self.functions:
            letters = {place: str(node.args[place]) for place in node.free_at}
            if not letters or all(name in arguments or name in found for name in letters.values()):
                continue
            stand_in = {name: 1 for name in letters.values() if name not in arguments}
            values = self._gather(setting, {**arguments, **stand_in, "epsilon": 0}, admit)
            known = {
                place: exact(compile_expression(part), values)
                for place, part in enumerate(node.args)
                if place not in node.free_at and "epsilon" not in map(str, part.free_symbols)
            }
            chosen = node.choose(known, delta=delta, epsilon=epsilon)
            found |= {letters[place]: value for place, value in chosen.items() if letters[place] not in arguments}
        return found

    @cached_property
    def _profile(self) -> Program:
        """δ as a function of ε, compiled."""
        from .evaluate.program import compile_expression
        from .functions.gaussian_profile import GaussianProfile
        from .symbols import epsilon

        if not self.is_profile:
            raise UnknownArgument(
                "label",
                self.label,
                "it bounds no profile of a run",
                "use a statement whose label begins with gdp: or profile:",
            )
        return (
            self._program
            if self.quantity is Quantity.DELTA
            else compile_expression(GaussianProfile(self.expr, epsilon))
        )

    def latex(self) -> str:
        """The statement in the paper's notation and order."""
        from .tex import statement_latex

        return statement_latex(self)

    def _repr_markdown_(self) -> str:
        """What a notebook shows for a statement: its hypotheses and its formula."""
        from .tex.views import display, hypotheses, render

        return render([*hypotheses(self), display(self)], "markdown")

    def point(self, setting: Setting, /, **arguments: object) -> dict[str, Fraction]:
        """The exact value of every letter given (the noise as `sigma2`), with the hypotheses checked."""
        return self._admit(setting, arguments)

    @cached_property
    def _program(self) -> Program:
        from .evaluate.program import compile_expression

        return compile_expression(self.expr)

    @cached_property
    def _conditions(self) -> list[list[tuple[Relational, Program, Program]]]:
        """The hypotheses, compiled; each is a list of alternatives, one of which must hold."""
        from sympy import Or

        from .evaluate.program import compile_expression

        return [
            [(h, compile_expression(h.lhs), compile_expression(h.rhs)) for h in alternatives]
            for alternatives in (h.args if isinstance(h, Or) else (h,) for h in self.hypotheses)
            if not any(map(_implied_by_gate, alternatives))
        ]

    def _gather(
        self, setting: Setting, arguments: Mapping[str, object], gate: Callable[[str, object], Value]
    ) -> dict[str, Value]:
        """The value of every letter this statement needs, from the setting and the call, each through `gate`."""
        if not isinstance(setting, Setting):
            raise UnknownArgument(
                "setting", setting, f"a {type(setting).__name__} is not a Setting", "pass Setting(n=…)"
            )
        for name in sorted(arguments.keys() - PARAMETER_NAMES - _ARGUMENT_NAMES):
            raise UnknownArgument(
                name, arguments[name], "no such argument", f"{self.label} takes {', '.join(self.needs)}"
            )
        gated = {name: gate(name, value) for name, value in arguments.items()}
        changes = {
            name: value for name, value in gated.items() if name in PARAMETER_NAMES and isinstance(value, Fraction)
        }
        values: dict[str, Value] = dict((setting.replace(**changes) if changes else setting).values())
        for name in gated.keys() - changes.keys():
            values.pop(name, None)
        values.update((name, value) for name, value in gated.items() if name not in changes)  # in the call's order
        if "sigma" in gated and "sigma_squared" in gated:
            raise UnknownArgument(
                "sigma_squared", arguments["sigma_squared"], "sigma is given too", "give one of the two"
            )
        if "sigma" in values:
            values["sigma2"] = values.pop("sigma") ** 2
        if "sigma_squared" in values:
            values["sigma2"] = values.pop("sigma_squared")
        if "T" in self.needs and "T" not in values:
            values |= _whole_epochs(values)
        for name in self.needs:
            if ("sigma2" if name == "sigma" else name) not in values:
                raise MissingArgument(self.label, name, LETTERS[name].meaning)
        return values

    def _admit(self, setting: Setting, arguments: Mapping[str, object]) -> dict[str, Fraction]:
        """Exact values for every letter, with the hypotheses checked exactly."""
        from .evaluate.enclosure import certainly, value_of

        values = self._gather(setting, arguments, admit)
        for alternatives in self._conditions:
            pairs = [(h, value_of(left, values), value_of(right, values)) for h, left, right in alternatives]
            if not any(certainly(h.rel_op, left, right) for h, left, right in pairs):
                self._refuse([(h, left.simplest(), right.simplest()) for h, left, right in pairs])
        return values

    def _admit_arrays(self, setting: Setting, arguments: Mapping[str, object]) -> dict[str, Fraction | Samples]:
        """Exact scalars and float64 arrays; a hypothesis is checked exactly unless it involves an array."""
        from .evaluate.numeric import first_violation
        from .setting.arrays import admit_array, align

        values = align(self._gather(setting, arguments, admit_array))
        for alternatives in self._conditions:
            violations = []
            for hypothesis, left, right in alternatives:
                found = first_violation(hypothesis.rel_op, left, right, values)
                if found is None:
                    break
                violations.append((hypothesis, *found))
            else:
                self._refuse(violations)
        return values

    def _refuse(self, pairs: list[tuple[Relational, object, object]]) -> NoReturn:
        """Raise, as no alternative of a hypothesis holds: say what was assumed, what was given and what would do."""
        assumed, remedies = [], []
        for hypothesis, _, right in pairs:
            sign = hypothesis.rel_op
            bound = f"{right}" if hypothesis.rhs.is_number else f"{hypothesis.rhs} = {right}"
            assumed.append(f"{hypothesis.lhs} {sign} {hypothesis.rhs}")
            remedies.append(f"{hypothesis.lhs} {sign} {bound}")
        argument, value = str(pairs[0][0].lhs), pairs[0][1]
        raise HypothesisError(self.label, " or ".join(assumed), argument, value, f"choose {' or '.join(remedies)}")


def listed(label: str) -> Statement:
    """The statement that the index lists under a label, made by the module it names."""
    module, function = PLACES[label][1].split(":")
    found: Statement = getattr(import_module(f".{module}", __package__), function)()
    return found


def _whole_epochs(values: Mapping[str, Value]) -> dict[str, Value]:
    """The number of steps of K whole epochs, if n, b and K are given, each as one number."""
    given = [values.get(name) for name in ("n", "b", "K")]
    if not all(isinstance(each, Fraction) for each in given):
        return {}
    records, size, epochs = given
    return {"T": epochs * (records // size)}  # type: ignore[operator, dict-item]


def _implied_by_gate(hypothesis: Relational) -> bool:
    """Whether the range of a single letter, which the gate has checked, is all a hypothesis says (λ > 0, K ≥ 1)."""
    letter = LETTERS.get(str(hypothesis.lhs))
    sign = ">" if letter and letter.strict else ">="
    return letter is not None and hypothesis.rel_op == sign and bool(hypothesis.rhs == letter.low)
