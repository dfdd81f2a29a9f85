"""Every certified view gives the same with eight threads as with one, and holds while others change flint and mpmath.

Threads take turns every 10 µs. Whoever disturbs does so in a process of its own: it leaves mpmath's constants wrong.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest
from sympy import Integer, Rational, S

from hsdp_symbolic import Enclosure, HsdpError, Setting, labels, statement
from hsdp_symbolic.accounting import delta, delta_at, epsilon, epsilon_at, logistic, training_run
from hsdp_symbolic.accounting.several import Part, epsilon_of_all
from hsdp_symbolic.arithmetic.engines import ENGINES as ENGINES_BY_NAME
from hsdp_symbolic.arithmetic.engines import MOST_TRIES, TURN, Arb, PaddedMpmath, SeriesArb, _elementary
from hsdp_symbolic.errors import NotRational, SeriesShortened
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.experiment.renyi.mixtures import Mixture, mixture_divergence
from hsdp_symbolic.functions.convex_minorant import pattern_upper
from hsdp_symbolic.functions.gaussian_epsilon import GaussianEpsilon
from hsdp_symbolic.functions.gaussian_profile import GaussianProfile
from hsdp_symbolic.functions.loss_profiles import curve
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.functions.shift_programme import bracket
from hsdp_symbolic.setting.letters import PARAMETERS
from hsdp_symbolic.symbols import i
from proofs_check.prove import prove_over, replay

THREADS = 8
_WRITTEN = """
    n=120 b=2 K=3 eta=0.02 lam=1 beta=4 sigma=2 S_g=4 alpha=15 j0=3 j=2 k=1 split=20 hit=1 removed=0.5 t=0.01 c=0.3
    R=0.2 dR=0.1 R1=0.1 R2=0.4 w1=0.3 u=0.1 L=1 classes=2 kappa=0.25 slope=1.5 bias=1 beta0=2 lam0=0.1 eps_norm=0
    sigma_mul=5 epsilon=0.1 delta=1e-5 T=3 window=2 share=0.5 known=1
    lipschitz=1.01 degree=14 forgetting=7 noise_ratio=1.5
