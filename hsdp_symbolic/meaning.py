"""What a statement is about, as types: how batches are made, who the neighbours are, what is seen, what is bounded.

Code decides by these and by nothing else; the sentences a reader sees are made from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, auto


class Scheme(StrEnum):
    """How the batches of an algorithm are made."""

    NONE = ""
    """For a lemma, which bounds no algorithm."""
    FIXED = "fixed"
    """The same batches in the same order in every epoch."""
    SHUFFLE = "shuffle"
    """As FIXED, after the records have been shuffled once."""
    RESHUFFLE = "reshuffle"
    """The records are shuffled anew for every epoch."""
    WITHOUT_REPLACEMENT = "without_replacement"
    """Every step draws b different records from all of them."""
    FULL_BATCH = "full_batch"
    """Every step uses all records."""
    POISSON = "poisson"
    """Every step draws each record independently, all with the same chance."""
    BALLS_IN_BINS = "balls_in_bins"
    """Every record picks one batch of each epoch by itself, so that batches differ in size; shuffling does not do that:
    there the others move when a record moves, and bounds for this scheme are false."""

    @property
    def draws_afresh(self) -> bool:
        """Whether every step draws its batch from all records, so that no step belongs to an epoch."""
        return self in (Scheme.WITHOUT_REPLACEMENT, Scheme.POISSON)

    @property
    def leaves_sizes_to_chance(self) -> bool:
        """Whether every record draws its batches by itself, so that batches differ in size."""
        return self in (Scheme.POISSON, Scheme.BALLS_IN_BINS)

    @property
    def goes_through_epochs(self) -> bool:
        """Whether an epoch takes the records in turn, each at most once."""
        return self in (Scheme.FIXED, Scheme.SHUFFLE, Scheme.RESHUFFLE)

    @property
    def neighbours(self) -> tuple[Neighbouring, ...]:
        """The neighbouring relations under which runs can be accounted for, the usual one first."""
        replaced = Neighbouring.REPLACE_ONE, Neighbouring.LABEL_ONLY
        if self is Scheme.BALLS_IN_BINS:
            return Neighbouring.ADD_REMOVE, Neighbouring.ZERO_OUT
        if self is Scheme.POISSON:
            return Neighbouring.ADD_REMOVE, *replaced, Neighbouring.ZERO_OUT
        return *replaced, Neighbouring.ZERO_OUT

    def stated_for(self, relation: Neighbouring) -> Neighbouring:
        """The relation of the statements that hold under `relation`.

        A label that differs is a record replaced. A record whose gradient is left out is one without gradient in its
        place; where every record draws its batches by itself, that is as if it were not there.
        """
        if relation is Neighbouring.LABEL_ONLY:
            return Neighbouring.REPLACE_ONE
        if relation is Neighbouring.ZERO_OUT:
            return Neighbouring.ADD_REMOVE if self.leaves_sizes_to_chance else Neighbouring.REPLACE_ONE
        return relation


SCHEMES = tuple(scheme for scheme in Scheme if scheme is not Scheme.NONE)
"""The ways of making batches that a run may have."""


class Neighbouring(StrEnum):
    """Which pairs of datasets must be hard to tell apart."""

    REPLACE_ONE = "replace_one"
    ADD_REMOVE = "add_remove"
    LABEL_ONLY = "label_only"
    """One record has another label."""
    ZERO_OUT = "zero_out"
    """The gradient of one record is left out wherever it would be used; batches and divisor stay as they are."""

    @property
    def words(self) -> str:
        return f"neighbouring datasets differ in one record, {_RELATION_WORDS[self]}"


_RELATION_WORDS = {
    Neighbouring.REPLACE_ONE: "replaced",
    Neighbouring.ADD_REMOVE: "added or removed",
    Neighbouring.LABEL_ONLY: "in its label alone",
    Neighbouring.ZERO_OUT: "whose gradient is left out (batches and divisor are the same)",
}


class Released(StrEnum):
    """Which iterates may be seen."""

    LAST = "last"
    EVERY = "every"

    @property
    def words(self) -> str:
        return "only the last iterate is released" if self is Released.LAST else "every iterate may be released"


class Quantity(StrEnum):
    """What a statement bounds."""

    DIVERGENCE = auto()
    """The Rényi divergence of what a run releases: the ε of (α, ε)-Rényi differential privacy."""
    DIVERGENCE_ADDED = auto()
    """What one step adds to a Rényi divergence."""
    DIVERGENCE_STEP = auto()
    """What becomes of a Rényi divergence in one step, or in part of one."""
    DIVERGENCE_MIXTURE = auto()
    """The Rényi divergence of two mixtures."""
    INFORMATION = auto()
    """The information I_α/E_α of Appendix D of the paper."""
    LOG_SOBOLEV = auto()
    """The constant of a log-Sobolev inequality."""
    GAUSSIAN = auto()
    """μ² of Gaussian differential privacy: what a run releases is as hard to tell apart as N(0, 1) and N(μ, 1)."""
    EPSILON = auto()
    """The ε of (ε, δ)-differential privacy."""
    DELTA = auto()
    """The δ of (ε, δ)-differential privacy; as a function of ε, a profile."""
    SMOOTHNESS = auto()
    """The β of a loss."""
    CONVEXITY = auto()
    """The λ of a strongly convex loss."""
    CONTRACTION = auto()
    """A λ′ for which the update is (1 − ηλ′)-Lipschitz."""
    LIPSCHITZ = auto()
    """A Lipschitz constant of the update."""

    @property
    def words(self) -> str:
        return _QUANTITY_WORDS[self]


_QUANTITY_WORDS = {
    Quantity.DIVERGENCE: "a Rényi divergence",
    Quantity.DIVERGENCE_ADDED: "what a step adds to a Rényi divergence",
    Quantity.DIVERGENCE_STEP: "a Rényi divergence within a step",
    Quantity.DIVERGENCE_MIXTURE: "a Rényi divergence of mixtures",
    Quantity.INFORMATION: "the information I/E",
    Quantity.LOG_SOBOLEV: "a log-Sobolev constant",
    Quantity.GAUSSIAN: "μ² of Gaussian differential privacy",
    Quantity.EPSILON: "the ε of (ε, δ)",
    Quantity.DELTA: "the δ of (ε, δ)",
    Quantity.SMOOTHNESS: "the smoothness of a loss",
    Quantity.CONVEXITY: "the strong convexity of a loss",
    Quantity.CONTRACTION: "a rate of contraction",
}


OF_A_RUN = (Quantity.DIVERGENCE, Quantity.GAUSSIAN, Quantity.DELTA)
"""What a bound on a whole run may bound."""
PROFILES = (Quantity.GAUSSIAN, Quantity.DELTA)
"""Those of them that give δ for every ε by themselves, without an order to be chosen."""


class Sensitivity(StrEnum):
    """Whose gradients S_g bounds."""

    DIFFERING = auto()
    """Those of the two records in which the datasets differ."""
    ANY_TWO = auto()
    """Those of any two records: a record that is drawn takes the place of any other."""
    LEFT_OUT = auto()
    """Those of the two records, and each record's own: a record that is drawn takes nobody's place."""

    def words(self, neighbouring: Neighbouring) -> str:
        if neighbouring is Neighbouring.ADD_REMOVE:
            return "the gradient of every record has norm at most S_g"
        if self is Sensitivity.ANY_TWO:
            return "the gradients of any two records, not only of the two that differ, are at most S_g apart"
        if self is Sensitivity.LEFT_OUT:
            return "total gradients have l2-sensitivity S_g, and the gradient of every record has norm at most S_g"
        return "total gradients have l2-sensitivity S_g"


class Asks(StrEnum):
    """What a bound on a run asks of the update, besides bounded gradients."""

    NOTHING = auto()
    """Composition: each step is a Gaussian mechanism, whatever is done with what it released."""
    CONTRACTION = auto()
    """The update is (1 − ηλ)-Lipschitz; where the loss is smooth and strongly convex, it is."""
    SIZED_CONTRACTION = auto()
    """The update of any batch of at most so many records is (1 − ηλ)-Lipschitz, sums being divided by one number.

    That is so where every record's loss is convex and smooth and λ comes from a regulariser of its own.
    """
    LIPSCHITZ = auto()
    """The update is c-Lipschitz, and nothing else: c may be 1 or more, so that nothing need contract."""
    STRONGLY_CONVEX = auto()
    CONVEX = auto()
    SOFTMAX = auto()
    """Clipped logistic regression as in Section 5 of the paper."""

    def words(self, neighbouring: Neighbouring, sensitivity: Sensitivity = Sensitivity.DIFFERING) -> str:
        bounded = sensitivity.words(neighbouring)
        if self is Asks.SOFTMAX:
            return FEATURES
        if self is Asks.NOTHING:
            return bounded
        if self is Asks.SIZED_CONTRACTION:
            kind = "every record's loss is convex and (β − λ)-smooth, and a regulariser adds λθ to every step"
            return f"{kind}; {bounded}"
        if self is Asks.LIPSCHITZ:
            return f"the update is c-Lipschitz, whatever the losses are; {bounded}"
        kind = "convex" if self is Asks.CONVEX else "λ-strongly convex"
        return f"the loss of every record is β-smooth and {kind}; {bounded}"


ONE_DIVISOR = "sums of gradients are divided by one number, however many records are in a batch"
FEATURES = "features are clipped to norm L and a constant 1 is appended; labels are one-hot"


@dataclass(frozen=True)
class Terms:
    """The terms on which a statement bounds a run."""

    neighbouring: Neighbouring
    released: Released
    asks: Asks
    sensitivity: Sensitivity = Sensitivity.DIFFERING

    @property
    def words(self) -> tuple[str, ...]:
        asked = self.asks.words(self.neighbouring, self.sensitivity)
        return asked, f"{self.released.words}; {self.neighbouring.words}"
