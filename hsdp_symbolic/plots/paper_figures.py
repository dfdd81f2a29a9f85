"""The paper's five figures: the curves, frames, styles and words of its source, each curve a catalogue statement.

The source plots functions of its own. At whole numbers of epochs they equal the statements (the ledger proves it), so
the statements are plotted; as printed, their formulas are drawn through the fractions of an epoch pgfplots samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from ..setting import Setting
from .common import (
    BALLE,
    COMPOSED,
    COMPOSED_LEGEND,
    EPSILON,
    FIXED,
    NAIVE,
    ORDERS,
    SAMPLED,
    SHUFFLE,
    curve,
    decimal_text,
    last_batch,
    order_text,
    setting,
    setting_text,
)
from .describe import Curve, Panel, Request, Style, Text
from .figure import Figure
from .values import as_double, value

_TICKS = ((0.0, "0"), (0.05, "0.05"), (0.10, "0.10"), (0.15, "0.15"))
_SOURCES = {SHUFFLE: "data_shuffle_sample", COMPOSED: "data_sgm_sample", SAMPLED: "data_rec_sample"}
_LEGEND_ABOVE = (3.25, 2.75)
_DOTTED, _DASHED = Style(dash="dotted"), Style(width="thin", dash="dashed")


def introduction(request: Request) -> Figure:
    """The figure of Section 1."""
    run, orders = setting(request, 40)
    order = orders[0]
    fixed = curve(FIXED, run, order, _DOTTED, "Our bound (fixed-order last mini-batch)", j0=last_batch(run))
    curves = (
        curve(SHUFFLE, run, order, Style(), "Our bound (shuffle and partition)"),
        _sampled(fixed, 50) if request.as_printed else fixed,
        curve(COMPOSED, run, order, _DASHED, COMPOSED_LEGEND),
    )
    panel = Panel(
        curves,
        xlabel="Training Epochs",
        ylabel=rf"$\varepsilon$ in $(\alpha={decimal_text(order)}, \varepsilon)$-Rényi Differential Privacy",
        legend="above",
    )
    if request.plain:
        top = as_double(value(fixed, 40))
        said = ("0", "0.05", "0.10", "0.15") if request.as_printed else ("0", "0.04", "0.08", "0.12")
        panel = replace(
            panel,
            xlim=(0, 42),
            ylim=(0, 0.15),
            yticks=tuple(zip((0.0, 0.04, 0.08, 0.12), said, strict=True)),
            texts=(
                Text(5, top + 0.015, "Our Privacy Bound"),
                Text(1, top + 0.005, "(fixed-order last mini-batch)"),
                Text(25, 0.04, "Our Privacy Bound"),
                Text(23, 0.03, "(shuffle and partition)"),
                Text(42, 0.135, "DP-SGD [Abadi+16] + SGM [Mironov+19]", "right"),
                Text(28, 0.125, "(composition)"),
            ),
            legend="none",
        )
    return Figure(
        name="intro",
        title="Figure of Section 1",
        caption=f"ε over training epochs, order α = {decimal_text(order)}: shuffled once (thm:shuffle), fixed order "
        f"and last mini-batch (thm:strconvexsmooth), composition (mironov2019). {setting_text(run)}.",
        panels=(panel,),
        notes=(
            "The paper's ticks at 0.04, 0.08 and 0.12 are labelled 0.05, 0.10 and 0.15; here they are labelled with "
            "their heights. `--as-printed` restores the paper's labels.",
        ),
        data_files=_files((SHUFFLE, COMPOSED), orders[:1]),
        run=run,
    )


def first_batch(request: Request) -> Figure:
    """Figure 1 (a)."""
    return _fixed_order(request, "figure1a", "first", (1, Fraction("1.55")), 10)


def last_batch_figure(request: Request) -> Figure:
    """Figure 1 (b)."""
    return _fixed_order(request, "figure1b", "last", (2, 4), 25)


def _fixed_order(request: Request, name: str, which: str, ends: tuple[int | Fraction, ...], samples: int) -> Figure:
    run, orders = setting(request, 25)
    j0 = 0 if which == "first" else last_batch(run)
    curves: list[Curve] = []
    for number, order in enumerate(orders):
        words = (
            "Naive Privacy Dynamics Baseline [Chourasia+21]",
            f"Our Privacy Dynamics ({which} mini-batch)",
            f"Balle et al. 2019 + Composition ({which} mini-batch)",
        )
        legends = words if number == 0 else ("", "", "")
        naive = curve(NAIVE, run, order, Style(number, "thin"), legends[0], leaves=True)
        ours = curve(FIXED, run, order, Style(number), legends[1], j0=j0)
        balle = curve(BALLE, run, order, Style(number, "thin", "dashed"), legends[2], j0=j0)
        if request.as_printed:
            naive = _sampled(naive, samples, ends[number])
            ours, balle = _sampled(ours, samples), _sampled(balle, samples)
        curves += [naive, ours, balle]
    panel = Panel(
        tuple(curves),
        ylabel=EPSILON if which == "first" or not request.as_printed else "",
        legend="above",
    )
    heights = dict(zip(orders, orders, strict=True))
    if request.as_printed and which == "first":
        heights[ORDERS[0]] = Fraction(20)
    panel = _paper_frame(panel, request, run, {order: (FIXED, heights[order], j0) for order in orders})
    printed = as_double(value(_sampled(curve(FIXED, run, orders[0], Style(), j0=j0), samples), Fraction(25, 9)))
    notes = [
        "The paper's source caps its functions (`max(0, ·)`, `min(·, 2Kαρ₀)`). For K ≥ 1 the caps change nothing "
        "(ledger: 0/function-3, -4, -5); at K = 0 all bounds are 0 by definition.",
        "The naive baseline leaves the frame after an epoch or three; the paper stops drawing it there.",
    ]
    if which == "first":
        notes += [
            f"The paper draws its functions through {samples} samples, 25/9 epochs apart from K = 0 (the second at "
            f"height {printed:.5f}), so that at K = 1 our bound seems to be above that of Balle et al.; it is below. "
            "Here every whole epoch is a point. `--as-printed` restores the samples.",
            "The paper's label α = 15 stands where a curve for α = 20 would end; here at the end of its own curve.",
        ]
    else:
        notes.append(
            f"The paper draws its functions through {samples} samples, 25/24 epochs apart; here every whole epoch is "
            "a point. `--as-printed` restores the samples."
        )
    return Figure(
        name=name,
        title=f"Figure 1 ({'a' if which == 'first' else 'b'}): data in the {which} mini-batch",
        caption=f"Fixed order, data in the {which} mini-batch: thm:strconvexsmooth (bold), the naive baseline "
        f"thm:naive_RDP_baseline (thin), balle2019 with composition (dashed). {setting_text(run)}.",
        panels=(panel,),
        size=_LEGEND_ABOVE,
        notes=tuple(notes),
        run=run,
    )


def shuffled(request: Request) -> Figure:
    """Figure 2 (a)."""
    run, orders = setting(request, 40)
    words = (
        "Our Privacy Dynamics (shuffle and partition)",
        "Our Privacy Dynamics (fixed-order last mini-batch)",
        COMPOSED_LEGEND,
    )
    curves: list[Curve] = []
    for number, order in enumerate(orders):
        legends = words if number == 0 else ("", "", "")
        fixed = curve(FIXED, run, order, Style(number, dash="dotted"), legends[1], j0=last_batch(run))
        curves += [
            curve(SHUFFLE, run, order, Style(number), legends[0]),
            _sampled(fixed, 50) if request.as_printed else fixed,
            curve(COMPOSED, run, order, Style(number, "thin", "dashed"), legends[2]),
        ]
    panel = Panel(tuple(curves), ylabel=EPSILON, legend="above")
    ends = {order: (FIXED, order, last_batch(run)) for order in orders}
    return Figure(
        name="figure2a",
        title="Figure 2 (a): shuffle and partition",
        caption="Shuffled once: thm:shuffle (bold), thm:strconvexsmooth for the last mini-batch of a fixed order (bold "
        f"dotted), composition mironov2019 (thin dashed). {setting_text(run)}.",
        panels=(_paper_frame(panel, request, run, ends),),
        size=_LEGEND_ABOVE,
        notes=(
            "The paper's caption has the line styles of the last batch and of composition wrong; its source and "
            "legends draw them as here.",
            "The paper draws the dotted curves through 50 samples, 40/49 epochs apart; here every whole epoch is a "
            "point. `--as-printed` restores the samples.",
            "With the bounds proved since, in the same frame: the figure sharper.",
        ),
        data_files=_files((SHUFFLE, COMPOSED), orders),
        run=run,
    )


def sampled(request: Request) -> Figure:
    """Figure 2 (b)."""
    run, orders = setting(request, 40)
    words = ("Our Privacy Dynamics (samp. w.o. replacement)", COMPOSED_LEGEND)
    curves: list[Curve] = []
    for number, order in enumerate(orders):
        legends = words if number == 0 else ("", "")
        curves += [
            curve(SAMPLED, run, order, Style(number), legends[0]),
            curve(COMPOSED, run, order, Style(number, "thin", "dashed"), legends[1]),
        ]
    panel = Panel(tuple(curves), ylabel="" if request.as_printed else EPSILON, legend="above")
    return Figure(
        name="figure2b",
        title="Figure 2 (b): sampling without replacement",
        caption="Sampled without replacement: thm:amp_samp_wo_replacement (bold), composition mironov2019 (thin "
        f"dashed). {setting_text(run)}.",
        panels=(_paper_frame(panel, request, run, {order: (SAMPLED, order, None) for order in orders}),),
        size=_LEGEND_ABOVE,
        notes=("As the paper has it. With the bounds proved since, in the same frame: the figure sharper.",),
        data_files=_files((SAMPLED, COMPOSED), orders),
        run=run,
    )


def _sampled(found: Curve, samples: int, end: int | Fraction | None = None) -> Curve:
    """The curve as pgfplots draws it: the formula at equally spaced fractions of an epoch, from 0 to `end`."""
    last = Fraction(found.at[-1] if end is None else end)
    return replace(found, at=tuple(last * k / (samples - 1) for k in range(samples)), view="continued")


def _paper_frame(
    panel: Panel, request: Request, run: Setting, ends: Mapping[Fraction, tuple[str, Fraction, int | None]]
) -> Panel:
    """Labels at the ends of curves, and the paper's axes where the setting is the paper's."""
    final = int(run["K"])
    texts = []
    for number, (order, (label, height, j0)) in enumerate(ends.items()):
        at = as_double(value(curve(label, run, height, Style(), j0=j0), final))
        texts.append(Text(final, at, order_text(order), ends=True, colour=None if request.as_printed else number))
    panel = replace(panel, texts=tuple(texts))
    if request.plain:
        return replace(panel, xlim=(0, final + 2), ylim=(0, 0.155), yticks=_TICKS)
    return panel


def _files(labels: tuple[str, ...], orders: tuple[Fraction, ...]) -> tuple[tuple[str, str, Fraction], ...]:
    return tuple((_SOURCES[label], label, order) for label in labels for order in orders)