"""
LETTERS = dict(pair.split("=") for pair in _WRITTEN.split())
"""Sixty batches an epoch, so that means are summed by series; all hypotheses of all statements hold."""
SLOW = ("moments:", "split:capped", "control:", "thm:amp_samp_wo_replacement", "secret:", "profile:")
ENGINES = ("arb", "mpmath", "both")
ONE_ENGINE = ("profile:without_replacement", "profile:poisson", "profile:composition:")
"""Distributions on a grid take mpmath a second each."""
RANGED = ("S_g", "R", "L", "u", "alpha", "eta")
View = Callable[[], Any]


def views_of(label: str) -> dict[tuple[str, ...], View]:
    """Every certified view of one statement, at one setting."""
    found = statement(label)
    small = {"n": 12, "K": 2} if label.startswith(SLOW) else {}
    values = {name: value for name, value in (LETTERS | small).items() if name in found.needs}
    if label == "clip:logistic":
        values["L"] = 4  # for a clip norm that is small beside it
    run = Setting(**{each.name: values[each.name] for each in PARAMETERS if each.name in values})
    extra = {name: value for name, value in values.items() if name not in run and name != "sigma"}
    letter = next(name for name in RANGED if name in values)
    low = Fraction(values[letter])
    box = {**extra, letter: (low, low * Fraction(101, 100))}

    def exactly() -> Fraction | str:
        try:
            return found.exact(run, **extra)
        except NotRational:
            return "not rational"

    views: dict[tuple[str, ...], View] = {(label, "exact"): exactly}
    for engine in ENGINES[:1] if label.startswith(ONE_ENGINE) else ENGINES:
        views[label, "enclose", engine] = lambda engine=engine: found.enclose(run, engine=engine, **extra)
    views[label, "range"] = lambda: found.enclose(run, **box)
    views[label, "upper"] = lambda: found.upper(run, **extra)
    views[label, "lower"] = lambda: found.lower(run, **extra)
    return views


def other_views() -> dict[tuple[str, ...], View]:
    """What is certified beyond single statements."""
    run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    many = run.replace(n=20_000, eta="0.0002")
    box = {"n": 50, "b": 2, "K": (80, 90), "eta": ("0.01", "0.011"), "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}
    box["alpha"] = 10
    claim = "thm:shuffle < mironov2019"
    first, second = Mixture.of(["0", "1/2"], 1), Mixture.of(["1/4"], 1)
    quick = {"effort": "quick", "delta": "1e-5"}
    clipped = training_run(
        noise_multiplier=8,
        n=1344,
        batch_size=64,
        epochs=15,
        learning_rate="0.5",
        max_grad_norm=1,
        weight_decay="0.01",
        loss=logistic(feature_norm=1),
    )
    schemes = ("shuffle", "fixed", "full_batch")
    views: dict[tuple[str, ...], View] = {
        ("epsilon", scheme): lambda scheme=scheme: epsilon(run, scheme=scheme, **quick) for scheme in schemes
    }
    views |= {
        ("epsilon", "clipped", scheme): lambda scheme=scheme: epsilon(clipped, scheme=scheme, **quick)
        for scheme in ("shuffle", "poisson")
    }
    node = GaussianEpsilon(Rational(1, 100), Rational(1, 10**5)) + MeanOver(
        GaussianProfile(1 / i, S.One), i, Integer(40)
    )
    gaussian = compile_expression(node)
    for engine in ENGINES[:2]:
        views["mixtures", "enclose", engine] = lambda engine=engine: mixture_divergence(3, first, second, engine=engine)
        views["gaussian", "enclose", engine] = lambda engine=engine: enclose(gaussian, {}, engine=engine)
    views |= {
        ("delta", "shuffle"): lambda: delta(run, epsilon="0.5", scheme="shuffle", effort="quick"),
        ("epsilon", "twice"): lambda: epsilon_of_all([Part(run, "shuffle", count=2)], delta="1e-5"),
        ("conversion", "enclose", "epsilon"): lambda: epsilon_at("0.1", order=15, delta="1e-5"),
        ("conversion", "enclose", "delta"): lambda: delta_at("0.1", order=15, epsilon=1),
        ("proof",): lambda: str(prove_over(box, claim, budget=50)),
        ("replay",): lambda: replay(prove_over(box, claim, budget=50)),
        ("pattern", "upper"): lambda: pattern_upper([1, 0, 0, 1, 0, 0, 1], q="0.9"),
        ("many batches", "enclose"): lambda: statement("thm:shuffle").enclose(many, alpha=15),
    }
    return views


def all_views(*chosen: str) -> dict[tuple[str, ...], View]:
    found = other_views()
    for label in chosen:
        found |= views_of(label)
    return found


def outcome(view: View) -> Any:
    try:
        return view()
    except HsdpError as error:
        return error


def differing(found: Any, expected: Any) -> Any:
    """Two outcomes that differ, or the fields in which they do."""
    if type(found) is not type(expected) or not is_dataclass(found):
        return found, expected
    pairs = {each.name: (getattr(found, each.name), getattr(expected, each.name)) for each in fields(found)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@contextmanager
def fast_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def in_threads(views: dict[tuple[str, ...], View], threads: int) -> list[dict[tuple[str, ...], Any]]:
    """What each of so many threads finds, in an order of its own."""
    start = threading.Barrier(threads)

    def work(seed: int) -> dict[tuple[str, ...], Any]:
        order = list(views)
        random.Random(seed).shuffle(order)
        start.wait()
        return {name: outcome(views[name]) for name in order}

    with fast_switches(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(threads)))


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function in a new process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


SOME_AND_ALL = [labels()[::8], pytest.param(labels(), marks=pytest.mark.slow)]
"""The labels whose views are evaluated: here every eighth, and all of them where there is time."""


@pytest.mark.parametrize("chosen", SOME_AND_ALL, ids=["some", "all"])
def test_eight_threads_find_what_one_finds(chosen):
    views = all_views(*chosen)
    settings = flint.ctx.prec, flint.ctx.cap
    alone = {name: outcome(view) for name, view in views.items()}
    assert {name[0] for name in alone} >= set(chosen)
    assert not [(name, found) for name, found in alone.items() if isinstance(found, HsdpError)]
    bracket.cache_clear()
    curve.cache_clear()
    for found in in_threads(views, THREADS):
        assert not {name: differing(found[name], alone[name]) for name in views if found[name] != alone[name]}
    assert (flint.ctx.prec, flint.ctx.cap) == settings


def from_nothing() -> dict[str, Any]:
    """Labels on which threads that derive everything at once differ from each other, or from what is found later."""
    chosen = ("thm:shuffle", "shift:cyclic", "mironov2019", "thm:strconvexsmooth")
    start = threading.Barrier(THREADS)

    def work(_: int) -> list[Any]:
        start.wait()
        return [outcome(view) for label in chosen for view in views_of(label).values()]

    with fast_switches(), ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(work, range(THREADS)))
    alone = [view() for label in chosen for view in views_of(label).values()]
    return {"found": [each for each in found if each != alone], "views": len(alone)}


def test_threads_may_be_the_first_to_ask():
    report = apart(from_nothing)
    assert report["views"] == 28
    assert report["found"] == []


def memory_of(constant: str) -> Any:
    """Where mpmath keeps the digits of a constant, and their number."""
    return getattr(mpmath.libmp.libelefun, constant).__closure__[0].cell_contents


class Disturber(threading.Thread):
    """Sets flint's and mpmath's precision, and the length of series, to anything, and extends mpmath's constants."""

    def __init__(self, seed: int) -> None:
        super().__init__(daemon=True)
        self._rng, self._over, self.turns = random.Random(seed), threading.Event(), 0

    def run(self) -> None:
        rng = self._rng
        while not self._over.is_set():
            flint.ctx.cap = rng.choice((2, 3, 5, 8, 10, 1000))
            flint.ctx.prec = rng.choice((2, 10, 53, 96, 192, 3000))
            if rng.random() < 0.3:
                bits = rng.choice((60, 150, 400, 1200)) + rng.randrange(500)
                mpmath.mp.prec = mpmath.iv.prec = bits
                memory_of("ln2_fixed").memo_prec = -1  # as if more digits were asked for than ever
                with suppress(ArithmeticError):  # its own results are wrong now and then
                    mpmath.mp.exp(3), mpmath.mp.log(7), +mpmath.mp.pi
            self.turns += 1

    def stop(self) -> None:
        self._over.set()
        self.join()


