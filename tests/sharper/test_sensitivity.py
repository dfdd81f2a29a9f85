"""Clipped gradients of two records: none are farther apart than is proved, and some are as far apart."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import HypothesisError
from hsdp_symbolic.lemmas import LEMMAS
from hsdp_symbolic.proof.kernel import Refused, apply, assume, closed
from hsdp_symbolic.proof.propositions import AtMost
from hsdp_symbolic.sharper import clipped_logistic, sensitivity
from hsdp_symbolic.symbols import L, S_g, bias, radius

Array = NDArray[np.float64]


def clipped(gradients: Array, clip: Array) -> Array:
    norms = np.sqrt((gradients**2).sum(axis=(-2, -1), keepdims=True))
    return gradients * np.minimum(1, clip[:, None, None] / np.maximum(norms, 1e-300))


def distance(one: Array, other: Array) -> Array:
    return np.sqrt(((one - other) ** 2).sum(axis=(-2, -1)))


def softmax_gradients(
    rng: np.random.Generator, count: int, classes: int, spread: float, bias: int
) -> tuple[Array, Array, Array]:
    """Gradients of a record, of the same with another label, and of another record; ‖x‖ ≤ 1, then a 1 if bias = 1."""
    theta = rng.normal(size=(count, classes, 3 + bias)) * spread

    def record() -> Array:
        x = rng.normal(size=(count, 3))
        x /= np.linalg.norm(x, axis=1, keepdims=True) * rng.choice([1, 1, 3], (count, 1))
        return np.concatenate([x, np.ones((count, bias))], axis=1)

    def gradient(x: Array, label: Array) -> Array:
        scores = np.einsum("nij,nj->ni", theta, x)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return (p - np.eye(classes)[label])[:, :, None] * x[:, None, :]

    x, label = record(), rng.integers(classes, size=count)
    another = (label + rng.integers(1, classes, size=count)) % classes
    opposite = -x * [1, 1, 1, -1] if bias else x / 2  # where gradients for another label point the other way
    return gradient(x, label), gradient(x, another), gradient(opposite, another)


class TestSoftmax:
    @pytest.mark.parametrize("bias", [0, 1])
    @pytest.mark.parametrize("classes", [2, 3, 10])
    def test_none_are_farther_apart(self, classes, bias):
        found = statement("gradient:softmax")
        longest = float(found.enclose(Setting(), L=1, bias=bias).hi)
        rng = np.random.default_rng(classes)
        met = []
        for spread in (0.01, 1, 30):
            clip = 10 ** rng.uniform(-1, 1, 4000)
            own, relabelled, other = softmax_gradients(rng, 4000, classes, spread, bias)
            cut, cut_label, cut_other = (clipped(each, clip) for each in (own, relabelled, other))
            bounds = np.minimum(clip, longest)
            ratios = [
                distance(cut, 0 * cut) / bounds,
                distance(cut, cut_other) / (2 * bounds),
                distance(cut, cut_label) / np.minimum(2 * clip, longest),
            ]
            assert max(each.max() for each in ratios) <= 1 + 1e-12
            met.append([each.max() for each in ratios])
            assert (distance(own, relabelled) >= 0.9 * longest).any()
        assert (np.max(met, axis=0) > [0.999, 0.9, 0.999]).all()


class TestLogistic:
    def gradients(self, rng, count):
        """With ‖x‖ = 1 and no bias: of a record, of the other label, and clip norms."""
        theta, x = rng.normal(size=(2, count, 3)) * [[[3]], [[1]]]
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        score = (theta * x).sum(axis=1)
        wrong = 1 / (1 + np.exp(score))
        return (-wrong[:, None] * x)[:, None], ((1 - wrong)[:, None] * x)[:, None], 10 ** rng.uniform(-1, 0.5, count)

    def test_none_are_farther_apart(self):
        own, other, clip = self.gradients(np.random.default_rng(3), 20_000)
        longest = float(statement("gradient:logistic").enclose(Setting(), L=1, bias=0).hi)
        assert longest == pytest.approx(1, abs=1e-15)
        apart = distance(clipped(own, clip), clipped(other, clip)) / np.minimum(2 * clip, longest)
        assert apart.max() <= 1 + 1e-12
        assert (apart > 1 - 1e-9).mean() > 0.3  # attained: that the two slopes differ by 1 is an identity
        assert (apart > 0.9 / 0.99).any()  # a bound smaller by a tenth is exceeded

    def test_what_takes_a_place_beside_it(self):
        found = statement("gradient:logistic")
        (labels,) = found.beside
        assert labels.proposition.value == found.expr
        assert "two labels" in str(labels.proposition)


class TestClipAwareSmoothness:
    def test_no_clipped_gradient_rises_faster(self):
        """Along x, where it rises most: 300 records and clip norms, in each 4000 scores and where clipping begins."""
        rng, met = np.random.default_rng(7), []
        for _ in range(300):
            length = 10 ** rng.uniform(-1, 1)
            clip = length * rng.uniform(0.02, 0.5)
            begins = np.log(length / clip - 1)
            scores = np.sort(np.concatenate([rng.uniform(-8, 8, 4000), begins + np.array([0, 1e-5, 1e-4])]))
            scores = scores[np.diff(scores, prepend=-99) > 1e-9]
            cut = np.minimum(length / (1 + np.exp(scores)), clip)
            rises = -np.diff(cut) / (np.diff(scores) / length)
            bound = float(statement("clip:logistic").enclose(Setting(S_g=2 * clip), L=length, bias=0).hi)
            assert bound <= length**2 / 4 * (1 + 1e-12)
            met.append(rises.max() / bound)
        assert max(met) <= 1 + 1e-6
        assert min(met) > 0.95  # every one of them is nearly attained

    def test_any_two_points(self):
        """In three dimensions, shorter records too."""
        rng = np.random.default_rng(8)
        one, other = rng.normal(size=(2, 50_000, 3)) * 4
        x = rng.normal(size=(50_000, 3))
        x *= (rng.uniform(0.2, 1, 50_000) / np.linalg.norm(x, axis=1))[:, None]
        for clip in (0.05, 0.2, 0.45):
            cut = [
                np.minimum(1 / (1 + np.exp((at * x).sum(axis=1))), clip / np.linalg.norm(x, axis=1))
                for at in (one, other)
            ]
            moved = np.abs(cut[0] - cut[1]) * np.linalg.norm(x, axis=1) / np.linalg.norm(one - other, axis=1)
            bound = float(statement("clip:logistic").enclose(Setting(S_g=2 * clip), L=1, bias=0).hi)
            assert moved.max() <= bound
            assert bound == pytest.approx(clip * (1 - clip))

    def test_only_for_small_clip_norms(self):
        with pytest.raises(HypothesisError):
            statement("clip:logistic").enclose(Setting(S_g="1.01"), L=1, bias=0)

    def test_a_larger_clip_norm_proves_nothing(self, monkeypatch):
        """If gradients of up to 2C were kept, there would be no proof."""
        monkeypatch.setattr(clipped_logistic, "CLIP", S_g)
        clipped_logistic._curvature.cache_clear()
        try:
            with pytest.raises(Refused):
                clipped_logistic._curvature()
        finally:
            monkeypatch.undo()
            clipped_logistic._curvature.cache_clear()


class TestProofs:
    @pytest.mark.parametrize("name", [each.name for each in LEMMAS if "sensitivity" in each.place])
    def test_lemmas(self, name):
        (lemma,) = (each for each in LEMMAS if each.name == name)
        found = lemma.theorem()
        assert closed(found)
        assert len(found.hypotheses) == (0 if name.endswith("clip") else 1)

    @pytest.mark.parametrize("way", [sensitivity.replaced_by_clip, sensitivity.left_out_by_clip])
    def test_a_smaller_distance_is_not_proved(self, way, monkeypatch):
        half = sensitivity._apart
        monkeypatch.setattr(sensitivity, "_apart", lambda way, size, *rest, **more: half(way, size / 2, *rest, **more))
        way.cache_clear()
        try:
            with pytest.raises(Refused):
                way()
        finally:
            way.cache_clear()

    def test_shorter_inputs_are_not_assumed(self):
        at = sensitivity.logistic_point()
        bounded = apply(sensitivity.logistic_input, at)
        assert bounded.proposition == AtMost(radius**2, L**2 + bias)
        with pytest.raises(Refused):
            apply(sensitivity.logistic_input, assume(AtMost(radius**2, L**2)))
