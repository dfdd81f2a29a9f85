"""Figures of Rényi divergences that the paper does not have: tightness, crossovers, regions, sharper bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ..catalogue import statement
from ..setting import Setting
from .common import (
    BALLE,
    COMPOSED,
    COMPOSED_LEGEND,
    EPSILON,
    FIXED,
    SAMPLED,
    SHUFFLE,
    curve,
    decimal_text,
    epochs_of,
    last_batch,
    order_text,
    setting,
    setting_text,
)
from .describe import Curve, Line, Panel, Regions, Request, Style, Text
from .figure import Figure
from .values import LAST_EPOCH_TRIED, as_double, crossover, value

if TYPE_CHECKING:
    from ..setting.arrays import Array

_BOUNDS = (Style(0), Style(1, dash="dashed"), Style(2, dash="dotted"))
_FOUND = Style(4, marker="o")
SEEN = "seen:without_replacement"
FEW = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 40)
"""Fortieths of a run at which a bound is drawn that takes a fraction of a second at each."""
SHARPER: tuple[tuple[str, str], ...] = (
    ("strconvexsmooth:factor", "fixed order, last batch, dropped factor kept"),
    ("shift:cyclic", "fixed order, last batch, optimal shifts"),
    ("shift:shuffle", "shuffled once, optimal shifts"),
    ("secret:without_replacement", "without replacement, secret hits"),
    ("moments:without_replacement", "without replacement, exact moments"),
    ("control:without_replacement", "without replacement, shift control"),
    ("control:reshuffle", "reshuffled every epoch, shift control"),
)
"""Bounds sharper than the paper's, and what to call them."""


def tightness(request: Request) -> Figure:
    """Every theorem beside the worst divergence an attack finds and, where there is one, the exact quadratic law."""
    run, orders = setting(request, 40)
    order, last = orders[0], last_batch(run)
    many = _fractions(run, 1, 2, 3, 5, 8, 12, 16, 20, 25, 32, 40)
    few = _fractions(run, 1, 3, 6, 12, 24, 40)  # each takes densities on a grid, for every update

    def bound(label: str, style: Style, j0: int | None) -> Curve:
        at = (0, *few) if statement(label).choices(run, {"alpha": order}) else None
        return curve(label, run, order, style, label, j0=j0, at=at)

    def panel(name: str, title: str, *chosen: str, exact: str = "", j0: int | None = None) -> Panel:
        curves = [bound(label, style, j0) for label, style in zip(chosen, _BOUNDS[: len(chosen)], strict=True)]
        if exact:
            curves.append(curve(exact, run, order, Style(4, "thin"), "exact, quadratic loss", j0=j0))
        at = few if chosen[0] == SAMPLED else many
        curves.append(curve(chosen[0], run, order, _FOUND, "worst case found", at=at, view="worst", j0=j0))
        return Panel(
            tuple(curves), name=name, title=title, ylabel=r"$\varepsilon$" if name in "ace" else "", place="best"
        )

    batches = {", first batch": 0, ", last batch": last}
    panels = (
        panel("a", "(a) fixed order, first batch", FIXED, "shift:cyclic", exact="exact:fixed_order", j0=0),
        panel("b", "(b) fixed order, last batch", FIXED, "shift:cyclic", exact="exact:fixed_order", j0=last),
        panel("c", "(c) convex, first batch", "thm:convexsmooth", j0=0),
        panel("d", "(d) shuffled once", SHUFFLE, "shift:shuffle"),
        panel("e", "(e) sampled without replacement", SAMPLED, "secret:without_replacement"),
        panel(
            "f",
            "(f) full batch",
            "thm:GD_tighter",
            "thm:GD_baseline",
            "thm:GD_tighter:recursion",
            exact="exact:full_batch",
        ),
        _gaussian(run, "g", "(g) fixed order, Gaussian", "gdp:cyclic", "gdp:exact:fixed_order", batches),
        _gaussian(run, "h", "(h) full batch, Gaussian", "gdp:gd", "gdp:exact:full_batch", {"": None}),
    )
    return Figure(
        name="tightness",
        title="Each theorem against the exact law",
        caption=f"Bounds at α = {decimal_text(order)} and the divergence of real instances of the algorithm: the exact "
        "law of the quadratic loss (exact:fixed_order, exact:full_batch), and the worst instance found by a search "
        "over quadratic losses whose curvature differs from batch to batch (`hsdp attack`); then μ of Gaussian "
        "differential privacy, of the bounds and of the same law (gdp:exact:fixed_order, gdp:exact:full_batch). "
        f"{setting_text(run)}.",
        panels=panels,
        size=(6.75, 8.6),
        columns=2,
        notes=(
            "Dots are divergences of instances, to 12 digits: exact (a, b, c, f), a certified mixture (d), densities "
            "on a grid, not certified (e). No bound can be below its dots; how far the true worst case is above them "
            "is not known.",
            "thm:convexsmooth is attained in (c): a quadratic loss without curvature has exactly that divergence.",
            "In (g), for the first batch, and in (h) bound and law are one line, for every K: no smaller μ is true. In "
            "(g), for the last batch, the gap is open (proofs_check/OPEN.md).",
        ),
        run=run,
    )