def doubt(name: tuple[str, ...], found: Any, truth: Any) -> str:
    """What is wrong with a value found while being disturbed; empty if nothing is."""
    if found == truth or isinstance(found, HsdpError):
        return ""
    if isinstance(truth, Enclosure):
        good = found.overlaps(truth)
    elif name[-1] in ("upper", "lower"):  # at most an ulp from the truth, on one side of it
        inwards = -math.inf if name[-1] == "upper" else math.inf
        good = found == truth or (found > truth) == (name[-1] == "upper") or found == math.nextafter(truth, inwards)
    elif hasattr(truth, "epsilon"):
        same = (found.order, found.epsilon, found.delta) == (truth.order, truth.epsilon, truth.delta)
        sought = "delta" if name[0] == "delta" else "epsilon"
        good = same or math.isclose(getattr(found, sought), getattr(truth, sought), rel_tol=1e-6)
    else:
        good = False  # a proof, a replay or an exact value
    return "" if good else f"{name}: {found} instead of {truth}"


def disturbed(seconds: float, disturbers: int, *chosen: str) -> dict[str, Any]:
    """Evaluate views, again and again for so long, while others disturb; what is wrong, and how much was done."""
    views = all_views(*chosen)
    alone = {name: outcome(view) for name, view in views.items()}
    curve.cache_clear()
    others = [Disturber(seed) for seed in range(disturbers)]
    wrong, errors, equal, done = [], [], 0, 0
    for each in others:
        each.start()
    end = time.monotonic() + seconds
    try:
        while True:
            for result in in_threads(views, 2):
                for name, found in result.items():
                    wrong += filter(None, [doubt(name, found, alone[name])])
                    errors += [f"{name}: {found!r}"] if isinstance(found, HsdpError) else []
                    equal, done = equal + (found == alone[name]), done + 1
            if time.monotonic() > end:
                break
    finally:
        for each in others:
            each.stop()
    turns = min(each.turns for each in others)
    return {"wrong": wrong, "errors": errors, "equal": equal, "done": done, "turns": turns}


def check_disturbed(report: dict[str, Any]) -> None:
    assert report["wrong"] == []
    assert report["turns"] > 100
    assert report["errors"] == []  # an error would be honest, and is not needed
    assert report["equal"] > 0.9 * report["done"] > 0


@pytest.mark.parametrize("chosen", SOME_AND_ALL, ids=["some", "all"])
def test_values_hold_while_others_change_flint_and_mpmath(chosen):
    check_disturbed(apart(disturbed, 0.0, 2, *chosen))


@pytest.mark.slow
def test_all_values_hold_while_others_change_flint_and_mpmath_for_long():
    check_disturbed(apart(disturbed, 120.0, 3, *labels()))


class Forgetful(Arb):
    """Each operation leaves flint at two bits, as another thread might: what others compute is nearly worthless."""

    def add(self, x: Any, y: Any) -> Any:
        found = super().add(x, y)
        flint.ctx.prec = 2
        return found

    def mul(self, x: Any, y: Any) -> Any:
        found = super().mul(x, y)
        flint.ctx.prec = 2
        return found


