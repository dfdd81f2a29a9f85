"""What the figures share: the paper's setting with the user's changes, the orders, and the words of the legends."""

from __future__ import annotations

from fractions import Fraction

from ..errors import ArgumentError
from ..setting import Setting
from ..setting.parameters import PARAMETER_NAMES
from ..statement import Statement
from .describe import Curve, CurveView, Exact, Request, Style

PAPER_SETTING = Setting(n=50, b=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
ORDERS = (Fraction(15), Fraction(10))
"""The paper's orders, in the order of its colours: purple, blue."""
MOST_EPOCHS = 1000
MOST_ORDERS = 4

FIXED, SHUFFLE, SAMPLED = "thm:strconvexsmooth", "thm:shuffle", "thm:amp_samp_wo_replacement"
BALLE, NAIVE, COMPOSED = "balle2019", "thm:naive_RDP_baseline", "mironov2019"

EPSILON = r"$\varepsilon$ in $(\alpha, \varepsilon)$-Rényi Differential Privacy"
COMPOSED_LEGEND = "DP-SGD [Abadi+16] + SGM [Mironov+19] (composition)"


def setting(request: Request, epochs: int) -> tuple[Setting, tuple[Fraction, ...]]:
    """The run and the orders a figure is drawn for."""
    for name in sorted(request.changes.keys() - PARAMETER_NAMES):
        raise ArgumentError(
            name, request.changes[name], "no such letter", f"set one of {', '.join(sorted(PARAMETER_NAMES))} or alpha"
        )
    if request.as_printed and not request.plain:
        raise ArgumentError("as-printed", True, "the paper printed its own setting only", "leave the letters alone")
    run = PAPER_SETTING.replace(K=epochs).replace(**request.changes)
    if run["K"] > MOST_EPOCHS:
        raise ArgumentError(
            "K",
            int(run["K"]),
            "a figure draws a point for every epoch",
            f"choose K <= {MOST_EPOCHS}, or use `hsdp eval`",
        )
    orders = request.orders or ORDERS
    if len(orders) > MOST_ORDERS:
        raise ArgumentError("alpha", len(orders), "too many orders for one figure", f"give at most {MOST_ORDERS}")
    return run, orders


def epochs_of(run: Setting) -> tuple[int, ...]:
    """0, 1, …, K."""
    return tuple(range(int(run["K"]) + 1))


def last_batch(run: Setting) -> int:
    """The index of the last batch, n/b − 1."""
    return int(run["n"] // run["b"]) - 1


def curve(
    source: str | Statement,
    run: Setting,
    order: Fraction | int,
    style: Style,
    legend: str = "",
    *,
    j0: int | None = None,
    at: tuple[Exact, ...] | None = None,
    over: str = "K",
    view: CurveView = "bound",
    leaves: bool = False,
) -> Curve:
    """A bound over 0 … K epochs, or over `at`; for batch j0 where the bound has one; other keywords as in `Curve`."""
    place = {} if j0 is None else {"j0": j0}
    points = epochs_of(run) if at is None else at
    return Curve(source, run, {"alpha": order, **place}, points, style, legend, over, view, leaves)


def order_text(order: Fraction) -> str:
    """`α = 15`, for labels."""
    return rf"$\alpha={decimal_text(order)}$"


def decimal_text(value: Fraction) -> str:
    """A rational as decimal text where that is exact, as a fraction where not.

    >>> decimal_text(Fraction(1, 50)), decimal_text(Fraction(40)), decimal_text(Fraction(1, 3))
    ('0.02', '40', '1/3')
    """
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest != 1:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if value < 0 else text


def setting_text(run: Setting) -> str:
    """The setting in one line, for captions."""
    names = {"eta": "η", "lam": "λ", "beta": "β", "sigma": "σ", "sigma_squared": "σ²"}
    return ", ".join(f"{names.get(k, k)} = {decimal_text(Fraction(v))}" for k, v in run.exact_strings().items())