def _gaussian(run: Setting, name: str, title: str, label: str, exact: str, places: Mapping[str, int | None]) -> Panel:
    """μ of a bound and of the law of the quadratic loss over the epochs, for a record in each of some places."""
    curves: list[Curve] = []
    for (words, j0), style in zip(places.items(), _BOUNDS[: len(places)], strict=True):
        place = {} if j0 is None else {"j0": j0}
        legends = f"{label}{words}", "" if curves else "exact, quadratic loss"
        looks = style, Style(4, "thin")
        curves += [
            Curve(source, run, place, epochs_of(run)[1:], look, legend, view="mu")
            for source, look, legend in zip((label, exact), looks, legends, strict=True)
        ]
    top = max(as_double(value(each, run["K"])) for each in curves)
    return Panel(
        tuple(curves),
        name=name,
        title=title,
        ylabel=r"$\mu$" if name == "g" else "",
        ylim=(0, 1.6 * top),  # room for the legend
        place="upper left",
    )


def _fractions(run: Setting, *parts: int) -> tuple[int, ...]:
    """The whole epochs nearest to the given fortieths of the run."""
    return tuple(sorted({max(1, round(int(run["K"]) * part / 40)) for part in parts}))


def crossing(request: Request) -> Figure:
    """Hidden-state bounds against composition, with the epoch marked from which on they are smaller."""
    run, orders = setting(request, 60)
    last = last_batch(run)
    bounds: tuple[tuple[str, str, int | None, Style], ...] = (
        (SHUFFLE, "shuffled once (thm:shuffle)", None, Style(0)),
        (FIXED, "fixed order, last batch (thm:strconvexsmooth)", last, Style(1, dash="dotted")),
        (SAMPLED, "without replacement (thm:amp_samp_wo_replacement)", None, Style(2, dash="dashdot")),
    )
    panels, found = [], []
    for number, order in enumerate(reversed(orders)):
        composed = curve(COMPOSED, run, order, Style(4, "thin", "dashed"), "composition (mironov2019)")
        curves, crossed = [composed], []
        for label, legend, j0, style in bounds:
            ours = curve(label, run, order, style, legend, j0=j0)
            curves.append(ours)
            first = crossover(label, run, tuple(ours.arguments.items()))
            where = f"K = {first}" if first else f"none up to K = {LAST_EPOCH_TRIED}"
            found.append(f"{label} at α = {decimal_text(order)}: {where}")
            if first and first <= run["K"]:
                height = as_double(value(ours, first))
                crossed.append(Text(first, height, f"$K={first}$", dot=True, offset=(4, -7), colour=style.colour))
        texts = _clear(crossed, max(as_double(value(each, run["K"])) for each in curves))
        panels.append(
            Panel(
                tuple(curves),
                name="abcd"[number],
                title=f"({'abcd'[number]}) {order_text(order)}",
                ylabel=EPSILON if number == 0 else "",
                texts=texts,
                legend="above" if number == 0 else "none",
            )
        )
    return Figure(
        name="crossover",
        title="Hidden state against composition",
        caption="From which epoch on a hidden-state bound is below the composition bound (dots; each certified there "
        f"and one epoch before). {'; '.join(found)}. {setting_text(run)}.",
        panels=tuple(panels),
        size=(6.75, 3.3),
        columns=2,
        notes=(
            "The bounds are about different ways to make batches, as in the paper's comparison: composition is for "
            "Poisson sampling.",
        ),
        run=run,
    )


