"""The paper's alphabet: the only place where SymPy symbols and functions are made.

Every symbol has one name: that of its variable here, which is also how SymPy and our messages print it. How it is
typeset is said in `TEX`; a name such as `x_i`, `tau` or `H_1` is typeset as it reads and needs no line there.

Each symbol carries the assumptions under which derivations rewrite expressions: parameters are positive, indices
nonnegative (an index that starts at 0 but is declared positive gives silently wrong sums).
"""

from __future__ import annotations

from sympy import Dummy, Expr, Function, Symbol, floor
from sympy.core.function import AppliedUndef, UndefinedFunction

from .setting.letters import LETTERS

# The run.
n, b, K = (Symbol(name, integer=True, positive=True) for name in ("n", "b", "K"))
eta, lam, beta, sigma, S_g, lipschitz = (
    Symbol(name, positive=True) for name in ("eta", "lam", "beta", "sigma", "S_g", "lipschitz")
)

# What a statement asks for besides the run.
alpha, c, L = (Symbol(name, positive=True) for name in ("alpha", "c", "L"))
j0, j, k, hit, split = (Symbol(name, integer=True, nonnegative=True) for name in ("j0", "j", "k", "hit", "split"))
sigma_mul = Symbol("sigma_mul", positive=True)
removed = Symbol("removed", nonnegative=True)
R1, R2, eps_norm = (Symbol(name, nonnegative=True) for name in ("R1", "R2", "eps_norm"))
w1, kappa, slope, beta0 = (Symbol(name, positive=True) for name in ("w1", "kappa", "slope", "beta0"))
lam0 = Symbol("lam0", nonnegative=True)
bias = Symbol("bias", integer=True, nonnegative=True)
classes = Symbol("classes", integer=True, positive=True)
delta, epsilon = Symbol("delta", positive=True), Symbol("epsilon", nonnegative=True)
T, window, known, degree = (Symbol(name, integer=True, positive=True) for name in ("T", "window", "known", "degree"))
share, noise_ratio = (Symbol(name, positive=True) for name in ("share", "noise_ratio"))
forgetting = Symbol("forgetting", integer=True, positive=True)
t, R, dR, u = (Symbol(name, nonnegative=True) for name in ("t", "R", "dR", "u"))

# Abbreviations, kept atomic in derivations and replaced last: with 1 − ηλ written out, solutions of the
# same recurrence no longer compare equal.
N = Symbol("N", integer=True, positive=True)
m, m_rest = (Symbol(name, integer=True, positive=True) for name in ("m", "m_rest"))
q, q_half, q_balle, rho0, rho_n, rho_mul, sigma2 = (
    Symbol(name, positive=True) for name in ("q", "q_half", "q_balle", "rho0", "rho_n", "rho_mul", "sigma2")
)

CONTRACTIONS: dict[Symbol, Expr] = {
    q: eta * lam,
    q_half: eta * lam / 2,
    q_balle: 2 * eta / (1 / beta + 1 / lam),
}
"""Abbreviations for 1 − step, each with its step. A step may be tiny: views keep it apart, so that no digit is lost."""

ABBREVIATIONS: dict[Symbol, Expr] = {
    sigma2: sigma**2,
    N: floor(n / b),
    m: floor(N / 2),
    m_rest: floor((N + 1) / 2),
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
            *(n, b, K, eta, lam, beta, sigma, S_g, lipschitz, alpha, c, L, j0, j, k, hit, t, R, dR, u),
            *(
                sigma_mul,
                R1,
                R2,
                eps_norm,
                w1,
                kappa,
                slope,
                beta0,
                lam0,
                bias,
                classes,
                split,
                removed,
                delta,
                epsilon,
                T,
                window,
                share,
                known,
                degree,
                forgetting,
                noise_ratio,
            ),
        )
    },
    sigma2: r"\sigma^2",
    N: "n/b",
    m: r"\lfloor \frac{n}{2b} \rfloor",
    q: r"(1-\eta\lambda)",
    q_half: r"\left(1-\frac{\eta\lambda}{2}\right)",
    q_balle: r"\left(1-\frac{2\eta\beta\lambda}{\beta+\lambda}\right)",
    m_rest: r"\lceil \frac{n/b}{2} \rceil",
    rho0: r"\rho_0",
    rho_n: r"\rho_n",
    rho_mul: r"\rho_{mul}",
}
"""How each symbol is printed: as the paper prints it."""

