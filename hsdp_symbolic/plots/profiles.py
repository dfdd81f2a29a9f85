"""The figure of profiles: δ over ε for every way of making batches, between what is proved and what is true."""

from __future__ import annotations

from fractions import Fraction

from ..catalogue import statement
from ..meaning import Neighbouring, Scheme
from ..setting import Setting
from .common import last_batch, setting, setting_text
from .describe import Curve, CurveView, Panel, Request, Style
from .figure import Figure

PROFILES = (
    ("fixed order, last batch", "gdp:cyclic", "gdp:composition:fixed", "gdp:exact:fixed_order"),
    ("full batch", "gdp:gd", "gdp:composition:full_batch", "gdp:exact:full_batch"),
    ("shuffled once", "profile:shuffle", "gdp:composition:fixed", ""),
    ("reshuffled every epoch", "profile:reshuffle", "gdp:composition:fixed", ""),
    ("without replacement", "profile:without_replacement", "profile:composition:without_replacement", ""),
    ("Poisson, add/remove", "profile:poisson", "profile:composition:poisson", ""),
    ("balls in bins, add/remove", "profile:balls_in_bins", "composition:balls_in_bins", ""),
)
"""How batches are made; what bounds the last iterate, and all of them; the exact law, where that is a statement."""
FEW = tuple(Fraction(1, 10**power) for power in range(3, 9))
"""δ where each takes about a second."""
MANY = (FEW[0], *(Fraction(part, 10**power) for power in range(4, 9) for part in (5, 2, 1)))
_TICKS = tuple((10.0**-power, f"$10^{{-{power}}}$") for power in range(3, 9))


def profiles(request: Request) -> Figure:
    """(ε, δ) for every way of making batches: last iterate, every iterate, and what a quadratic loss costs."""
    run, _ = setting(request, 40)
    panels = []
    for name, (words, hidden, seen, exact) in zip("abcdefg", PROFILES, strict=True):
        curves = (
            _profile(seen, run, Style(4, "thin", "dashed"), "every iterate: at most"),
            _profile(hidden, run, Style(0), "last iterate: at most"),
            _profile(
                exact or hidden,
                run,
                Style(1, dash="dotted"),
                "quadratic loss: at least",
                view="epsilon" if exact else "law",
            ),
        )
        panels.append(
            Panel(
                curves,
                name=name,
                title=f"({name}) {words}",
                xlabel=r"$\varepsilon$",
                ylabel=r"$\delta$" if name in "ae" else "",
                xlim=(0.02, 5) if request.plain else None,
                yticks=_TICKS,
                scales=("log", "log"),
                legend="beside" if name == "g" else "none",
                swapped=True,
            )
        )
    return Figure(
        name="profiles",
        title="(ε, δ) for every way of making batches",
        caption="What a run costs if only its last iterate is seen (bold), and if every iterate is (dashed); no bound "
        "on the last iterate can be to the left of the dots, which are the exact law of a quadratic loss. One record "
        "is replaced, or added or removed where it says so, which moves a sum by half of S_g. As balls in "
        "bins every record picks one batch of each epoch by itself; permutations do not do that. "
        f"{setting_text(run)}.",
        panels=tuple(panels),
        size=(6.75, 3.9),
        columns=4,
        notes=(
            "Bold and dashed: gdp:cyclic and gdp:composition:fixed (a), gdp:gd and gdp:composition:full_batch (b), "
            "profile:shuffle (c) and profile:reshuffle (d), both with gdp:composition:fixed, "
            "profile:without_replacement and profile:composition:without_replacement (e), profile:poisson and "
            "profile:composition:poisson (f), profile:balls_in_bins and composition:balls_in_bins (g), of which the "
            "second is a divergence, turned into (ε, δ) at its best order.",
            "All three are certified in (a) and (b), to 12 digits. The bounds in (d) to (g) are computed on a "
            "grid, at most 0.5 % above their values and never below, and so is what every iterate costs in (e) and "
            "(f); the law in (c) to (g) is a mixture of Gaussians, in float64. `hsdp schemes` prints ε at one δ.",
            "In (b) bold and dots are one line: the bound is exact. So it is in a fixed order for the first batch "
            "(tightness, g).",
        ),
        run=run,
    )


def _profile(label: str, run: Setting, style: Style, legend: str, view: CurveView = "epsilon") -> Curve:
    """ε at every δ; a record that is added or removed moves a sum by half of what replacing one does."""
    found = statement(label)
    if found.neighbouring is Neighbouring.ADD_REMOVE:
        run = run.replace(S_g=run["S_g"] / 2)
    place = {"j0": last_batch(run)} if "j0" in found.needs else {}
    slow = found.scheme.draws_afresh or found.scheme is Scheme.BALLS_IN_BINS
    return Curve(label, run, place, FEW if slow else MANY, style, legend, "delta", view)