def _clear(crossed: list[Text], top: float) -> tuple[Text, ...]:
    """Labels clear of the lines: above the highest mark, above and beside marks near the axis, below the others."""
    highest = max(crossed, key=lambda text: text.y, default=None)
    return tuple(
        replace(text, align="right", offset=(-3, 7))
        if text is highest
        else replace(text, offset=(20, 6))
        if text.y < top / 12
        else text
        for text in crossed
    )


_CANDIDATES = (SHUFFLE, SAMPLED, BALLE, COMPOSED)
_CANDIDATE_LEGENDS = (
    "thm:shuffle",
    "thm:amp_samp_wo_replacement",
    "balle2019, last batch",
    "composition (mironov2019)",
)


def regions(request: Request) -> Figure:
    """Which bound is least over (η, K) and over (n/b, α)."""
    import numpy as np

    run, orders = setting(request, 40)
    order = orders[0]
    top = float(2 / (run["lam"] + run["beta"]))
    steps = _short(np.geomspace(min(float(run["eta"]), top) / 20, 0.98 * top, 64))
    epochs = np.unique(np.geomspace(1, 1000, 90).round().astype(int))
    first = Panel(
        regions=_least(run, {"eta": steps[None, :], "K": epochs[:, None], "alpha": order}, steps, epochs),
        lines=_boundaries(run, order, steps, epochs),
        name="a",
        title=f"(a) {order_text(order)}",
        xlabel=r"$\eta$",
        ylabel="$K$",
        scales=("log", "log"),
        legend="above",
    )
    batches = np.unique(np.geomspace(2, 200, 56).round().astype(int))
    order_grid = _short(np.geomspace(1.25, 64, 64))
    sizes = batches * int(run["b"])
    second = Panel(
        regions=_least(run, {"n": sizes[None, :], "alpha": order_grid[:, None]}, batches, order_grid),
        name="b",
        title=f"(b) $K={int(run['K'])}$",
        xlabel="$n/b$",
        ylabel=r"$\alpha$",
        scales=("log", "log"),
        legend="above",
    )
    return Figure(
        name="regions",
        title="Where each bound wins",
        caption="The least of thm:shuffle, thm:amp_samp_wo_replacement, balle2019 (last batch) and composition "
        "mironov2019. Left: over step size and epochs; lines are where one bound falls below composition for good. "
        f"Right: over n/b (b fixed) and order. Otherwise {setting_text(run)}.",
        panels=(first, second),
        size=(6.75, 3.7),
        columns=2,
        notes=(
            "A map of a few thousand points by the fast view (within 1e-13, not certified). `hsdp prove` certifies a "
            "comparison over a box.",
            "The bounds are about different ways to make batches, as in the paper's comparison.",
        ),
        run=run,
    )


def _short(grid: Array) -> Array:
    """The grid to four digits, so that the data file can be read and says exactly what was plotted."""
    import numpy as np

    return np.array([float(f"{each:.4g}") for each in grid])