# Symbols that only derivations use: none of these reaches a statement's expression.
i = Symbol("i", integer=True, nonnegative=True)
Y = Symbol("Y", real=True)
p = Symbol("p", positive=True)  # q = 1/(1 + p): signs and limits become decidable
slack = Symbol("slack", positive=True)
x0 = Symbol("x0", positive=True)  # makes polynomials homogeneous
x_i, g_i, s = (Symbol(name, real=True) for name in ("x_i", "g_i", "s"))
X, P, G, W = (
    Symbol("X", nonnegative=True),
    Symbol("P", real=True),
    Symbol("G", nonnegative=True),
    Symbol("W", positive=True),
)
alpha_minus_1 = Symbol("alpha_minus_1", positive=True)
K_minus_1 = Symbol("K_minus_1", integer=True, nonnegative=True)

# Gaussians N(a, v), shifted by a (and a2), and how laws change along the diffusion, at time tau.
theta, a, y = (Symbol(name, real=True) for name in ("theta", "a", "y"))  # y = ln(α − 1)
a2, v = (Symbol(name, positive=True) for name in ("a2", "v"))
radius, dim, tau, E_alpha, I_alpha, V0 = (
    Symbol(name, positive=True) for name in ("radius", "dim", "tau", "E_alpha", "I_alpha", "V0")
)
KL = Symbol("KL", nonnegative=True)
y_at = Function("y_at")
p_at, p_prime_at, r_at, R_at, u_at, E_at = (
    Function(name, positive=True) for name in ("p_at", "p_prime_at", "r_at", "R_at", "u_at", "E_at")
)

# Mixtures: weights, moments of the parts, two densities and how they move.
w, M_x, M = (Symbol(name, nonnegative=True) for name in ("w", "M_x", "M"))
mu, nu = (Symbol(name, positive=True) for name in ("mu", "nu"))
dmu, dnu = (Symbol(name, real=True) for name in ("dmu", "dnu"))
gap, bound = (Symbol(name, nonnegative=True) for name in ("gap", "bound"))

# Sampling: the sum or mean S of exponentials and its logarithm, what a hit and a miss do to them.
rate, decay, S_exp, r_miss, s_log, e_s, A_hit, y_half, e_half = (
    Symbol(name, positive=True)
    for name in ("rate", "decay", "S_exp", "r_miss", "s_log", "e_s", "A_hit", "y_half", "e_half")
)
s_unit, t_tilt = Symbol("s_unit", positive=True), Symbol("t_tilt", positive=True)
r_epoch, A_epoch = Symbol("r_epoch", positive=True), Symbol("A_epoch", positive=True)

# Logistic regression: scores, weighted means of them, the largest eigenvalue, a vector along and across another.
z1, z2, m_w, w_max, w_min, w_bar = (Symbol(name, real=True) for name in ("z1", "z2", "m_w", "w_max", "w_min", "w_bar"))
rest, E_w2, p1, tau_u, b2, M_T = (Symbol(name, positive=True) for name in ("rest", "E_w2", "p1", "tau_u", "b2", "M_T"))
a_u, b_v = Symbol("a_u", real=True), Symbol("b_v", real=True)

