"""The NumPy view: accurate over the whole domain, broadcasting, and never a wrong shape or a silent nonsense."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import Setting, labels, statement
from hsdp_symbolic.arithmetic.tape import ELEMENTS_AT_ONCE
from hsdp_symbolic.errors import ArgumentError, HypothesisError, OutsideDoubleRange
from tests import oracle

SMALLEST_NORMAL = 2.3e-308
AFTER_TRAINING = {"forgetting": 7, "noise_ratio": "1.5"}


@pytest.mark.parametrize("label", oracle.THEOREMS)
@pytest.mark.parametrize("count", [300, pytest.param(1500, marks=pytest.mark.slow)])
def test_scalars_agree_with_sixty_digits_over_the_whole_domain(label, count):
    rng, worst = random.Random(11), 0.0
    with mpmath.workdps(200):
        for _ in range(count):
            case = oracle.draw(rng)
            run, arguments = oracle.split(case)
            value = statement(label).numeric(Setting(**run), **arguments)
            truth = oracle.THEOREMS[label](case)
            if truth > SMALLEST_NORMAL:
                worst = max(worst, float(abs(value - truth) / truth))
            else:
                assert abs(value - truth) <= 4 * 5e-324, case
    assert 0 < worst <= 1e-13


@pytest.mark.parametrize("label", oracle.THEOREMS)
@pytest.mark.parametrize(("step", "number"), [("1e-15", 10**6), ("1e-6", 10**3), ("0.3", 10**6), ("0.99", 40)])
def test_arrays_agree_with_sixty_digits(label, step, number):
    rng = np.random.default_rng(5)
    run = Setting(n=number, b=1, K=1, eta=step, lam=1, beta=1, sigma="0.7", S_g="1.3")
    alpha = 1 + 10 ** rng.uniform(-6, 4, 200)
    K = np.floor(10 ** rng.uniform(0, 9, 200)).astype(int)
    j0 = number - np.minimum(number, np.floor(10 ** rng.uniform(0, 6, 200))).astype(int)
    values = statement(label).numeric(run, alpha=alpha, K=K, j0=j0, **AFTER_TRAINING)
    with mpmath.workdps(200):
        for position, value in enumerate(values):
            case = {
                "n": number,
                "b": 1,
                "eta": step,
                "lam": 1,
                "beta": 1,
                "sigma": "0.7",
                "S_g": "1.3",
            } | AFTER_TRAINING
            case |= {"alpha": Fraction(alpha[position]), "K": int(K[position]), "j0": int(j0[position])}
            truth = oracle.THEOREMS[label](case)
            error = abs(value - truth)
            assert error <= 1e-13 * truth or (truth < SMALLEST_NORMAL and error <= 2e-323), case


def test_a_representable_result_survives_factors_that_are_not():
    """q^e alone underflows and the step cost is huge; their product is an ordinary number."""
    run = Setting(n=1600, b=1, K=1, eta="0.5", lam=1, beta=1, sigma="1e-140", S_g=1)
    found = statement("thm:strconvexsmooth")
    assert found.numeric(run, alpha=2, j0=0) == pytest.approx(float(found.enclose(run, alpha=2, j0=0).lo), rel=1e-13)
    array = found.numeric(run, alpha=np.array([2.0, 3.0]), j0=np.array([0, 1]))
    assert array[0] == found.numeric(run, alpha=2, j0=0)


@pytest.mark.parametrize("label", labels())
@pytest.mark.smoke
def test_every_statement_has_a_numeric_view(figure_run, label):
    found = statement(label)
    extra = {
        "alpha": 15,
        "j0": 3,
        "j": 4,
        "k": 2,
        "t": "0.01",
        "c": "0.3",
        "L": "0.9",
        "R": "0.2",
        "dR": "0.1",
        "u": 1,
        "hit": 0,
    }
    extra |= {"R1": 1, "R2": 2, "w1": "0.3", "sigma_mul": 2, "classes": 2, "eps_norm": 0, "removed": 2, "split": 7}
    extra |= {"kappa": "0.25", "slope": "1.5", "bias": 1, "beta0": 2, "lam0": "0.1"}
    extra |= {"delta": "1e-5", "epsilon": "0.1", "T": 30, "window": 10, "share": "0.5", "known": 1}
    extra |= AFTER_TRAINING | {"lipschitz": "1.001", "degree": 14}
    if label == "clip:logistic":  # which is for clip norms that are small beside the features
        extra["L"] = 4
    extra = {name: value for name, value in extra.items() if name in found.needs}
    value = found.numeric(figure_run, **extra)
    assert isinstance(value, float)
    within = {"1e-20": 1e-13, "1/20": 0.1}.get(found.rtol, 1e-2)  # what is known on a grid is as good as the grid
    assert value == pytest.approx(found.upper(figure_run, **extra), rel=within)


@pytest.mark.parametrize("draws", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("label", oracle.SUMS)
def test_sums_and_recursions_agree_with_sixty_digits(label, draws):
    truth_of, limits = oracle.SUMS[label]
    rng, worst, checked = random.Random(12), 0.0, 0
    with mpmath.workdps(60):
        for _ in range(draws):
            case = oracle.tame(oracle.draw(rng, **limits), rng)
            run, arguments = oracle.split(case)
            value = statement(label).numeric(Setting(**run), **arguments)
            truth = truth_of(case)
            if truth > SMALLEST_NORMAL:
                worst = max(worst, float(abs(value - truth) / truth))
                checked += 1
    assert checked > draws * 5 // 8
    assert 0 < worst <= 1e-13


@pytest.mark.smoke
class TestBroadcasting:
    def test_elementwise(self, figure_run):
        found = statement("thm:strconvexsmooth")
        alpha, K, j0 = np.array([2.0, 10.0, 15.0]), np.array([1, 5, 40]), np.array([0, 12, 24])
        together = found.numeric(figure_run, alpha=alpha, K=K, j0=j0)
        alone = [found.numeric(figure_run, alpha=a, K=int(k), j0=int(j)) for a, k, j in zip(alpha, K, j0, strict=True)]
        np.testing.assert_allclose(together, alone, rtol=1e-14)

    def test_lists_of_different_lengths_span_a_grid(self, figure_run):
        found = statement("thm:strconvexsmooth")
        grid = found.numeric(figure_run, alpha=[10, 15], K=range(1, 41), j0=24)
        assert grid.shape == (2, 40)
        assert grid[1, 39] == pytest.approx(0.0871296232726143196, rel=1e-14)
        other = found.numeric(figure_run, K=range(1, 41), alpha=[10, 15], j0=24)
        np.testing.assert_array_equal(other, grid.T)

    def test_explicit_axes(self, figure_run):
        found = statement("thm:convexsmooth")
        cube = found.numeric(figure_run, alpha=np.ones((3, 1, 1)) * 2, K=np.ones((1, 4, 1), int), j0=np.arange(5))
        assert cube.shape == (3, 4, 5)

    def test_pieces_do_not_show(self, figure_run):
        found = statement("thm:strconvexsmooth")
        alpha, K = np.linspace(1.5, 60, 301)[:, None], np.arange(1, 402)
        whole = found.numeric(figure_run, alpha=alpha, K=K, j0=7)
        assert whole.size > 3 * ELEMENTS_AT_ONCE
        np.testing.assert_array_equal(whole[150], found.numeric(figure_run, alpha=alpha[150], K=K, j0=7))
        np.testing.assert_allclose(whole[:, 17], found.numeric(figure_run, alpha=alpha[:, 0], K=18, j0=7), rtol=1e-15)

    def test_any_letter_may_be_an_array(self, figure_run):
        found = statement("thm:strconvexsmooth")
        for name, values in {
            "eta": [0.001, 0.02, 0.3],
            "lam": ["0.5", 1, "3/2"],
            "sigma": [1.0, 2.0],
            "S_g": [0, 4],
            "n": [50, 51, 1000],
            "b": [1, 2, 25],
        }.items():
            together = found.numeric(figure_run, alpha=15, j0=1, **{name: values})
            alone = [found.numeric(figure_run, alpha=15, j0=1, **{name: value}) for value in values]
            np.testing.assert_allclose(together, alone, rtol=1e-13, err_msg=name)

    def test_which_case_of_the_recursion_may_be_an_array(self, figure_run):
        found = statement("lem:recursive").numeric(figure_run, u=[1.0, 1.0], hit=[0, 1], c=2, L=1)
        np.testing.assert_allclose(found, [25 / 33, 201 / 200], rtol=1e-15)

    def test_every_scalar_argument_may_be_an_array(self, figure_run):
        """Grids of orders and epochs through means, recursions and sampled Gaussians."""
        for label in ("thm:shuffle", "thm:amp_samp_wo_replacement", "thm:GD_tighter:recursion", "mironov2019"):
            found = statement(label)
            grid = found.numeric(figure_run, alpha=[1.5, 10, 15], K=[1, 2, 7, 40])
            for row, alpha in enumerate((1.5, 10, 15)):
                for column, K in enumerate((1, 2, 7, 40)):
                    alone = found.numeric(figure_run, alpha=alpha, K=K)
                    assert grid[row, column] == pytest.approx(alone, rel=1e-13), (label, alpha, K)
            varied = found.numeric(figure_run, alpha=3, n=[50, 60, 75], b=[2, 3, 5], eta=[0.01, 0.02, 0.03])
            settings = zip([50, 60, 75], [2, 3, 5], [0.01, 0.02, 0.03], strict=True)
            alone = [found.numeric(figure_run, alpha=3, n=n, b=b, eta=eta) for n, b, eta in settings]
            np.testing.assert_allclose(varied, alone, rtol=1e-13, err_msg=label)

    def test_letters_of_hypotheses_broadcast_too(self, figure_run):
        assert statement("thm:naive_RDP_baseline").numeric(figure_run, alpha=2, beta=[4, 5, 6]).shape == (3,)

    def test_a_batch_larger_than_the_data_is_refused_in_arrays_too(self, figure_run):
        with pytest.raises(HypothesisError, match="b <= n"):
            statement("thm:amp_samp_wo_replacement").numeric(figure_run, alpha=2, n=[1, 2], b=5)

    def test_weights_next_to_one(self, figure_run):
        found, case = statement("lem:rootconvexity1"), {"alpha": 4, "w1": "0.9999999999", "R1": 0, "R2": 1}
        assert found.numeric(figure_run, **case) == pytest.approx(found.upper(figure_run, **case), rel=1e-13)

    def test_few_large_among_a_million_small(self):
        run = Setting(n=10**6, b=1, K=1, eta="0.5", lam=1, beta=1, sigma_squared="1/6", S_g=1)
        found = statement("thm:shuffle")
        assert found.numeric(run, alpha=2) == pytest.approx(found.upper(run, alpha=2), rel=1e-13)

    def test_hypotheses_pair_elements(self, figure_run):
        found = statement("thm:convexsmooth").numeric(figure_run, alpha=2, j0=[0, 9], n=[8, 40])
        assert found.shape == (2,)

    def test_arrays_of_step_sizes_keep_their_digits(self):
        run = Setting(n=70, b=1, K=3, lam="0.7", beta="0.7", sigma=1, S_g=1)
        eta = np.linspace(1.35, 1.414, 50)
        values = statement("thm:strconvexsmooth").numeric(run, alpha=2, j0=0, eta=eta)
        with mpmath.workdps(60):
            for position, value in enumerate(values):
                case = {"n": 70, "b": 1, "K": 3, "lam": "0.7", "sigma": 1, "S_g": 1, "alpha": 2, "j0": 0}
                truth = oracle.strongly_convex(case | {"eta": Fraction(eta[position])})
                assert abs(value - truth) <= 1e-13 * truth

    def test_empty(self, figure_run):
        assert statement("thm:convexsmooth").numeric(figure_run, alpha=[], j0=0).shape == (0,)

    def test_the_arguments_are_left_alone(self, figure_run):
        alpha, K = np.array([2.0, 3.0]), np.array([4, 5])
        statement("thm:strconvexsmooth").numeric(figure_run, alpha=alpha, K=K, j0=0)
        assert alpha.tolist() == [2.0, 3.0]
        assert K.tolist() == [4, 5]


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "values", "told"),
        [
            ("alpha", [2.0, float("nan")], "alpha = nan"),
            ("alpha", np.array([np.inf, 2.0]), "alpha = inf"),
            ("alpha", [2, 1], "alpha = 1"),
            ("alpha", [True, False], "alpha = True"),
            ("alpha", np.array([True]), "not a plain array"),
            ("alpha", np.array([2 + 1j]), "not a plain array"),
            ("alpha", ["2", "__import__('os')"], "not a number"),
            ("alpha", [[2, 3], [4]], "ragged"),
            ("alpha", np.array([2.0], dtype=np.longdouble), "not a plain array"),
            ("alpha", np.ma.array([2.0, 3.0], mask=[True, False]), "not a plain array"),
            ("K", np.array([1.0, 2.5]), "K = 2.5"),
            ("K", [3, 0], "K = 0"),
            ("j0", [0, 25], "j0 <= N - 1"),
            ("eta", [0.1, 0.5], "eta < 2/(beta + lam)"),
        ],
    )
    def test_bad_elements(self, figure_run, name, values, told):
        arguments = {"alpha": 15, "j0": 0, name: values}
        with pytest.raises(ArgumentError) as caught:
            statement("thm:strconvexsmooth").numeric(figure_run, **arguments)
        assert told in str(caught.value)

    def test_a_hypothesis_on_arrays_names_the_offending_value(self, figure_run):
        with pytest.raises(HypothesisError, match=r"j0 = 30.0: .* choose j0 <= N - 1 = 24"):
            statement("thm:convexsmooth").numeric(figure_run, alpha=2, j0=np.array([1, 30, 2]))

    def test_shapes_that_do_not_fit(self, figure_run):
        with pytest.raises(ArgumentError, match="do not broadcast"):
            statement("thm:convexsmooth").numeric(figure_run, alpha=np.ones((2, 3)) * 2, j0=np.ones((4, 3), int))

    def test_a_value_beyond_the_doubles_is_an_error_not_infinity(self):
        run = Setting(n=4, b=1, K=1, eta="0.1", lam=1, beta=1, sigma="1e-200", S_g="1e200")
        with pytest.raises(OutsideDoubleRange, match="enclose"):
            statement("thm:convexsmooth").numeric(run, alpha=2, j0=0)


def test_threads_do_not_share_buffers(figure_run):
    from concurrent.futures import ThreadPoolExecutor

    found = statement("thm:strconvexsmooth")
    orders = [np.linspace(2, 60, 50_000) + shift for shift in np.arange(8) / 8]
    alone = [found.numeric(figure_run, alpha=alpha, j0=3) for alpha in orders]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            together = list(pool.map(lambda alpha: found.numeric(figure_run, alpha=alpha, j0=3), orders))
            for one, other in zip(alone, together, strict=True):
                np.testing.assert_array_equal(one, other)