@pytest.mark.parametrize("label", ["thm:shuffle", "shift:shuffle"])
def test_sums_of_very_many_terms_are_computed_by_the_engine_alone(label, monkeypatch):
    many = Setting(n=20_000, b=2, K=40, eta="0.0002", lam=1, beta=4, sigma=2, S_g=4)
    alone, before = statement(label).enclose(many, alpha=15), flint.ctx.prec
    monkeypatch.setitem(ENGINES_BY_NAME, "arb", Forgetful)
    try:
        assert statement(label).enclose(many, alpha=15) == alone
    finally:
        flint.ctx.prec = before


class TestWhatThreadsShare:
    def test_a_series_that_was_cut_short_is_an_error(self):
        engine = SeriesArb(96, 40)
        with engine.working():
            whole = engine.series([flint.arb(1), flint.arb(1)])
            assert len(engine.coefficients(engine.exp(whole))) == 40
            flint.ctx.cap = 7
            short = whole.exp()
            assert short.prec == 7
            with pytest.raises(SeriesShortened, match=r"flint\.ctx\.cap"):
                engine.coefficients(short)
            assert engine.exp(whole).prec == 40  # done again, with the length put right

    def test_a_length_that_is_never_left_alone_is_an_error(self):
        engine, tries = SeriesArb(96, 40), []

        def cut() -> Any:
            tries.append(None)
            flint.ctx.cap = 3
            return flint.arb_series([1, 1], 40).exp()

        with engine.working(), pytest.raises(SeriesShortened):
            engine.again(cut)
        assert len(tries) == MOST_TRIES

    def test_an_operation_is_done_again_at_the_right_precision(self):
        engine = Arb(500)
        third = Fraction(1, 3)
        operations = {
            "ball": lambda: engine.ball(third),
            "interval": lambda: engine.interval(third, third),
            "pi": engine.pi,
            "add": lambda: engine.add(flint.arb(1), engine.ball(third)),
            "mul": lambda: engine.mul(flint.arb(5), engine.ball(third)),
            "inverse": lambda: engine.inverse(flint.arb(3)),
            "power": lambda: engine.power(engine.ball(third), 3),
            "exp": lambda: engine.exp(flint.arb(1)),
            "log": lambda: engine.log(flint.arb(3)),
        }
        with flint.ctx.workprec(77):
            with engine.working():
                for name, operation in operations.items():
                    flint.ctx.prec = 10
                    assert operation().rel_accuracy_bits() > 490, name
                    flint.ctx.prec = 10
                    low, high = engine.bounds(operation())
                    assert high - low < Fraction(1, 2**480), name
            assert flint.ctx.prec == 10  # what the others wanted last, not what they wanted before
            flint.ctx.prec = 77

    def test_settings_that_others_choose_meanwhile_are_kept(self):
        with flint.ctx.workprec(77):
            with Arb(96).working():
                flint.ctx.prec = 321
            assert flint.ctx.prec == 321
            flint.ctx.prec = 77
            with Arb(96).working(), Arb(192).working():
                pass
            assert flint.ctx.prec == 77

    def test_the_constants_of_mpmath_are_our_own(self):
        own, theirs = _elementary(), mpmath.libmp.libelefun
        for name in ("ln2_fixed", "pi_fixed", "e_fixed", "mpf_exp", "mpf_log", "mpf_pi"):
            assert getattr(own, name) is not getattr(theirs, name)
        assert own.log_taylor_cache is not theirs.log_taylor_cache
        assert own not in sys.modules.values()

    def test_wrong_constants_of_mpmath_do_not_reach_us(self, monkeypatch):
        """What two threads can leave behind: the digits of one precision with the length of another."""
        monkeypatch.setattr(memory_of("ln2_fixed"), "memo_val", mpmath.libmp.libelefun.ln2_fixed(1000))
        monkeypatch.setattr(memory_of("ln2_fixed"), "memo_prec", 999)
        arb, engine = Arb(200), PaddedMpmath(100)
        with arb.working():
            truth = Enclosure(*arb.bounds(arb.exp(arb.ball(Fraction(100)))))
        found = engine.exp(engine.ball(Fraction(100)))
        assert Enclosure(*engine.bounds(found)).overlaps(truth)
        theirs = mpmath.libmp.mpf_exp(mpmath.libmp.from_int(100), 100)
        assert not Enclosure(*engine.bounds((theirs, theirs))).overlaps(Enclosure(truth.lo / 2, truth.hi * 2))

    def test_a_child_process_can_compute(self):
        """Forked while another thread has its turn, it does not wait for that thread for ever."""
        waiting, over = threading.Event(), threading.Event()

        def hold() -> None:
            with TURN:
                waiting.set()
                over.wait(0.2)

        holder = threading.Thread(target=hold)
        holder.start()
        waiting.wait()
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            assert pool.submit(_exponential).result(timeout=30) > 2.718
        holder.join()


def _exponential() -> float:
    with Arb(96).working():
        return float(flint.arb(1).exp())