# Two coupled runs: how far apart they are, how much of that the noise hides, and the edges of a convex minorant.
z, z_near, a_t, z_corner = (Symbol(name, nonnegative=True) for name in ("z", "z_near", "a_t", "z_corner"))
s_jump, s_maps, s_f, V = (Symbol(name, positive=True) for name in ("s_jump", "s_maps", "s_f", "V"))
H_1, x_1, H_2, x_2 = (Symbol(name, positive=True) for name in ("H_1", "x_1", "H_2", "x_2"))
g, ell, A2, q_less = (Symbol(name, positive=True) for name in ("g", "ell", "A2", "q_less"))
theta_noise, sqrt_uV, sqrt_rho = (Symbol(name, positive=True) for name in ("theta_noise", "sqrt_uV", "sqrt_rho"))

# A clipped loss of one score: the cap, how far two slopes are below and above it, two vectors in their plane.
m_cap, a_below, a_above, C = (Symbol(name, positive=True) for name in ("m_cap", "a_below", "a_above", "C"))
f_1, f_2, d_1, d_2 = (Symbol(name, real=True) for name in ("f_1", "f_2", "d_1", "d_2"))

# Any pattern of hits (steps whose batch holds the differing record): weights, slopes and edges of the greatest convex
# minorant, and derivatives of convex functions f and h.
z_2, D, D2, s_leap, W_1, W_2, W_mid = (
    Symbol(name, nonnegative=True) for name in ("z_2", "D", "D2", "s_leap", "W_1", "W_2", "W_mid")
)
P_t, a_more = (Symbol(name, positive=True) for name in ("P_t", "a_more"))
A_1, A_2, h_1, g_1 = (Symbol(name, real=True) for name in ("A_1", "A_2", "h_1", "g_1"))
g_2_minus_g_1, h_1_minus_A_1 = (Symbol(name, nonnegative=True) for name in ("g_2_minus_g_1", "h_1_minus_A_1"))
df, ddf, dh, ddh = (Symbol(name, real=True) for name in ("df", "ddf", "dh", "ddh"))

TEX |= {
    alpha_minus_1: r"(\alpha-1)",
    K_minus_1: "(K-1)",
    dim: "d",
    S_exp: "S",
    df: "f'",
    ddf: "f''",
    dh: "h'",
    ddh: "h''",
    g_2_minus_g_1: "(g_2-g_1)",
    h_1_minus_A_1: "(h_1-A_1)",
    s_leap: "s",
    a_more: r"\delta_a",
    dmu: r"\dot{\mu}",
    dnu: r"\dot{\nu}",
    y_half: "y",
    e_half: "e_y",
    s_log: "s",
    radius: "r",
}

FUNCTIONS_TEX: dict[UndefinedFunction | type[AppliedUndef], str] = {
    y_at: "y",
    p_at: "p",
    p_prime_at: "p'",
    r_at: "r",
    R_at: "R",
    u_at: "u",
    E_at: "E",
}
"""How each function is printed, before its arguments."""

# What facts are stated in: any reals, and numbers of steps.
cost_1, cost_2, distance, factor, inverse, noise_1, noise_2, epsilon_1, epsilon_2, order = (
    Symbol(name, real=True)
    for name in (
        *("cost_1", "cost_2", "distance", "factor", "inverse", "noise_1", "noise_2"),
        *("epsilon_1", "epsilon_2", "order"),
    )
)
start, steps, further = (Symbol(name, integer=True) for name in ("start", "steps", "further"))
epoch, place, after = (Symbol(name, integer=True, nonnegative=True) for name in ("epoch", "place", "after"))
count = Symbol("count", integer=True, positive=True)
whole = Symbol("whole", integer=True, positive=True)
value_at = Function("value_at")
TEX |= {
    cost_1: "u_1",
    cost_2: "u_2",
    distance: "s",
    factor: "L",
    inverse: "V",
    noise_1: "v_1",
    noise_2: "v_2",
    epsilon_1: r"\varepsilon_1",
    epsilon_2: r"\varepsilon_2",
    order: "a",
    start: "t_0",
    steps: "t_1",
    further: "t'",
    epoch: "k",
    place: "j_0",
    count: "N",
    after: "i",
    whole: "r",
}
FUNCTIONS_TEX |= {value_at: "e"}

