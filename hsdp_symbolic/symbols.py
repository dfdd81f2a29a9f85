"""The paper's alphabet: the only place where SymPy symbols and functions are made.

Assumptions are those under which derivations rewrite: everything positive, indices nonnegative
(an index declared positive that starts at 0 gives silently wrong sums).
"""

from __future__ import annotations

from sympy import Expr, Function, Symbol, floor

from .setting.letters import LETTERS

# The run.
n, b, K = (Symbol(name, integer=True, positive=True) for name in ("n", "b", "K"))
eta, lam, beta, sigma, S_g = (Symbol(name, positive=True) for name in ("eta", "lam", "beta", "sigma", "S_g"))

# What a statement asks for besides the run.
alpha, c, L = (Symbol(name, positive=True) for name in ("alpha", "c", "L"))
j0, j, k, hit, split = (Symbol(name, integer=True, nonnegative=True) for name in ("j0", "j", "k", "hit", "split"))
sigma_mul = Symbol("sigma_mul", positive=True)
removed = Symbol("removed", nonnegative=True)
R1, R2, eps_norm = (Symbol(name, nonnegative=True) for name in ("R1", "R2", "eps_norm"))
w1, kappa = (Symbol(name, positive=True) for name in ("w1", "kappa"))
bias = Symbol("bias", integer=True, nonnegative=True)
classes = Symbol("classes", integer=True, positive=True)
delta, epsilon = Symbol("delta", positive=True), Symbol("epsilon", nonnegative=True)
t, R, dR, u = (Symbol(name, nonnegative=True) for name in ("t", "R", "dR", "u"))

# Abbreviations, kept atomic in derivations and replaced last: with 1 − ηλ written out, solutions of the
# same recurrence no longer compare equal.
N = Symbol("N", integer=True, positive=True)
m, rest = (Symbol(name, integer=True, positive=True) for name in ("m", "m_rest"))
q, q_half, q_balle, rho0, rho_n, rho_mul, sigma2 = (
    Symbol(name, positive=True) for name in ("q", "q_half", "q_balle", "rho0", "rho_n", "rho_mul", "sigma2")
)

CONTRACTIONS: dict[Symbol, Expr] = {
    q: eta * lam,
    q_half: eta * lam / 2,
    q_balle: 2 * eta / (1 / beta + 1 / lam),
}
"""Abbreviations for 1 − step, with the step, which may be tiny: views keep it apart so that no digit is lost."""

ABBREVIATIONS: dict[Symbol, Expr] = {
    sigma2: sigma**2,
    N: floor(n / b),
    m: floor(N / 2),
    rest: floor((N + 1) / 2),
    **{symbol: 1 - step for symbol, step in CONTRACTIONS.items()},
    rho0: eta * S_g**2 / (4 * sigma2 * b**2),
    rho_n: eta * S_g**2 / (4 * sigma2 * n**2),
    rho_mul: 2 / sigma_mul**2,
}
"""What each abbreviation stands for. ρ₀ is the divergence, over its order, that one sensitive step can cost
(ρ_n: a step on the full batch; ρ_mul: a step with noise multiplier σ_mul)."""

COSTS = (rho0, rho_n, rho_mul, sigma2)
"""The abbreviations that a comparison with the paper's printed formulas spells out."""


def with_costs_spelled(expr: Expr) -> Expr:
    """`expr` with every ρ written in the letters of the run (σ² stays a letter)."""
    return expr.subs({cost: ABBREVIATIONS[cost] for cost in COSTS if cost != sigma2})


TEX: dict[Symbol, str] = {
    **{
        symbol: LETTERS[symbol.name].tex
        for symbol in (
            *(n, b, K, eta, lam, beta, sigma, S_g, alpha, c, L, j0, j, k, hit, t, R, dR, u),
            *(sigma_mul, R1, R2, eps_norm, w1, kappa, bias, classes, split, removed, delta, epsilon),
        )
    },
    sigma2: r"\sigma^2",
    N: "n/b",
    m: r"\lfloor \frac{n}{2b} \rfloor",
    q: r"(1-\eta\lambda)",
    q_half: r"\left(1-\frac{\eta\lambda}{2}\right)",
    q_balle: r"\left(1-\frac{2\eta\beta\lambda}{\beta+\lambda}\right)",
    rest: r"\lceil \frac{n/b}{2} \rceil",
    rho0: r"\rho_0",
    rho_n: r"\rho_n",
    rho_mul: r"\rho_{mul}",
}
"""How each symbol is printed: as the paper prints it."""

