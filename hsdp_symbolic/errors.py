"""The errors of this package, one family: each message says what is wrong, with which value, and the remedy."""

from __future__ import annotations

from fractions import Fraction


class HsdpError(Exception):
    """Base of every error this package raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the finished message and the attributes, since the constructors take other arguments than these."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[HsdpError], args: tuple[object, ...], attributes: dict[str, object]) -> HsdpError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


def quote(value: object) -> str:
    """A short, printable rendering of a rejected value."""
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # an integer past Python's digit limit
        return "<an integer of thousands of digits>"
    return text if len(text) <= 60 else text[:57] + "..."


class ArgumentError(HsdpError, ValueError):
    """An argument has a value that the call cannot work with."""

    def __init__(self, argument: str, value: object, problem: str, remedy: str) -> None:
        self.argument, self.value, self.problem, self.remedy = argument, value, problem, remedy
        super().__init__(f"{argument} = {quote(value)}: {problem}; {remedy}")


class MissingArgument(ArgumentError):
    """A statement needs a parameter that neither the setting nor the call gives."""

    def __init__(self, label: str, argument: str, meaning: str) -> None:
        super().__init__(argument, None, f"{label} needs it ({meaning})", f"pass {argument}=…")


class UnknownArgument(ArgumentError):
    """A keyword that is neither a parameter of the setting nor an argument of the statement."""


class HypothesisError(ArgumentError):
    """The setting lies outside a statement's hypotheses, so the statement says nothing about it."""

    def __init__(self, label: str, hypothesis: str, argument: str, value: object, remedy: str) -> None:
        self.label, self.hypothesis = label, hypothesis
        super().__init__(argument, value, f"{label} assumes {hypothesis}", remedy)


class UnknownLabel(HsdpError, LookupError):
    """No statement has this label."""

    def __init__(self, label: object, suggestions: list[str]) -> None:
        self.label, self.suggestions = label, suggestions
        hint = f"did you mean {' or '.join(suggestions)}?" if suggestions else "`hsdp list` shows all labels"
        super().__init__(f"label = {quote(label)}: no such statement; {hint}")


class ExactTooLarge(HsdpError, OverflowError):
    """The exact rational exists but has too many digits to write down."""

    def __init__(self, bits: int) -> None:
        super().__init__(
            f"the exact rational needs about {bits:,} bits; "
            "use .enclose(...), which brackets it to any relative tolerance"
        )


class ValueTooLarge(HsdpError, OverflowError):
    """The value exists, but no rationals of a sensible size bracket it."""

    def __init__(self, exponent: int) -> None:
        super().__init__(f"a value of about 2^{exponent:,} is too large to write down; choose less extreme parameters")


class NotRational(HsdpError, ArithmeticError):
    """The value is not a rational number, so there is no exact view of it."""

    def __init__(self, node: str) -> None:
        super().__init__(f"the value contains {node} and is not rational; use .enclose(...)")


class PrecisionExhausted(HsdpError, ArithmeticError):
    """The precision cap was reached before the enclosure was as narrow as asked."""

    def __init__(self, bits: int, tolerance: object) -> None:
        super().__init__(f"no enclosure of relative width {tolerance} within {bits:,} bits; ask for a larger rtol")


class GridExhausted(PrecisionExhausted):
    """The finest grid was reached before the enclosure was as narrow as asked."""

    def __init__(self, points: int, tolerance: Fraction, reached: float) -> None:
        HsdpError.__init__(
            self,
            f"no enclosure of relative width {float(tolerance):.3g} on {points:,} grid points "
            f"(a width of {reached:.2g} may be reached); ask for a larger rtol, such as {max(1e-3, 2 * reached):.1g}",
        )


class UnboundedRange(HsdpError, ArithmeticError):
    """No finite range could be found over a box."""

    def __init__(self, bits: int) -> None:
        super().__init__(f"no finite range within {bits:,} bits; narrow the ranges")


class TooManySteps(HsdpError, ArithmeticError):
    """A recursion or a mean is too long to compute step by step, and does not settle before its end.

    It settles where further steps no longer change its value.
    """

    def __init__(self, steps: int, what: str) -> None:
        super().__init__(
            f"{what} of {steps:,} steps is too long to compute step by step, and does not settle early; "
            "use fewer epochs or batches, a larger eta*lam, or a closed-form statement"
        )


class SeriesShortened(HsdpError, ArithmeticError):
    """A power series lost some of the coefficients that a sum needs."""

    def __init__(self, order: int) -> None:
        super().__init__(
            f"a power series has fewer than {order} coefficients: another thread keeps changing flint.ctx.cap; "
            "leave it alone while bounds are computed, or use engine='mpmath'"
        )


class RoundingMode(HsdpError, ArithmeticError):
    """Doubles in this thread do not round as certified numbers need them to."""

    def __init__(self) -> None:
        super().__init__(
            "doubles in this thread do not round to nearest, or the tiniest are flushed to 0, so nothing can be "
            "certified; undo what changed it (fesetround, or a library built with -ffast-math), or use a fresh process"
        )


class EnginesDisagree(HsdpError, ArithmeticError):
    """Two independent engines gave enclosures that do not overlap: neither is to be trusted."""


class OutsideDoubleRange(HsdpError, OverflowError):
    """A number needed on the way does not fit in a double."""

    def __init__(self, what: str, remedy: str = "use .enclose(...), which has no such limit") -> None:
        super().__init__(f"{what} does not fit in a double; {remedy}")


class UnsupportedNode(HsdpError, TypeError):
    """An expression holds a node for which there is no rule: to evaluate it, to bound it over a box, or to print it."""


class NoEstimate(HsdpError, ArithmeticError):
    """The samples do not support an estimate: its variance is infinite, or too few of them matter."""