# Drift: how far a drifted copy of the first run is from it, and how much of that the noise of a step hides.
drifted, hidden = (Symbol(name, real=True) for name in ("drifted", "hidden"))
TEX |= {drifted: "z", hidden: "a"}
# Any schedule, as functions of the step: Lipschitz constant, variance of the noise, how far the two maps are apart;
# shifts, the distance before a step, and the price of a shift.
factor_at, jump_at, shift_at, away_at, price_at = (
    Function(name, nonnegative=True) for name in ("factor_at", "jump_at", "shift_at", "away_at", "price_at")
)
variance_at = Function("variance_at", positive=True)
time_1 = Symbol("time_1", integer=True, nonnegative=True)  # their argument
TEX |= {time_1: "t"}
FUNCTIONS_TEX |= {factor_at: "c", jump_at: "s", shift_at: "a", away_at: "z", price_at: "w", variance_at: "v"}
# Plans: whether a step uses the record, whether it is planned to, how many uses came that are still planned, what a
# use has become at most; the distance, and what a use amounts to, that a step begins with in a bounded set; whether an
# iterate is seen; groups of plans.
used_at, planned_at, ahead_at, worst_at, carried_at, near_at, kept_at, seen_at, weight_at, cost_at = (
    Function(name, nonnegative=True)
    for name in (
        *("used_at", "planned_at", "ahead_at", "worst_at", "carried_at", "near_at", "kept_at"),
        *("seen_at", "weight_at", "cost_at"),
    )
)
# Any pattern of hits: how many steps there are from a hit to the next.
gap_at = Function("gap_at", integer=True, positive=True)
FUNCTIONS_TEX |= {gap_at: "g"}
diameter = Symbol("diameter", nonnegative=True)
TEX |= {diameter: "D"}
FUNCTIONS_TEX |= {
    used_at: "h",
    planned_at: "p",
    ahead_at: "d",
    worst_at: "r",
    carried_at: r"\kappa",
    near_at: r"\bar{z}",
    kept_at: r"\bar{\kappa}",
    seen_at: "o",
    weight_at: r"\omega",
    cost_at: r"\mu^2",
}

# Secret hits: the portion of a distance by which a copy drifts, the share of noise that hides a hit, how many steps
# tell their draws and how many keep them secret; the largest batch whose update contracts, what sums are divided by.
portion, most_1, divisor_1 = (Symbol(name, real=True) for name in ("portion", "most_1", "divisor_1"))
share_1 = Symbol("share_1", positive=True)
told = Symbol("told", integer=True, nonnegative=True)
window_1 = Symbol("window_1", integer=True, positive=True)
TEX |= {portion: r"\lambda_t", most_1: r"B_{\max}", divisor_1: "b_1", share_1: "g", told: "t", window_1: r"\nu"}


class uses_before(AppliedUndef):  # noqa: N801 — a letter, as the functions above
    """uses_before(N, t): how many of the first t steps use the record, in a run whose epochs have N steps.

    Nothing can be put in its place, unlike an unknown function's: it belongs to the run (`OnceAnEpoch`).
    """

    nargs = 2
    is_integer = True
    is_nonnegative = True


FUNCTIONS_TEX |= {uses_before: r"\operatorname{uses}"}

# Batches shuffled anew in every epoch: how many epochs, in how many of them the record's places are known, and which
# places these are (`functions.planned_shifts`).
epochs_1, known_1, plan = (Symbol(name, integer=True, positive=True) for name in ("epochs_1", "known_1", "plan"))
TEX |= {epochs_1: "K", known_1: "m", plan: "p"}


