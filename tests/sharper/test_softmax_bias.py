"""Softmax regression without a bias: real records against the constants that are claimed of them, and with a bias."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from sympy import Rational, simplify

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import HypothesisError
from hsdp_symbolic.symbols import bias

ROUNDING = 1e-6
DRAWS = 400


class Draw:
    """A record with ‖x‖ = L or less, parameters, a step, a clip norm, and other parameters not far away."""

    def __init__(self, rng: np.random.Generator, appended: int, classes: int) -> None:
        self.L = float(rng.uniform(0.3, 3))
        x = rng.normal(size=2)
        x *= self.L * rng.choice([1, 1, 0.5]) / np.linalg.norm(x)
        self.inputs = np.append(x, [1.0] * appended)
        self.clip, self.decay = float(10 ** rng.uniform(-1.5, 0.7)), float(10 ** rng.uniform(-2, 0))
        self.eta = float(rng.uniform(0.05, 0.99) * min(1 / self.decay, 2 / (self.L**2 / 2 + 2 * self.decay)))
        self.label = int(rng.integers(classes))
        self.theta = rng.normal(size=(classes, len(self.inputs))) * 10 ** rng.uniform(-2, 1)
        self.other = self.theta + self.near(rng, classes)

    def near(self, rng: np.random.Generator, classes: int) -> np.ndarray:
        """Mostly along x̄, where a loss is steepest."""
        along = np.outer(rng.normal(size=classes), self.inputs)
        return (along + rng.normal(size=along.shape) * rng.choice([0, 0.1])) * 10 ** rng.uniform(-4, 0)

    def gradient(self, theta: np.ndarray, clip: float) -> np.ndarray:
        scores = theta @ self.inputs
        p = np.exp(scores - scores.max())
        p /= p.sum()
        p[self.label] -= 1
        found = np.outer(p, self.inputs)
        return found * min(1.0, clip / np.linalg.norm(found))

    def moved(self, decay: float, eta: float, clip: float) -> float:
        """How far apart (1 − ηλ)θ − ηg(θ) takes the two, for each unit that they are apart."""
        apart = self.theta - self.other
        change = self.gradient(self.theta, clip) - self.gradient(self.other, clip)
        return float(np.linalg.norm((1 - eta * decay) * apart - eta * change) / np.linalg.norm(apart))

    def constant(self, appended: int) -> float:
        """The least constant of a step by clipped gradients, for any number of classes."""
        setting = Setting(eta=self.eta, S_g=2 * self.clip, lam=self.decay)
        smooth = statement("smooth:softmax").exact(setting, L=self.L, bias=appended)
        found = []
        for label, letters in (("clip:convex", {"beta0": smooth}), ("clip:softmax", {"L": self.L, "bias": appended})):
            with suppress(HypothesisError):
                found.append(float(statement(label).enclose(setting, lam0=self.decay, rtol="1e-9", **letters).hi))
        return min(found, default=np.inf)


def draws(appended: int, classes: int | None = None) -> list[Draw]:
    rng = np.random.default_rng(appended)
    return [Draw(rng, appended, classes or int(rng.integers(2, 6))) for _ in range(DRAWS)]


@pytest.mark.parametrize("appended", [0, 1])
class TestNoMoreThanClaimed:
    def test_gradients_before_clipping(self, appended):
        found, worst = statement("smooth:softmax"), 0.0
        for draw in draws(appended):
            smooth = float(found.exact(Setting(), L=draw.L, bias=appended))
            rises = draw.moved(0, 1e9, 1e9) / 1e9  # the change of θ itself is nothing beside it
            assert rises <= smooth + ROUNDING
            worst = max(worst, rises / smooth)
        assert worst > 0.9

    def test_clipped_steps(self, appended):
        bent = 0
        for draw in draws(appended):
            seen = draw.moved(draw.decay, draw.eta, draw.clip)
            assert seen <= draw.constant(appended) + ROUNDING
            bent += seen > 1 - draw.eta * draw.decay + ROUNDING
        assert bent  # 1 − ηλ does not hold

    def test_two_classes_contract(self, appended):
        keeps, seen = statement("clip:softmax:convex"), 0
        for draw in draws(appended, 2):
            setting = Setting(lam=draw.decay, S_g=2 * draw.clip, eta=draw.eta)
            upper = float(keeps.exact(setting, classes=2, L=draw.L, bias=appended))
            eta = 2 / (upper + draw.decay) * 0.999
            assert draw.moved(draw.decay, eta, draw.clip) <= 1 - eta * draw.decay + ROUNDING
            seen += draw.moved(draw.decay, 1.5 * eta, draw.clip) > 1 - 1.5 * eta * draw.decay + ROUNDING
        assert seen  # a step longer by half is too long

    def test_never_bites(self, appended):
        keeps = statement("clip:softmax:convex")
        for L in ("0.5", 1, 3):
            longest = (2 * (Rational(L) ** 2 + appended)) ** Rational(1, 2)
            enough, short = (Setting(lam=1, S_g=2 * float(longest) * each) for each in (1.001, 0.999))
            keeps.exact(enough, classes=3, L=L, bias=appended)
            with pytest.raises(HypothesisError):
                keeps.exact(short, classes=3, L=L, bias=appended)


def test_with_a_bias_more_is_needed():
    """Records with a 1 appended exceed what holds without it, clipped and not."""
    found = statement("smooth:softmax")
    steep = [each.moved(0, 1e9, 1e9) / 1e9 > float(found.exact(Setting(), L=each.L, bias=0)) for each in draws(1)]
    assert any(steep)
    assert any(each.moved(each.decay, each.eta, each.clip) > each.constant(0) + ROUNDING for each in draws(1))


@pytest.mark.parametrize(
    ("printed", "general"), [("prop:smooth", "smooth:softmax"), ("prop:smooth_strcvx_clip", "clip:softmax:convex")]
)
def test_the_paper_appends_one(printed, general):
    paper, ours = statement(printed), statement(general)
    assert simplify(ours.expr.subs(bias, 1) - paper.expr) == 0
    assert [each.subs(bias, 1) for each in ours.hypotheses] == list(paper.hypotheses)