# Scaffolding of derivations. None of these reaches a statement's expression.
i = Symbol("i", integer=True, nonnegative=True)
y, Y = Function("y"), Symbol("Y", real=True)
p = Symbol("p", positive=True)  # q = 1/(1 + p): signs and limits become decidable
slack = Symbol("slack", positive=True)
unit = Symbol("x0", positive=True)  # makes polynomials homogeneous
x_i, g_i, length = (Symbol(name, real=True) for name in ("x_i", "g_i", "s"))
X, P, G, W = (
    Symbol("X", nonnegative=True),
    Symbol("P", real=True),
    Symbol("G", positive=True),
    Symbol("W", positive=True),
)
theta, shift, order_y = (Symbol(name, real=True) for name in ("theta", "a", "y"))
other_shift = Symbol("a2", positive=True)
variance, radius, dim, time, E_alpha, information, V0 = (
    Symbol(name, positive=True) for name in ("v", "radius", "d", "tau", "E_alpha", "I_alpha", "V0")
)
density, density_, ratio, divergence, loss, moment = (
    Function(name, positive=True) for name in ("p", "p'", "r", "R", "u", "E")
)
weight, inner, inner_max = (Symbol(name, nonnegative=True) for name in ("w", "M_x", "M"))
mu, nu = (Symbol(name, positive=True) for name in ("mu", "nu"))
d_mu, d_nu = (Symbol(name, real=True) for name in ("dmu", "dnu"))
gap, divergence_kl, claimed = (Symbol(name, nonnegative=True) for name in ("gap", "KL", "bound"))
rate, decay, moments, shrink, level, falling, hit_factor, small, e_small = (
    Symbol(name, positive=True)
    for name in ("rate", "decay", "S", "r_miss", "s_log", "e_s", "A_hit", "y_half", "e_half")
)
z1, z2, mean_w, high_w, low_w, plain_mean = (
    Symbol(name, real=True) for name in ("z1", "z2", "m_w", "w_max", "w_min", "w_bar")
)
others, square_mean, p1, tau, spread2, top_eig = (
    Symbol(name, positive=True) for name in ("rest", "E_w2", "p1", "tau_u", "b2", "M_T")
)
along, across = Symbol("a_u", real=True), Symbol("b_v", real=True)
s_unit, tilt = Symbol("s_unit", positive=True), Symbol("t_tilt", positive=True)
excess = Symbol("alpha-1", positive=True)
extra_epochs = Symbol("K-1", integer=True, nonnegative=True)
# Two coupled runs: how far apart, what noise takes off that, and the edges of a minorant.
distance, nearer, spent, carried = (Symbol(name, nonnegative=True) for name in ("z", "z_near", "a_t", "z_corner"))
jump, apart, stretched, spread = (Symbol(name, positive=True) for name in ("s_jump", "s_maps", "s_f", "V"))
rise, run_length, last_rise, last_length = (Symbol(name, positive=True) for name in ("H_1", "x_1", "H_2", "x_2"))
slope, length_ratio, sum_of_squares, quicker = (Symbol(name, positive=True) for name in ("g", "ell", "A2", "q_less"))
portion, root_before, root_cost = (Symbol(name, positive=True) for name in ("theta_noise", "sqrt_uV", "sqrt_rho"))
epoch_factor, epoch_cost = Symbol("r_epoch", positive=True), Symbol("A_epoch", positive=True)

# A clipped loss of one score: the cap, how far two slopes are below and above it, two vectors in their plane.
cap, below_cap, above_cap, clip_norm = (Symbol(name, positive=True) for name in ("m_cap", "a_below", "a_above", "C"))
f_1, f_2, d_1, d_2 = (Symbol(name, real=True) for name in ("f_1", "f_2", "d_1", "d_2"))

# Any hit pattern: weights, slopes and edges of the greatest convex minorant, and jets of convex functions.
distance2, moved, moved2, leap, W1, W2, W_mid = (
    Symbol(name, nonnegative=True) for name in ("z_2", "D", "D2", "s_leap", "W_1", "W_2", "W_mid")
)
later, more = (Symbol(name, positive=True) for name in ("P_t", "a_more"))
rise1, rise2, height, slope1 = (Symbol(name, real=True) for name in ("A_1", "A_2", "h_1", "g_1"))
slope_gain, height_gap = (Symbol(name, nonnegative=True) for name in ("g_2-g_1", "h_1-A_1"))
a1, a2, b1, b2 = (Symbol(name, real=True) for name in ("f'", "f''", "h'", "h''"))

TEX |= {
    a1: "f'",
    a2: "f''",
    b1: "h'",
    b2: "h''",
    slope_gain: "(g_2-g_1)",
    height_gap: "(h_1-A_1)",
    leap: "s",
    more: r"\delta_a",
    d_mu: r"\dot{\mu}",
    d_nu: r"\dot{\nu}",
    small: "y",
    e_small: "e_y",
    level: "s",
    order_y: "y",
    radius: "r",
}