class uses_within(AppliedUndef):  # noqa: N801 — a letter, as the functions above
    """uses_within(N, rate, K, m, plan, e, i): how many of the first i batches of epoch e hold the record.

    Nothing can be put in its place: it belongs to the run (`WithPlan`), whose arguments its first five are.
    """

    nargs = 7
    is_integer = True
    is_nonnegative = True


FUNCTIONS_TEX |= {uses_within: r"\operatorname{uses}"}

# Mixtures and draws: weights, two pairs of densities, a place on the segment between them, bounds on moments.
weight, moment_1, moment_2 = (Symbol(name, real=True) for name in ("weight", "moment_1", "moment_2"))
records, size = (Symbol(name, integer=True) for name in ("records", "size"))
mu_1, mu_2, nu_1, nu_2 = (Symbol(name, positive=True) for name in ("mu_1", "mu_2", "nu_1", "nu_2"))
along = Symbol("along", real=True)
state = Symbol("state", nonnegative=True)
TEX |= {weight: "w", moment_1: "M_1", moment_2: "M_2", records: "n", size: "b", along: "t", state: r"\hat{u}"}
# Diffusion: the divergence R(a, s) of two laws at order a, noise of variance s added; a ratio of densities; what is
# known of a pair before, and a characteristic; how far noise is to be taken.
renyi_at = Function("renyi_at", real=True)
ratio_at = Function("ratio_at", positive=True)
spread_0 = Symbol("spread_0", nonnegative=True)
slope_z, later_s, little, noise_more = (
    Symbol(name, positive=True) for name in ("slope_z", "later_s", "little", "noise_more")
)
TEX |= {spread_0: "V_0", slope_z: "z", later_s: "s", little: "x", noise_more: "v"}
FUNCTIONS_TEX |= {renyi_at: "R", ratio_at: "h"}

