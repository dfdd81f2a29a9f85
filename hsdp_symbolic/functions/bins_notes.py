r"""What \mathrm{R}_{\mathrm{B}} means, as lines of LaTeX beside a formula that has it."""

from __future__ import annotations


def bins_note(name: str) -> str:
    """The divergence of balls in bins."""
    lines = (
        rf"\text{{where}}\ {name}(N, \mu, q, K, m, \nu; \alpha)\ \text{{is, for}}\ \lceil\alpha\rceil\ "
        r"\text{in place of}\ \alpha,\ \text{the larger of}",
        r"\qquad \frac{1}{\alpha - 1} \log \mathrm{E}_z\ e^{\binom{\alpha}{2} \mu^2 \sum_i a_i^2} \prod_{e < m} "
        r"\alpha!\ [x^\alpha] P_e(x),",
        r"\qquad P_e(x) = \prod_{eN \leq i < (e + 1) N} \sum_c \frac{(x/N)^c}{c!} "
        r"e^{\mu^2 (\binom{c}{2} + (\alpha - 1) a_i c)},",
        r"\qquad \text{and}\ \frac{1}{\alpha - 1} \log \mathrm{E}_z\ e^{\alpha (\alpha - 1) \mu^2 "
        r"\sum_{i < mN} (a_i + 1/N)^2 / 2} + m \frac{\mu^2}{2} \left(1 - \frac{1}{N}\right);",
        r"\qquad z = \sum_{e < K - m} q^{Ne + i_e},\ \text{each}\ i_e\ \text{one of}\ 0, \ldots, N - 1,\ "
        r"\text{each as likely};",
        r"\qquad a_i = z q^{mN} w_i / \textstyle\sum_{i < \nu} q^i w_i;",
        r"\qquad w_i = q^{r \lfloor i/r \rfloor}\ \text{for}\ i < \nu,\ \text{else 0},\ r = \lceil \nu/64 \rceil",
    )
    return "\n".join(lines)


def seen_note(name: str) -> str:
    """The divergence of one epoch of which every iterate is seen."""
    lines = (
        rf"\text{{where}}\ {name}(N, \mu; \alpha),\ \alpha\ \text{{whole (if not: the next whole one), "
        r"is the larger of}",
        r"\qquad \frac{1}{\alpha - 1} \log\left(\alpha!\ [x^\alpha] \left(\sum_c \frac{(x/N)^c}{c!} "
        r"e^{\mu^2 \binom{c}{2}}\right)^N\right)\ \text{and}\ \frac{\mu^2}{2} \cdot \frac{\alpha + N - 1}{N}",
    )
    return "\n".join(lines)