def _least(run: Setting, grid: Mapping[str, Fraction | Array], xs: Array, ys: Array) -> Regions:
    """The winner at each point of a grid whose rows are `ys` and columns `xs`."""
    import numpy as np

    values = []
    for label in _CANDIDATES:
        found = statement(label)
        place = {"j0": grid["n"] // int(run["b"]) - 1 if "n" in grid else last_batch(run)}
        needed = place if "j0" in found.needs else {}
        known = {name: each for name, each in grid.items() if name in found.needs}
        values.append(np.broadcast_to(found.numeric(run, **known, **needed), (len(ys), len(xs))))
    least = np.argmin(np.stack(values), axis=0)
    return Regions(
        tuple(map(float, xs)),
        tuple(map(float, ys)),
        _CANDIDATES,
        _CANDIDATE_LEGENDS,
        tuple(tuple(map(int, row)) for row in least),
    )


def _boundaries(run: Setting, order: Fraction, steps: Array, epochs: Array) -> tuple[Line, ...]:
    """For each step size, the epoch from which on a bound is below composition, where there is one in the picture."""
    import numpy as np

    chosen: tuple[tuple[str, str, dict[str, int], Style], ...] = (
        (FIXED, "fixed order, last batch: below composition", {"j0": last_batch(run)}, Style(4, "thin", "dashed")),
        (SAMPLED, "without replacement: below composition", {}, Style(4, "thin", "solid")),
    )
    every = np.arange(1, int(epochs[-1]) + 1)
    grid = {"eta": steps[:, None], "K": every[None, :], "alpha": order}
    composed = statement(COMPOSED).numeric(run, **grid)
    lines = []
    for label, legend, place, style in chosen:
        above = ~(statement(label).numeric(run, **grid, **place) < composed)
        first = len(every) - np.argmax(above[:, ::-1], axis=1)  # index after the last epoch above composition
        first = np.where(above.any(axis=1), first, 0)
        points = [
            (float(step), float(every[at])) for step, at in zip(steps, first, strict=True) if int(at) < len(every)
        ]
        if points:
            lines.append(Line(label, tuple(points), style, legend))
    return tuple(lines)


def sharper(request: Request) -> Figure:
    """The paper's Figure 2 with the bounds that are sharper than the paper's."""
    run, orders = setting(request, 40)
    order, last = orders[0], last_batch(run)

    def ours(label: str, style: Style, legend: str) -> Curve:
        found = statement(label)
        at = (0, *_fractions(run, *FEW)) if found.choices(run, {"alpha": order}) else None
        return curve(label, run, order, style, legend, j0=last if "j0" in found.needs else None, at=at)

    composed = curve(COMPOSED, run, order, Style(4, "thin", "dashed"), COMPOSED_LEGEND)
    looks = (Style(1), Style(2, dash="dashdot"), Style(3, dash="dotted"), Style(2, dash="dashed"))
    seen = curve(SEEN, run, order, Style(4, "thin"), "every iterate seen, without replacement")
    sides = (
        (
            "a",
            ((SHUFFLE, "thm:shuffle"), (FIXED, "thm:strconvexsmooth, last batch")),
            ("fixed", "shuffle"),
        ),
        ("b", ((SAMPLED, "thm:amp_samp_wo_replacement"),), ("without_replacement", "reshuffle")),
    )
    panels = []
    for name, printed, schemes in sides:
        curves = [
            ours(label, Style(0, "thin", "dotted" if number else "solid"), legend)
            for number, (label, legend) in enumerate(printed)
        ]
        found = [(label, words) for label, words in SHARPER if statement(label).scheme in schemes]
        curves += [ours(label, style, words) for (label, words), style in zip(found, looks[: len(found)], strict=True)]
        panels.append(
            Panel(
                (*curves, *(() if name == "a" else (seen,)), composed),
                name=name,
                title=f"({name}) {order_text(order)}",
                ylabel=EPSILON if name == "a" else "",
                xlim=(0, 42) if request.plain else None,
                ylim=(0, 0.155) if request.plain else None,
                legend="above",
            )
        )
    return Figure(
        name="sharper",
        title="Figure 2 with sharper bounds",
        caption=f"The frame of the paper's Figure 2 at α = {decimal_text(order)}: its bounds (thin), composition "
        f"(dashed) and bounds sharper than the paper's (bold). {setting_text(run)}.",
        notes=(
            "The shift-control curves are upper values of a dynamic programme on a grid, every rounding accounted for; "
            "the paper has no bound for batches reshuffled every epoch.",
            "Secret hits (secret:without_replacement) are certified at the epochs drawn, each with the window and the "
            "share of noise that suit it. What every iterate costs under the same batches is seen:without_replacement; "
            "the paper compares with Poisson sampling, add or remove (mironov2019).",
            "These are Rényi divergences at one order; the figure profiles has (ε, δ).",
        ),
        panels=tuple(panels),
        size=(6.75, 3.6),
        columns=2,
        run=run,
    )
