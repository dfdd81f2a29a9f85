r"""What \delta_{\mathrm{C}} and other names of sampled runs mean, as lines of LaTeX beside a formula that has them.

C stands for batches of fixed size and a record replaced, P for Poisson sampling and a record added or removed.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal["C", "P"]

_STEPS = {
    "C": (
        r"\qquad \mathrm{C}_p(\mu)\ \text{has, in both directions, the profile}",
        r"\qquad p \cdot \delta_{\mathrm{G}}(\mu; \log(1 + (e^{\varepsilon} - 1)/p))\ \text{at}\ \varepsilon \geq 0;",
        r"\qquad \delta_{\mathrm{G}}(\mu; \varepsilon)\ "
        r"\text{is that of}\ \mathcal{N}(0, 1)\ \text{and}\ \mathcal{N}(\mu, 1)",
    ),
    "P": (
        r"\qquad \mathrm{P}_p(\mu)\ \text{is}\ (1 - p)\mathcal{N}(0, 1) + p\mathcal{N}(\mu, 1)\ "
        r"\text{and}\ \mathcal{N}(0, 1)",
    ),
}
_SECRET = (
    r"\qquad z = \sum_{i < T - \nu} q^i h_i,\ \text{each}\ h_i\ \text{being 1 with chance}\ p,\ \text{else 0;}",
    r"\qquad c = \mu q^{\nu} / \sqrt{\textstyle\sum_{i < \nu} q^{2i} (1 - f_i)};",
    r"\qquad f_i = \min(1, g q^{-r \lfloor i/r \rfloor}),\ r = \lceil \nu/64 \rceil;",
)
_ALL_BUT_LAST = r"p, \mu, q, T, \nu, g"


def _lines(*parts: str) -> str:
    return "\n".join(parts)


def _direction(kind: Kind) -> str:
    return r",\ \text{the larger of both directions;}" if kind == "P" else ";"


def profile_note(name: str, kind: Kind) -> str:
    """The profile of T steps."""
    steps = rf"\mathrm{{{kind}}}_p(\mu)^{{\otimes T}}{_direction(kind)}"
    return _lines(
        rf"\text{{where}}\ {name}(p, \mu, T; \varepsilon)\ \text{{is the profile of}}\ {steps}", *_STEPS[kind]
    )


def divergence_note(name: str, kind: Kind) -> str:
    """The divergence of one step."""
    first = rf"\text{{where}}\ {name}(p, \mu; \alpha)\ \text{{is the divergence of}}\ \mathrm{{{kind}}}_p(\mu);"
    return _lines(first, *_STEPS[kind])


def secret_profile_note(name: str, kind: Kind) -> str:
    """The profile of a run that keeps its last hits secret."""
    window = rf"\textstyle\bigotimes_{{i < \nu}} \mathrm{{{kind}}}_p(\mu/\sqrt{{f_i}})"
    mean = r"\text{is the mean over}\ z\ \text{of the profile of}"
    return _lines(
        rf"\text{{where}}\ {name}({_ALL_BUT_LAST}; \varepsilon)\ {mean}",
        rf"\qquad (\mathcal{{N}}(0, 1), \mathcal{{N}}(cz, 1)) \otimes {window}{_direction(kind)}",
        *_SECRET,
        *_STEPS[kind],
    )


def secret_divergence_note(name: str, kind: Kind) -> str:
    """The divergence of a run that keeps its last hits secret."""
    window = rf"\textstyle\sum_{{i < \nu}} \mathrm{{R}}_{{\alpha}}(\mathrm{{{kind}}}_p(\mu/\sqrt{{f_i}}))"
    return _lines(
        rf"\text{{where}}\ {name}({_ALL_BUT_LAST}; \alpha)\ \text{{is}}",
        rf"\qquad {window} + \frac{{1}}{{\alpha - 1}} \log \mathrm{{E}}_z e^{{\alpha (\alpha - 1) c^2 z^2 / 2}};",
        *_SECRET,
        *_STEPS[kind],
    )
