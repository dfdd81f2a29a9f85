"""LaTeX goldens: the paper's notation and order, generated from the symbolic object."""

from __future__ import annotations

import pytest

from hsdp_symbolic import labels, statement
from hsdp_symbolic.nodes import FirstEpoch, undisplay

EPS0 = (
    r"\varepsilon_0^{j}(\alpha) = \frac{\alpha \eta S_g^{2}}{4 \sigma^{2} b^{2}} \cdot "
    r"(1-\eta\lambda)^{2 \left(j - 1\right)} \cdot \frac{1}{\sum_{s=0}^{j - 1} (1-\eta\lambda)^{2s}}"
)
GOLDEN = {
    "lem:post_proc": (
        r"\frac{\partial}{\partial t} R_\alpha(p_t \Vert p_t') \leq "
        r"- \frac{1}{\frac{L^{2}}{c} + 2 t \sigma^2} \cdot 2 \sigma^2 "
        r"\cdot \left(\frac{R_\alpha}{\alpha} + \left(\alpha - 1\right) \cdot \partial_\alpha R_\alpha\right)"
    ),
    "lem:recursive": (
        r"\frac{R_\alpha(\theta_k^{j+1}\Vert{\theta'}_k^{j+1})}{\alpha} \leq \begin{cases} "
        r"u + \frac{\eta S_g^{2}}{4 \sigma^2 b^{2}} & i_0 \in B_k^j \\ "
        r"u \cdot \frac{1}{1 + \frac{2 c \eta \sigma^2}{L^{2}}} & i_0 \notin B_k^j \end{cases}"
        "\n"
        r"\quad\text{with}\quad \alpha' = \frac{\alpha - 1}{1 + \frac{2 c \eta \sigma^2}{L^{2}}} + 1"
    ),
    "thm:strconvexsmooth": (
        r"\varepsilon \leq \varepsilon_0^{\lfloor \frac{n}{2b} \rfloor}(\alpha) \cdot "
        r"\frac{1 - (1-\eta\lambda)^{2 \left(K - 1\right) \left(n/b - \lfloor \frac{n}{2b} \rfloor\right)}}"
        r"{1 - (1-\eta\lambda)^{2 \left(n/b - \lfloor \frac{n}{2b} \rfloor\right)}} + \varepsilon_0^{n/b - j_0}(\alpha)"
        "\n" + r"\quad\text{where}\quad " + EPS0
    ),
    "lem:i_by_e_lower": (
        r"\frac{I_\alpha(\mu\Vert\nu)}{E_\alpha(\mu\Vert\nu)} \geq \frac{2 c}{\alpha^{2}} \cdot R_\alpha + "
        r"\frac{2 c}{\alpha^{2}} \cdot \alpha \left(\alpha - 1\right) \cdot \partial_\alpha R_\alpha"
    ),
    "lem:LSIseq_convex": r"c_k^j = \frac{1}{2 \eta \sigma^2 \cdot \left(k n/b + j\right)}",
    "lem:LSIseq_stronglyconvex": (
        r"c_k^j = \frac{1}{2 \eta \sigma^2} \cdot \frac{1}{\sum_{s=0}^{k n/b + j - 1} (1-\eta\lambda)^{2s}}"
    ),
    "thm:convexsmooth": (
        r"\varepsilon \leq \frac{\alpha \eta S_g^{2}}{4 \sigma^{2} b^{2}} \cdot \frac{1}{n/b} \cdot \left(K - 1\right) "
        r"+ \frac{\alpha \eta S_g^{2}}{4 \sigma^{2} b^{2}} \cdot \frac{1}{n/b - j_0}"
    ),
    "eqn:proof_strongly_convex_first_epoch": EPS0,
}


@pytest.mark.parametrize("label", labels())
def test_golden(label):
    assert statement(label).latex() == GOLDEN[label]


def test_a_display_node_without_its_definition_has_no_meaning():
    with pytest.raises(AttributeError, match="FirstEpoch"):
        undisplay(FirstEpoch(1, 2))
