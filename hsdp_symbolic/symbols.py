"""The paper's alphabet: the only place where SymPy symbols and functions are made.

Assumptions are those under which derivations rewrite: everything positive, indices nonnegative
(an index declared positive that starts at 0 gives silently wrong sums).
"""

from __future__ import annotations

from sympy import Expr, Function, Symbol, floor

from .letters import LETTERS

# The run.
n, b, K = (Symbol(name, integer=True, positive=True) for name in ("n", "b", "K"))
eta, lam, beta, sigma, S_g = (Symbol(name, positive=True) for name in ("eta", "lam", "beta", "sigma", "S_g"))

# What a statement asks for besides the run.
alpha, c, L = (Symbol(name, positive=True) for name in ("alpha", "c", "L"))
j0, j, k, hit = (Symbol(name, integer=True, nonnegative=True) for name in ("j0", "j", "k", "hit"))
t, R, dR, u = (Symbol(name, nonnegative=True) for name in ("t", "R", "dR", "u"))

# Abbreviations, kept atomic in derivations and replaced last: with 1 − ηλ written out, solutions of the
# same recurrence no longer compare equal.
N = Symbol("N", integer=True, positive=True)
m = Symbol("m", integer=True, positive=True)
q, rho0, sigma2 = (Symbol(name, positive=True) for name in ("q", "rho0", "sigma2"))

ABBREVIATIONS: dict[Symbol, Expr] = {
    sigma2: sigma**2,
    N: floor(n / b),
    m: floor(N / 2),
    q: 1 - eta * lam,
    rho0: eta * S_g**2 / (4 * sigma2 * b**2),
}
"""What each abbreviation stands for. ρ₀ is the divergence, over its order, that one sensitive step can cost."""

TEX: dict[Symbol, str] = {
    **{
        symbol: LETTERS[symbol.name].tex
        for symbol in (n, b, K, eta, lam, beta, sigma, S_g, alpha, c, L, j0, j, k, hit, t, R, dR, u)
    },
    sigma2: r"\sigma^2",
    N: "n/b",
    m: r"\lfloor \frac{n}{2b} \rfloor",
    q: r"(1-\eta\lambda)",
    rho0: r"\rho_0",
}
"""How each symbol is printed: as the paper prints it."""

# Scaffolding of derivations. None of these reaches a statement's expression.
i = Symbol("i", integer=True, nonnegative=True)
y, Y = Function("y"), Symbol("Y", real=True)
p = Symbol("p", positive=True)  # q = 1/(1 + p): signs and limits become decidable
slack = Symbol("slack", positive=True)
x_i, g_i, length = (Symbol(name, real=True) for name in ("x_i", "g_i", "s"))
X, P, G, W = (
    Symbol("X", nonnegative=True),
    Symbol("P", real=True),
    Symbol("G", positive=True),
    Symbol("W", positive=True),
)
theta, shift, order_y = (Symbol(name, real=True) for name in ("theta", "a", "y"))
variance, radius, dim, time, E_alpha, information, V0 = (
    Symbol(name, positive=True) for name in ("v", "r", "d", "tau", "E_alpha", "I_alpha", "V0")
)
density, density_, ratio, divergence, loss, moment = (
    Function(name, positive=True) for name in ("p", "p'", "r", "R", "u", "E")
)
weight, inner, inner_max = (Symbol(name, nonnegative=True) for name in ("w", "M_x", "M"))
excess = Symbol("alpha-1", positive=True)
epoch_factor, epoch_cost = Symbol("r", positive=True), Symbol("A", positive=True)


def spell_out(expr: Expr) -> Expr:
    """`expr` with every abbreviation replaced by what it stands for, down to the run's own letters."""
    while expr.free_symbols & ABBREVIATIONS.keys():
        expr = expr.subs(ABBREVIATIONS)
    return expr
