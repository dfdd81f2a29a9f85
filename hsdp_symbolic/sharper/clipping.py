"""Clipped gradients of losses φ(x·θ): clipping turns φ into another convex loss, no less smooth. `clip:scalar`.

It is how a squared loss becomes Huber's: the gradient φ'(x·θ)·x has a fixed direction, so clipping it clips φ' itself.
"""

from __future__ import annotations

from functools import cache

from sympy import Integer, diff, exp, log

from ..display import Dot, Plus
from ..meaning import Quantity
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    C,
    L,
    M_x,
    a_above,
    a_below,
    b_v,
    bias,
    d_1,
    d_2,
    f_1,
    f_2,
    g,
    gap,
    kappa,
    m_cap,
    radius,
    slack,
    theta,
    x0,
    x_i,
)


@cache
def scalar_output() -> Statement:
    """`clip:scalar`."""
    d = Derivation()
    score = x_i * theta
    d.identity(
        "The gradient of φ(x·θ) is φ'(x·θ)·x, so its direction does not depend on θ (one coordinate of x and θ is "
        "written; φ(s) = log(1 + e^(−s)), whose derivative is −1/(1 + e^s)).",
        diff(log(1 + exp(-score)), theta),
        -x_i / (1 + exp(score)),
    )
    d.identity(
        "Its norm is |φ'|·‖x‖. Where that exceeds C, clipping multiplies it by C/(|φ'|·‖x‖), and what is left of |φ'| "
        "(here g) is C/‖x‖ (here C/r): so clipping the gradient clips φ' to [−C/‖x‖, C/‖x‖].",
        g * (C / (g * radius)),
        C / radius,
    )
    d.identity(
        "Clipping is monotone and shortens differences. Take φ' at two points, m_cap − a_below under the cap and "
        "m_cap + a_above over it: clipped, they differ by a_below …",
        m_cap - (m_cap - a_below),
        a_below,
    )
    d.at_most(
        "… which is at most what they differed by before. (With both on one side of the cap, the difference stays, or "
        "becomes 0.)",
        a_below,
        (m_cap + a_above) - (m_cap - a_below),
        [(Integer(1), Slack(a_above, "positive"))],
    )
    d.at_most(
        "φ is convex and φ' is κ-Lipschitz, so φ' rises between two points, by at most κ times their distance, and so "
        "does the clipped φ': its slope h between any two points has 0 ≤ h ≤ κ (h = κ − slack; the distance is x0).",
        (kappa - slack) * x0,
        kappa * x0,
        [(x0, Slack(slack, "positive"))],
    )
    d.identity(
        "Cauchy and Schwarz: (x·Δ)² = ‖x‖²‖Δ‖² − (the area they span)², in the plane of x and Δ …",
        (f_1 * d_1 + f_2 * d_2) ** 2,
        (f_1**2 + f_2**2) * (d_1**2 + d_2**2) - (f_1 * d_2 - f_2 * d_1) ** 2,
    )
    d.at_most(
        "… so between points Δ apart the clipped gradient, along Δ, changes by h·(x·Δ)² ≥ 0, at most κ(L² + bias)‖Δ‖². "
        "(M_x is (x·Δ)², b_v the area, x0 is ‖Δ‖² and gap what ‖x‖² is short of L² + bias, so that (L² + bias)·x0 = "
        "M_x + b_v² + gap·x0.)",
        (kappa - slack) * M_x,
        kappa * (M_x + b_v**2 + gap * x0),
        [
            (slack, Slack(M_x, "a square")),
            (kappa, Slack(b_v**2, "a square")),
            (kappa * x0, Slack(gap, "‖x‖² ≤ L² + bias")),
        ],
    )
    expr = kappa * (L**2 + bias)
    return Statement(
        label="clip:scalar",
        kind="proposition",
        title="Clipped gradients of a scalar-output loss stay convex and smooth",
        where="not in the paper; covers two classes of Proposition 5.2",
        says="The clipped gradient of φ(x·θ) is that of a convex loss with this smoothness, for φ convex with a "
        "κ-Lipschitz derivative. With λθ added after clipping, the loss is λ-strongly convex and (this + λ)-smooth.",
        bounds=r"\beta",
        quantity=Quantity.SMOOTHNESS,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, Dot(kappa, Plus(L**2, bias))),
        hypotheses=(),
        steps=d.steps,
        assumes=(
            "the loss of a record is φ(x·θ), φ convex and φ' κ-Lipschitz",
            "features have norm at most L, before a constant 1 is appended if bias = 1",
            "gradients are clipped one record at a time; a regulariser is added after clipping",
        ),
    )