# Softmax regression at a point: the probability of the true class, the sum of all squared, the features' norm squared.
p_own, norm_2 = Symbol("p_own", positive=True), Symbol("norm_2", positive=True)
p_squares = Symbol("p_squares", nonnegative=True)
# How scores change in a direction: a vector with a number for each class, its squares and its mean and variance.
Delta_2, w_squares, t_squares = (Symbol(name, nonnegative=True) for name in ("Delta_2", "w_squares", "t_squares"))
w_mean, w_mean_square, w_own, w_variance, t_variance = (
    Symbol(name, real=True) for name in ("w_mean", "w_mean_square", "w_own", "w_variance", "t_variance")
)
# The same where the gradient is clipped: the vector's parts along p − y and across it, and what clipping multiplies by.
w_along, w_across, cov_uu, cov_uv, cov_vv = (
    Symbol(name, real=True) for name in ("w_along", "w_across", "cov_uu", "cov_uv", "cov_vv")
)
clip_scale = Symbol("clip_scale", positive=True)
# Two vectors: inner products, covariances, and a combination of the two.
inner_11, inner_12, inner_22, cov_11, cov_12, cov_22, weight_1, weight_2 = (
    Symbol(name, real=True)
    for name in ("inner_11", "inner_12", "inner_22", "cov_11", "cov_12", "cov_22", "weight_1", "weight_2")
)
y_1, y_2, v_1, v_2 = (Symbol(name, real=True) for name in ("y_1", "y_2", "v_1", "v_2"))
# What facts about regression are stated in.
features_1, clip_1, decay_1, step_1, coefficient_1, coefficient_2, coefficient_3, upper_1, kappa_1 = (
    Symbol(name, real=True)
    for name in (
        *("features_1", "clip_1", "decay_1", "step_1", "coefficient_1", "coefficient_2", "coefficient_3"),
        *("upper_1", "kappa_1"),
    )
)
bias_1 = Symbol("bias_1", integer=True)
# A loss of one score at two points: by how much the score differs, slopes before and after clipping.
d_score = Symbol("d_score", nonnegative=True)
slope_1, slope_2, clipped_1, clipped_2 = (
    Symbol(name, real=True) for name in ("slope_1", "slope_2", "clipped_1", "clipped_2")
)
root = Symbol("root", positive=True)
# Any loss at two points, Δ apart: how gradients differ, as they are (h) and clipped (d); what a step keeps of Δ.
grad_move, cut_grad = (Symbol(name, real=True) for name in ("grad_move", "cut_grad"))
grad_change = Symbol("grad_change", nonnegative=True)
kept = Symbol("kept", positive=True)
# Two records at one point: squares and product of their clipped gradients c and c'.
cut_first, cut_second = Symbol("cut_first", nonnegative=True), Symbol("cut_second", nonnegative=True)
cut_product = Symbol("cut_product", real=True)
largest = Symbol("largest", positive=True)
TEX |= {
    largest: "G",
    cut_first: r"\lVert c\rVert^2",
    cut_second: r"\lVert c'\rVert^2",
    cut_product: r"\langle c,c'\rangle",
    grad_move: r"\langle h,\Delta\rangle",
    cut_grad: r"\langle d,h\rangle",
    grad_change: r"\lVert h\rVert^2",
    kept: "k",
    p_own: "p_y",
    norm_2: r"\lVert\bar{x}\rVert^2",
    p_squares: r"\lVert p\rVert^2",
    Delta_2: r"\lVert\Delta\rVert^2",
    w_squares: r"\lVert w\rVert^2",
    t_squares: r"\lVert t\rVert^2",
    w_mean: r"\mathrm{E}w",
    w_mean_square: r"\mathrm{E}w^2",
    w_own: "w_y",
    w_variance: r"\mathrm{Var}(w)",
    t_variance: r"\mathrm{Var}(t)",
    w_along: "w_u",
    w_across: "w_v",
    cov_uu: r"\mathrm{Var}(u)",
    cov_uv: r"\mathrm{Cov}(u,v)",
    cov_vv: r"\mathrm{Var}(v)",
    clip_scale: "s_C",
    inner_11: r"\langle x_1,x_1\rangle",
    inner_12: r"\langle x_1,x_2\rangle",
    inner_22: r"\langle x_2,x_2\rangle",
    cov_11: r"\mathrm{Var}(x_1)",
    cov_12: r"\mathrm{Cov}(x_1,x_2)",
    cov_22: r"\mathrm{Var}(x_2)",
    weight_1: "k_1",
    weight_2: "k_2",
    features_1: "L_x",
    clip_1: "C_1",
    decay_1: r"\lambda_1",
    step_1: r"\eta_1",
    coefficient_1: "k_X",
    coefficient_2: "k_P",
    coefficient_3: "k_G",
    upper_1: r"\beta_0",
    kappa_1: r"\kappa_1",
    bias_1: r"b_x",
    d_score: r"\delta",
    slope_1: r"f_1'",
    slope_2: r"f_2'",
    clipped_1: r"\bar{f}_1",
    clipped_2: r"\bar{f}_2",
    root: "s_r",
}

# By how much a number that counts grows.
more = Symbol("more", integer=True, nonnegative=True)

# Losses, as facts speak of them: how convex and how smooth, how far a point is moved, the step, the base of a power.
convexity, smoothness, move, step_size, base = (
    Symbol(name, real=True) for name in ("convexity", "smoothness", "move", "step_size", "base")
)
TEX |= {convexity: r"\mu", smoothness: r"\beta'", move: "s", step_size: r"\eta'", base: "x"}


def fresh(name: str = "x", **assumptions: bool | None) -> Dummy:
    """A symbol unlike any other, whatever its name: nothing said of others is said of it."""
    return Dummy(name, **assumptions)


xi = Symbol("xi")  # what generated proofs differentiate by


def elsewhere(symbol: Symbol) -> Symbol:
    """Another number of the same range, for generated proofs."""
    kinds = {kind: True for kind in ("real", "positive", "nonnegative") if getattr(symbol, f"is_{kind}")}
    return Symbol(f"{symbol.name}_there", **kinds)
