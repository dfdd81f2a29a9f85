"""The kernel: every rule accepts a right use, and no attack that once proved something false gets through."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from sympy import (
    Derivative,
    Eq,
    Expr,
    Float,
    I,
    Integer,
    Integral,
    Lambda,
    Piecewise,
    Rational,
    S,
    Symbol,
    binomial,
    exp,
    factorial,
    log,
    oo,
    pi,
    sqrt,
)

from hsdp_symbolic.errors import UnsupportedNode
from hsdp_symbolic.functions.cyclic_shifts import CyclicShifts
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.functions.hit_moment import HitMoment
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.log_mix import LogMix
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.paper.descents import ANY, FIXED_ORDER, NOISE
from hsdp_symbolic.paper.lsi import spread
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.facts.definitions import PAIR, between_uses
from hsdp_symbolic.proof.facts.losses import lipschitz_update
from hsdp_symbolic.proof.facts.renyi import composition
from hsdp_symbolic.proof.integrals import Everywhere
from hsdp_symbolic.proof.kernel import (
    RULES,
    Fact,
    Refused,
    Theorem,
    apply,
    assume,
    cancel,
    cases,
    closed,
    combine,
    compare,
    cut,
    induct,
    loosen,
    mean,
    mean_at_most,
    monotone,
    plain_mean,
    positive,
    promise,
    rewrite,
    rises,
    substitute,
    tends,
    unfold,
    work_out,
)
from hsdp_symbolic.proof.propositions import (
    Abbreviation,
    AtMost,
    Descent,
    DrawnAfresh,
    Either,
    Equal,
    From,
    GradientSteps,
    Less,
    PerOrder,
    Proposition,
    ShuffledOnce,
    Term,
)
from hsdp_symbolic.symbols import (
    G,
    K,
    N,
    P,
    X,
    Y,
    alpha,
    b,
    cost_1,
    count,
    epoch,
    eta,
    factor,
    i,
    j,
    j0,
    k,
    lam,
    n,
    place,
    q,
    ratio_at,
    rho0,
    sigma,
    start,
    theta,
    u,
    w1,
    whole,
    x_i,
    y_at,
    z,
)

ZERO, ONE, TWO = Integer(0), Integer(1), Integer(2)
ATTACKS: list[Callable[[], object]] = []


def attack(prove: Callable[[], object]) -> Callable[[], object]:
    """Something false, or a way to it: it must be refused."""
    ATTACKS.append(prove)
    return prove


# --- What is no theorem, and what hides one -------------------------------------------------------------------------


@attack
def an_object_that_looks_like_a_theorem() -> object:
    return loosen(SimpleNamespace(proposition=Less(ONE, ZERO), hypotheses=()))


@attack
def a_term_that_looks_like_a_theorem() -> object:
    @dataclass(frozen=True)
    class Disguised(Term):
        proposition: Proposition
        hypotheses: tuple[Proposition, ...]

    return loosen(Disguised(Less(ONE, ZERO), ()))  # type: ignore[arg-type]


@attack
def a_theorem_hidden_in_a_set() -> object:
    return combine(ZERO, -ONE, {assume(AtMost(ZERO, -ONE))})  # type: ignore[arg-type]


@attack
def a_theorem_hidden_in_a_generator() -> object:
    return combine(ZERO, -ONE, (each for each in [assume(AtMost(ZERO, -ONE))]))  # type: ignore[arg-type]


@attack
def a_node_that_lies_about_its_sign() -> object:
    class Liar(Expr):
        is_positive = is_nonnegative = is_real = True

    return positive(Liar())


@attack
def a_proposition_equal_to_all_others() -> object:
    class Alike(AtMost):
        def __eq__(self, other: object) -> bool:
            return True

    return assume(Alike(ZERO, ONE))


@attack
def a_proposition_that_does_not_compare_its_fields() -> object:
    @dataclass(frozen=True, eq=False)
    class Loose(Proposition):
        number: Expr

    return assume(Loose(ZERO))


@attack
def a_rule_made_elsewhere() -> object:
    @kernel.rule
    def anything(proposition: Proposition) -> kernel.Concluded:
        return kernel.Concluded(proposition)

    return anything


@attack
def a_rule_exchanged() -> object:
    RULES["assume"] = RULES["loosen"]  # type: ignore[index]
    return RULES


@attack
def a_promise_not_kept() -> object:
    return closed(promise(Less(ONE, ZERO), (), lambda: compare(ZERO, ONE)))


@attack
def a_promise_kept_under_one_more_hypothesis() -> object:
    return closed(promise(Less(ONE, ZERO), (), lambda: assume(Less(ONE, ZERO))))


@attack
def a_promise_that_rests_on_itself() -> object:
    found: list[Theorem] = []
    found.append(promise(Less(ONE, ZERO), (), lambda: found[0]))
    return closed(found[0])


@attack
def a_promise_with_another_proof_put_in() -> object:
    made = promise(Less(ONE, ZERO), (), lambda: compare(ZERO, ONE))
    object.__setattr__(made, "_proof", compare(ZERO, ONE))
    return closed(made)


def forged() -> Theorem:
    """A theorem that no rule made."""
    made: Theorem = object.__new__(Theorem)
    fields = {"proposition": Less(ONE, ZERO), "hypotheses": (), "facts": frozenset(), "rule": "compare", "_proof": None}
    for field, value in (fields | {"inputs": (("left", ONE), ("right", ZERO)), "premises": (), "name": ""}).items():
        object.__setattr__(made, field, value)
    return made


@attack
def a_theorem_without_a_rule() -> object:
    return closed(loosen(forged()))


@attack
def a_premise_left_out_of_the_tree() -> object:
    made = loosen(forged())
    object.__setattr__(made, "premises", ())
    return closed(made)


@attack
def a_theorem_changed_after_it_was_proved() -> object:
    made = compare(ZERO, ONE)
    object.__setattr__(made, "proposition", Less(ONE, ZERO))
    return closed(made)


# --- Divisors that may be 0 -----------------------------------------------------------------------------------------


@attack
def a_divisor_put_for_a_number() -> object:
    product = cancel(Y * x_i, ZERO, by=[assume(Equal(Y, ZERO))])
    return substitute(product, {x_i: 1 / Y})  # Y·(1/Y) = 0, where Y = 0: SymPy writes 1 = 0


@attack
def factors_that_cancel() -> object:
    square = substitute(positive(Y**2), {Y: 1 / Y})
    return combine(ZERO, -ONE, (square, assume(AtMost(ZERO, -(Y**2)))))


@attack
def a_range_up_to_a_divisor() -> object:
    return substitute(positive(eta), {eta: (Y**2 + Y) / Y}, assume(Less(ZERO, Y + 1)))


@attack
def a_divisor_cancelled() -> object:
    return cancel((X**2 - X) / (X - 1), X)


@attack
def a_sum_closed_at_one() -> object:
    return cancel(GeometricSum(X, K) * 1, (1 - X**K) / (1 - X))


@attack
def a_divisor_known_for_other_values_of_an_index() -> object:
    means = LogMeanExp((j**2 - j) / (j - 1), j, N), LogMeanExp(j, j, N)
    return cancel(*means, assume(Less(ZERO, j - 1)))


@attack
def cases_of_a_quotient() -> object:
    first, second = assume(AtMost(ZERO, 1 / Y)), assume(AtMost(1 / Y, ZERO))
    return cases(combine(ZERO, ONE, (first, first), (ONE,)), combine(ZERO, ONE, (second, second), (ONE,)))


@attack
def factorials_of_negative_numbers() -> object:
    return work_out(factorial(i - 1) / factorial(i - 2))


@attack
def binomials_that_vanish() -> object:
    return work_out(binomial(n, i - 1) / binomial(n, i - 2))


@attack
def the_next_sum_after_minus_one_terms() -> object:
    return substitute(unfold(GeometricSum(X, start), 1), {X: ZERO, start: -ONE})


@attack
def a_pole_jumped_over() -> object:
    slope = substitute(positive(Y**2), {Y: 1 / (eta - 1)})
    falling = -1 / (eta - 1)
    return rises(falling, eta, rewrite(slope, kernel.swap(work_out(Derivative(falling, eta)))), u)


# --- Numbers that are no real numbers -------------------------------------------------------------------------------


@attack
def an_imaginary_number() -> object:
    return substitute(positive(Y**2), {Y: I})


@attack
def the_root_of_a_negative_number() -> object:
    return substitute(positive(Y**2), {Y: sqrt(-X)})


@attack
def the_logarithm_of_a_negative_number() -> object:
    mix = LogMix(-TWO, log(2), ZERO)  # log(−2·2 + 3) = iπ
    return kernel.chain(substitute(positive(Y**2), {Y: mix}), cancel(mix**2, -(pi**2)))


@attack
def an_imaginary_function() -> object:
    return substitute(assume(AtMost(ZERO, y_at(X) ** 2)), {y_at: Lambda(X, sqrt(-X - 1))})


@attack
def a_positive_function_put_negative() -> object:
    return substitute(positive(ratio_at(X)), {ratio_at: Lambda(X, -ONE)})


@attack
def infinity() -> object:
    return substitute(positive(1 / eta), {eta: oo})


@attack
def a_rounded_number() -> object:
    return positive(Float("0.1"))


@attack
def neither_above_nor_below() -> object:
    first, second = assume(AtMost(sqrt(-eta), ZERO)), assume(AtMost(ZERO, sqrt(-eta)))
    return cases(combine(ZERO, -eta, (first, first)), combine(ZERO, -eta, (second, second)))


@attack
def logarithms_in_order() -> object:
    return monotone(log(Y), Y, combine(-2 * eta, -eta, (eta,)))


@attack
def a_symbol_for_even_numbers() -> object:
    even = Symbol("even", even=True, positive=True)
    return substitute(cancel((-1) ** even, ONE), {even: ONE})


@attack
def a_symbol_for_negative_numbers() -> object:
    negative = Symbol("negative", negative=True)
    return substitute(cancel(sqrt(negative**2), -negative), {negative: ONE})


@attack
def a_number_out_of_range() -> object:
    return substitute(positive(eta), {eta: -ONE})


@attack
def half_a_step() -> object:
    return substitute(positive(GeometricSum(q, K)), {K: S.Half})


# --- Names that are bound -------------------------------------------------------------------------------------------


@attack
def an_index_captured_by_a_substitution() -> object:
    return substitute(positive(exp(LogMeanExp(Y, j, N))), {Y: j})


@attack
def an_index_captured_in_a_fact() -> object:
    constant = Fact("constant", "", (), Equal(LogMeanExp(cost_1, j, N), cost_1))
    return apply(constant, put={cost_1: j})


@attack
def a_derivative_at_one_point() -> object:
    return rewrite(work_out(Derivative(X**2, X)), assume(Equal(X**2, X)))


@attack
def the_variable_of_an_integral() -> object:
    return substitute(work_out(Integral(X * Y, (X, 0, 1))), {Y: X})


@attack
def a_limit_at_one_point() -> object:
    return rewrite(tends(X + 1, X, ZERO), assume(Equal(X + 1, Integer(3))))


@attack
def the_symbol_of_a_limit() -> object:
    return substitute(tends(X + 1, X, ZERO), {X: TWO})


@attack
def a_mean_of_nothing() -> object:
    nothing = combine(ONE, ZERO, (ONE, assume(AtMost(ONE, j))), (ONE, assume(AtMost(j, ZERO))))
    return mean_at_most(nothing, j, ZERO)


@attack
def a_mean_over_some() -> object:
    return mean(assume(AtMost(j, TWO)), j, N)


@attack
def a_plain_mean_of_nothing() -> object:
    nothing = combine(ONE, ZERO, (ONE, assume(AtMost(ONE, j))), (ONE, assume(AtMost(j, ZERO))))
    return plain_mean(nothing, j, ZERO)


@attack
def a_plain_mean_over_some() -> object:
    return plain_mean(assume(AtMost(j, TWO)), j, N)


@attack
def a_plain_mean_over_more_than_is_known() -> object:
    return plain_mean(assume(AtMost(j, K)), j, N)


@attack
def a_plain_mean_over_as_many_as_its_index() -> object:
    return plain_mean(combine(K, K + 1, (ONE,)), K, K)


@attack
def a_plain_mean_of_what_is_no_comparison() -> object:
    return plain_mean(assume(PerOrder(PAIR, X)), j, N)


@attack
def a_definition_with_a_name_of_two_meanings() -> object:
    return unfold(LogMeanExp(LogMeanExp(j * i, i, N), j, i), 0)


# --- Directions -----------------------------------------------------------------------------------------------------


@attack
def a_letter_that_trend_rewrites() -> object:
    return monotone(-N, N, compare(ONE, TWO))


@attack
def sigma_written_by_its_square() -> object:
    return monotone(-sigma, sigma, compare(ONE, TWO))


@attack
def a_sum_of_fewer_than_no_terms() -> object:
    return monotone(alpha * GeometricSum(q, j - 5), alpha, compare(TWO, Integer(3)))


@attack
def a_function_whose_direction_is_proved_elsewhere() -> object:
    return monotone(alpha * HitMoment(Y, q, w1, K), alpha, compare(TWO, Integer(3)))


def test_what_directions_presume_is_assumed_at_both_ends() -> None:
    falling = monotone(1 / (alpha - 1), alpha, compare(S.Half, TWO))
    assert Less(ONE, S.Half) in falling.hypotheses
    doubled = monotone(alpha * (2 * N - 2 * j0), alpha, compare(TWO, Integer(3)))
    assert Less(ZERO, N - j0) in doubled.hypotheses
    mixed = monotone(LogMix(w1, X, u), u, compare(ONE, TWO))
    assert AtMost(ZERO, 1 - w1) in mixed.hypotheses


def test_a_mean_of_negative_numbers_is_not_taken_for_positive() -> None:
    found = monotone(alpha * LogMeanExp(-j, j, N), alpha, compare(TWO, Integer(3))).proposition
    assert found == AtMost(3 * LogMeanExp(-j, j, N), 2 * LogMeanExp(-j, j, N))


def test_a_plain_mean_keeps_what_it_is_given() -> None:
    weak = plain_mean(assume(Less(X, u)), j, N)
    assert (weak.proposition, weak.hypotheses) == (AtMost(MeanOver(X, j, N), MeanOver(u, j, N)), (Less(X, u),))
    same = plain_mean(cancel((j + 1) ** 2, j**2 + 2 * j + 1), j, N)
    assert same.proposition == Equal(MeanOver((j + 1) ** 2, j, N), MeanOver(j**2 + 2 * j + 1, j, N))
    strict = plain_mean(combine(j, j + 1, (ONE,)), j, N).proposition
    assert strict == AtMost(MeanOver(j, j, N), MeanOver(j + 1, j, N))


def test_shifts_are_positive_only_for_counts() -> None:
    assert CyclicShifts(q, N, K, whole).is_positive
    assert not CyclicShifts(Y, N, K, whole).is_positive
    assert not CyclicShifts(q, N, K, i).is_positive


# --- For all, facts and inductions ----------------------------------------------------------------------------------


@attack
def one_pair_of_points_for_all() -> object:
    """Were X = P = G = 0 allowed, every update would be Lipschitz with constant 0."""
    zero = combine(ZERO, ZERO)
    at_zero = {X: ZERO, P: ZERO, G: ZERO, factor: ZERO}
    return apply(lipschitz_update, assume(GradientSteps(FIXED_ORDER, eta)), zero, zero, put=at_zero)


@attack
def gradients_assumed_of_one_pair() -> object:
    some = assume(AtMost(X - 2 * eta * P + eta**2 * G, ZERO * X))
    return apply(
        lipschitz_update, assume(GradientSteps(FIXED_ORDER, eta)), some, combine(ZERO, ZERO), put={factor: ZERO}
    )


@attack
def the_uses_themselves() -> object:
    put = {count: N, place: j0, epoch: k}
    return apply(between_uses, compare(ZERO, ONE), combine(ZERO, N - 1, (N - 1,)), put=put)


@attack
def an_induction_from_minus_one() -> object:
    step = loosen(combine(ONE, -i - 1, (Integer(3), assume(AtMost(ONE, -i))), (2 * i + 1,)))
    return induct(i, -1, combine(ONE, ONE), step)


@attack
def an_induction_whose_step_knows_the_index() -> object:
    here, small = assume(AtMost(i, TWO)), assume(AtMost(i, ONE))
    return induct(i, 0, combine(ZERO, TWO, (TWO,)), combine(i + 1, TWO, (ONE, small), (ZERO, here)))


@attack
def an_induction_without_its_base() -> object:
    step = combine(i + 1, TWO, (ONE, assume(AtMost(i, TWO))), (ZERO,))
    return induct(i, 0, compare(ZERO, ONE), step)


@attack
def composition_of_batches_shuffled_once() -> object:
    run = Descent(ShuffledOnce(N, 1 / N), NOISE)
    parts = [assume(PerOrder(From(run, at, ONE), u)) for at in (ZERO, ONE)]
    return apply(composition, *parts)


@attack
def concentration_of_a_mixture() -> object:
    return substitute(spread(ANY, ONE), {ANY.batches: DrawnAfresh(b / n)})


@attack
def a_definition_assumed() -> object:
    return assume(Abbreviation(q, 1 - eta * lam))


@attack
def an_abbreviation_out_of_range() -> object:
    return kernel.abbreviate(q)


@attack
def what_views_rely_on_taken_for_granted() -> object:
    return compare(LogMeanExp(ONE, j, Integer(3)), Rational(11, 10))


@pytest.mark.parametrize("prove", ATTACKS, ids=lambda prove: prove.__name__)
def test_attack_is_refused(prove: Callable[[], object]) -> None:
    with pytest.raises((Refused, TypeError, UnsupportedNode)):
        prove()


# --- Every rule -----------------------------------------------------------------------------------------------------

LOW = assume(AtMost(X, u))
RIGHT_USES: dict[str, tuple[Callable[[], Theorem], str]] = {
    "assume": (lambda: LOW, "X ≤ u ⊢ X ≤ u"),
    "under": (lambda: kernel.under(compare(ZERO, ONE), (Less(X, u),)), "X < u ⊢ 0 < 1"),
    "also": (lambda: kernel.also(compare(ZERO, ONE), LOW), "X ≤ u ⊢ 0 < 1"),
    "cut": (lambda: cut(assume(AtMost(ZERO, ONE)), compare(ZERO, ONE)), "⊢ 0 ≤ 1"),
    "abbreviate": (lambda: kernel.abbreviate(rho0), ""),
    "cases": (
        lambda: cases(
            combine(ZERO, (X - u) ** 2, (LOW, LOW)),
            combine(ZERO, (X - u) ** 2, *[(assume(AtMost(u, X)),) * 2]),
        ),
        "⊢ 0 ≤ (X - u)**2",
    ),
    "each_case": (
        lambda: kernel.each_case(
            assume(Either((Equal(X, ZERO), Equal(X, ONE)))),
            *(loosen(kernel.chain(assume(Equal(X, end)), combine(end, ONE, (1 - end,)))) for end in (ZERO, ONE)),
        ),
        "one of: X = 0, X = 1 ⊢ X ≤ 1",
    ),
    "positive": (lambda: positive(eta + X), "⊢ 0 < X + eta"),
    "cancel": (lambda: cancel((eta**2 + eta) / eta, eta + 1), "⊢ (eta**2 + eta)/eta = eta + 1"),
    "combine": (lambda: combine(X, u + eta, (ONE, LOW), (eta,)), "X ≤ u ⊢ X < eta + u"),
    "chain": (lambda: kernel.chain(LOW, combine(u, u + eta, (eta,))), "X ≤ u ⊢ X < eta + u"),
    "loosen": (lambda: loosen(compare(ZERO, ONE)), "⊢ 0 ≤ 1"),
    "swap": (lambda: kernel.swap(assume(Equal(X, u))), "X = u ⊢ u = X"),
    "rewrite": (lambda: rewrite(LOW, assume(Equal(u, eta))), "X ≤ u; u = eta ⊢ X ≤ eta"),
    "monotone": (lambda: monotone(exp(Y), Y, LOW), "X ≤ u ⊢ exp(X) ≤ exp(u)"),
    "moves": (lambda: kernel.moves(u**2, u, z), "⊢ u**2 ≤ (u + z)**2"),
    "work_out": (lambda: work_out(Derivative(X**2, X)), "⊢ Derivative(X**2, X) = 2*X"),
    "tends": (lambda: tends(GeometricSum(eta, K), eta, ONE), "⊢ GeometricSum(eta, K) → K as eta ↓ 1"),
    "rises": (
        lambda: rises(u**2, u, rewrite(positive(2 * u), kernel.swap(work_out(Derivative(u**2, u)))), z),
        "⊢ u**2 ≤ (u + z)**2",
    ),
    "unfold": (lambda: unfold(GeometricSum(X, i), 1), "⊢ GeometricSum(X, i + 1) = X*GeometricSum(X, i) + 1"),
    "floor_at_least": (lambda: kernel.floor_at_least(assume(AtMost(i, X))), "i ≤ X ⊢ i ≤ floor(X)"),
    "floor_at_most": (lambda: kernel.floor_at_most(X), "⊢ floor(X) ≤ X"),
    "next_whole": (lambda: kernel.next_whole(assume(Less(i, k))), "i < k ⊢ i + 1 ≤ k"),
    "compare": (lambda: compare(exp(1), Integer(3)), "⊢ E < 3"),
    "mean": (lambda: mean(positive(Y**2), j, N), "⊢ LogMeanExp(0, j, N) ≤ LogMeanExp(Y**2, j, N)"),
    "mean_at_most": (
        lambda: mean_at_most(assume(AtMost(j, N)), j, N),
        "⊢ LogMeanExp(j, j, N) ≤ N",
    ),
    "plain_mean": (
        lambda: plain_mean(combine(j, N, (ONE, assume(AtMost(j, N)))), j, N),
        "⊢ MeanOver(j, j, N) ≤ MeanOver(N, j, N)",
    ),
    "substitute": (lambda: substitute(positive(eta), {eta: X + 1}), "⊢ 0 < X + 1"),
    "induct": (
        lambda: induct(
            i, 0, combine(ZERO, ZERO), combine(i + 1, (i + 1) ** 2, (ONE, assume(AtMost(i, i**2))), (2 * i,))
        ),
        "⊢ i ≤ i**2",
    ),
    "weaken": (lambda: kernel.weaken(assume(PerOrder(PAIR, X)), LOW), ""),
    "squeeze": (lambda: kernel.squeeze(LOW, assume(AtMost(u, X))), "X ≤ u; u ≤ X ⊢ X = u"),
    "branch": (
        lambda: kernel.branch(Piecewise((1, Eq(i, k)), (2, True)), assume(Less(i, k))),
        "i < k ⊢ Piecewise((1, Eq(i, k)), (2, True)) = 2",
    ),
    "greater": (lambda: kernel.greater(LOW), "X ≤ u ⊢ Max(X, u) = u"),
    "at_zero": (lambda: kernel.at_zero(combine(ZERO, eta, (eta,)), eta), "⊢ 0 ≤ 0"),
    "linear": (lambda: kernel.linear(Everywhere(2 * theta, theta)), ""),
    "under_integral": (lambda: kernel.under_integral(Everywhere, cancel(theta, theta), theta), ""),
    "apply": (
        lambda: apply(
            between_uses,
            combine(ONE, ONE),
            combine(ONE, N - 1, (ONE, assume(AtMost(TWO, N)))),
            put={count: N, place: j0, epoch: k},
        ),
        "2 ≤ N ⊢ step N*k + j0 + 1 does not use the record",
    ),
}
"""A right use of each rule, and what it proves, where that is short."""

ELSEWHERE = {"polynomial"}
"""Rules that are tried with what finds their certificates (`test_positivity.py`)."""


def test_every_rule_is_tried() -> None:
    assert set(RIGHT_USES) | ELSEWHERE >= set(RULES)


@pytest.mark.parametrize("word", sorted(RIGHT_USES))
def test_rule_accepts_a_right_use(word: str) -> None:
    prove, says = RIGHT_USES[word]
    found = prove()
    assert found.rule == word
    assert not says or str(found) == says
    closed(found)


# --- Theorem --------------------------------------------------------------------------------------------------------


def test_only_rules_make_theorems() -> None:
    with pytest.raises(TypeError, match="rules"):
        Theorem(Less(ONE, ZERO))
    with pytest.raises(TypeError, match="subclasses"):
        type("Mine", (Theorem,), {})


@pytest.mark.parametrize("double", [copy.copy, copy.deepcopy, pickle.dumps])
def test_theorems_are_not_copied(double: Callable[[Theorem], object]) -> None:
    with pytest.raises(TypeError, match="store how to derive it"):
        double(compare(ZERO, ONE))


def test_theorems_do_not_change() -> None:
    made = compare(ZERO, ONE)
    for change in (
        lambda: setattr(made, "proposition", Less(ONE, ZERO)),
        lambda: delattr(made, "hypotheses"),
        lambda: setattr(made, "__class__", object),
    ):
        with pytest.raises(AttributeError, match="does not change"):
            change()


def test_inputs_are_kept_as_they_were() -> None:
    """A list or mapping changed afterwards does not change what was recorded."""
    factors, put = [eta], {eta: X + 1}
    made, put_in = combine(ZERO, eta, factors), substitute(positive(eta), put)
    factors[0], put[eta] = -eta, -X
    assert closed(made)
    assert closed(put_in)
    assert dict(made.inputs)["terms"] == ((eta,),)


def test_only_the_kernel_makes_theorems_in_this_package() -> None:
    """No module but the kernel reaches for what makes a theorem without a rule's check."""
    import hsdp_symbolic

    root = Path(hsdp_symbolic.__file__).parent
    doors = ("import make", "theorem.make(", "object.__new__(Theorem", "@rule", "@kernel.rule", '_proof"')
    found = [
        (path.name, door)
        for path in root.rglob("*.py")
        for door in doors
        if door in path.read_text(encoding="utf-8") and path.parent != root / "proof/kernel"
    ]
    assert not found
