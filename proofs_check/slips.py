"""What the paper's slips do to its curves: the ledger's claims that change one, drawn as printed and as corrected.

A printed formula is never typed here: it is the statement's own expression with the slip put back in.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from sympy import Expr

from hsdp_symbolic import Setting, Statement, statement
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.plots.common import (
    BALLE,
    COMPOSED,
    FIXED,
    PAPER_SETTING,
    SAMPLED,
    SHUFFLE,
    curve,
    decimal_text,
    epochs_of,
    order_text,
    setting,
    setting_text,
)
from hsdp_symbolic.plots.describe import Panel, Request, Style
from hsdp_symbolic.plots.figure import Figure
from hsdp_symbolic.plots.values import crossover
from hsdp_symbolic.proof.kernel import Refused, promise
from hsdp_symbolic.symbols import K, alpha, j

from .claim import Claim
from .claims.comparisons import THREE_BATCHES
from .register import claims_where

_TRUE, _PRINTED, _OTHER = Style(1), Style(0, dash="dashed"), Style(4, "thin")
_EPSILON = r"$\varepsilon$"


def slips(request: Request) -> Figure:
    """One panel for each slip that changes a curve."""
    run, orders = setting(request, 40)
    made = [
        _samples(run, orders[0]),
        _footnote(run, orders[0]),
        _dropped_factor(run, orders[0]),
        _small_rate(run),
        _converges(run),
        _after_fifty(run),
        _after_some_epochs(),
        _exponent(run, orders[0]),
    ]
    known = _claims({identity for identity, _ in made})
    panels = tuple(
        replace(panel, name=letter, title=f"({letter}) {panel.title}")
        for letter, (_, panel) in zip("abcdefgh", made, strict=True)
    )
    notes = [
        f"({letter}) {identity}, as the ledger reads it: {known[identity].says}. {_verdict(known[identity])}"
        for letter, (identity, _) in zip("abcdefgh", made, strict=True)
    ]
    return Figure(
        name="slips",
        title="What the paper's slips change",
        caption="Each slip of the paper that changes a curve: as printed (dashed) and as it should be (solid), "
        "or the bound beside what is said of it. "
        f"Unless the panel says otherwise: {setting_text(run)}.",
        panels=panels,
        size=(6.75, 8.6),
        columns=2,
        notes=(
            *notes,
            "The ticks of the first figure and the label of Figure 1 (a) are shown by `--as-printed`. All other "
            "slips (`hsdp audit`) are in words or in displays no curve is drawn from.",
        ),
        run=run,
    )


def _samples(run: Setting, order: Fraction) -> tuple[str, Panel]:
    at = epochs_of(run)[:7]
    drawn = tuple(Fraction(25, 9) * k for k in range(3))
    return "3.2/plot-3:first-epoch", Panel(
        (
            curve(FIXED, run, order, _TRUE, "thm:strconvexsmooth, every epoch", j0=0, at=at),
            curve(FIXED, run, order, _PRINTED, "as drawn, through 10 samples", j0=0, at=drawn, view="continued"),
            curve(BALLE, run, order, _OTHER, "balle2019", j0=0, at=at),
        ),
        title=f"Figure 1 (a), first batch, {order_text(order)}",
        ylabel=_EPSILON,
    )


def _footnote(run: Setting, order: Fraction) -> tuple[str, Panel]:
    theorem = statement(SHUFFLE)
    (average,) = theorem.expr.atoms(LogMeanExp)
    largest = statement("eps0").expr.subs(j, 1)
    shifted = average - (alpha - 1) * largest  # log Avg e^((α−1)(ε − ε₀¹))
    printed = theorem.expr - average / (alpha - 1) + largest + shifted
    return "4.1/footnote-1:plotted", Panel(
        (
            curve(SHUFFLE, run, order, _TRUE, "thm:shuffle"),
            curve(
                _as_printed(theorem, printed, "footnote"),
                run,
                order,
                _PRINTED,
                "with the footnote's second term",
                at=epochs_of(run)[1:],
            ),
        ),
        title=f"footnote to Figure 2, {order_text(order)}",
        place="center right",
    )


def _dropped_factor(run: Setting, order: Fraction) -> tuple[str, Panel]:
    return "thm:strconvexsmooth/dropped-factor", Panel(
        (
            curve("strconvexsmooth:factor", run, order, _TRUE, "as derived", j0=0),
            curve(FIXED, run, order, _PRINTED, "thm:strconvexsmooth", j0=0),
        ),
        title=f"the factor the proof drops, first batch, {order_text(order)}",
        ylabel=_EPSILON,
        place="lower right",
    )


def _small_rate(run: Setting) -> tuple[str, Panel]:
    orders = (*range(2, 10), *range(10, 100, 5), *range(100, 1001, 50))
    panel = Panel(
        tuple(
            replace(curve(label, run, 2, style, legend, at=orders, over="alpha"), arguments={})
            for label, style, legend in (
                (COMPOSED, _TRUE, "mironov2019"),
                ("mironov2019:small_rate", _PRINTED, r"$\approx (b/n)\,\alpha\rho_0 K$ (mironov2019:small_rate)"),
            )
        ),
        title=f"composition at $K={int(run['K'])}$",
        xlabel=r"$\alpha$",
        scales=("log", "log"),
        place="upper left",
    )
    return "4.1/caption-3:composition", panel


def _converges(run: Setting) -> tuple[str, Panel]:
    at = (*range(11), *range(15, 51, 5), *range(75, 201, 25))
    return "thm:amp_samp_wo_replacement/converges", Panel(
        tuple(
            curve(SAMPLED, run, order, style, order_text(Fraction(order)), at=at)
            for order, style in ((15, _TRUE), (25, Style(2, dash="dashdot")), (30, _PRINTED))
        ),
        title="said to converge at every order",
        ylabel=_EPSILON,
        ylim=(0.05, 30_000) if run == PAPER_SETTING.replace(K=run["K"]) else None,
        scales=("linear", "log"),
        place="upper right",
    )


def _after_fifty(run: Setting) -> tuple[str, Panel]:
    first = crossover(SAMPLED, run, (("alpha", 20),))
    end = 120
    at = (*range(11), *range(20, end + 1, 10))
    return "4.2/sentence-6:orders", Panel(
        (
            curve(SAMPLED, run, 20, _TRUE, "thm:amp_samp_wo_replacement", at=at),
            curve(COMPOSED, run, 20, _OTHER, "mironov2019", at=at),
        ),
        title=r"said to be below after 50 epochs, $\alpha=20$",
        verticals=((50, "said"), *(((first, f"$K={first}$"),) if first and first <= end else ())),
        place="lower right",
    )


def _after_some_epochs() -> tuple[str, Panel]:
    run, order = THREE_BATCHES
    said = float(1 / (run["lam"] * run["eta"]) + run["n"] / run["b"])
    run = run.replace(K=8)
    return "thm:shuffle/composition", Panel(
        (
            curve(SHUFFLE, run, order, _TRUE, "thm:shuffle"),
            curve(COMPOSED, run, order, _OTHER, "mironov2019"),
        ),
        title=rf"said to be below after $1/(\lambda\eta)+n/b$ epochs, $n/b={decimal_text(run['n'] / run['b'])}$",
        ylabel=_EPSILON,
        verticals=((said, "said"),),
        place="lower right",
    )


def _exponent(run: Setting, order: Fraction) -> tuple[str, Panel]:
    theorem = statement("thm:GD_baseline")
    run = run.replace(K=200)
    at = tuple(range(0, 201, 5))
    return "D.7/display-21:equality", Panel(
        (
            curve(theorem.label, run, order, _TRUE, "thm:GD_baseline", at=at),
            curve(
                _as_printed(theorem, theorem.expr.subs(K, 2 * K), "Appendix D.7"),
                run,
                order,
                _PRINTED,
                r"with $e^{-\lambda\eta K}$ for $e^{-\lambda\eta K/2}$",
                at=at,
            ),
        ),
        title=f"full batch, exponent in Appendix D.7, {order_text(order)}",
        place="lower right",
    )


def _as_printed(theorem: Statement, expr: Expr, where: str) -> Statement:
    """A statement with a slip put back in: a promise that nothing keeps."""
    found = theorem.theorem
    said = replace(found.proposition, **{str(found.proposition.value_at): expr})  # type: ignore[arg-type]
    return replace(
        theorem, label=f"{theorem.label} as printed in {where}", theorem=promise(said, found.hypotheses, _slip)
    )


def _slip() -> NoReturn:
    raise Refused("a slip of the paper, to be drawn and not to be proved")


def _claims(wanted: set[str]) -> dict[str, Claim]:
    found = {claim.id: claim for claim in claims_where(lambda row: row.id in wanted)}
    assert found.keys() == wanted, wanted - found.keys()
    return found


def _verdict(claim: Claim) -> str:
    if claim.correction:
        return f"In truth: {claim.correction}."
    return f"True, but: {claim.sharper}." if claim.sharper else "True there; the approximation is a lower bound."
