"""The letters a user may pass: names, meanings and ranges, as plain data.

No SymPy here, so that the command line can build its options without importing it; `symbols.py`
makes the SymPy symbols of the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Letter:
    """One letter of the paper: `low` is the least admissible value (excluded if `strict`)."""

    name: str
    tex: str
    meaning: str
    integer: bool = False
    low: int = 0
    strict: bool = True
    high: int | None = None

    def describe_range(self) -> str:
        """The admissible values in words, e.g. `a whole number from 1 to 10^30`."""
        if self.integer:
            top = "" if self.high is None else f" to {self.high if self.high < 100 else f'10^{LARGEST_EXPONENT}'}"
            return f"a whole number from {self.low}{top}"
        return f"a finite number {'>' if self.strict else '>='} {self.low}"

    def admits(self, value: Fraction) -> bool:
        if self.integer and (value.denominator != 1 or (self.high is not None and value > self.high)):
            return False
        return value > self.low if self.strict else value >= self.low


LARGEST_EXPONENT = 30
"""Whole numbers go up to 10^30: more than any run needs, and exponents still fit in two machine words."""


def _whole(name: str, tex: str, meaning: str, low: int, high: int = 10**LARGEST_EXPONENT) -> Letter:
    return Letter(name, tex, meaning, integer=True, low=low, strict=False, high=high)


PARAMETERS = (
    _whole("n", "n", "size of the dataset", 1),
    _whole("b", "b", "size of a mini-batch", 1),
    _whole("K", "K", "number of epochs", 1),
    Letter("eta", r"\eta", "step size"),
    Letter("lam", r"\lambda", "strong convexity of the loss"),
    Letter("beta", r"\beta", "smoothness of the loss"),
    Letter("sigma", r"\sigma", "noise scale: each step adds N(0, 2 eta sigma^2 I)"),
    Letter("S_g", "S_g", "l2-sensitivity of the total gradient (replace one record)", strict=False),
    Letter("lipschitz", "c", "a Lipschitz constant of the update, at least 1", low=1, strict=False),
)
"""What describes a training run: the fields of `Setting`."""

ARGUMENTS = (
    Letter("alpha", r"\alpha", "order of the Rényi divergence", low=1),
    _whole("j0", "j_0", "index of the mini-batch that holds the differing record, from 0", 0),
    _whole("j", "j", "iteration within an epoch", 0),
    _whole("k", "k", "epoch, from 0", 0),
    Letter("t", "t", "diffusion time within a step", strict=False),
    Letter("c", "c", "log-Sobolev constant before the step"),
    Letter("L", "L", "Lipschitz constant of the update map (logistic regression: clip norm of the features)"),
    Letter("R", r"R_\alpha", "Rényi divergence of order alpha", strict=False),
    Letter("dR", r"\partial_\alpha R_\alpha", "derivative of the Rényi divergence in the order", strict=False),
    Letter("u", "u", "Rényi divergence divided by its order", strict=False),
    Letter("R1", r"R_\alpha(\mu_1\Vert\nu_1)", "Rényi divergence of the first pair of components", strict=False),
    Letter("R2", r"R_\alpha(\mu_2\Vert\nu_2)", "Rényi divergence of the second pair of components", strict=False),
    Letter("w1", "p_1", "weight of the first component, between 0 and 1"),
    Letter("sigma_mul", r"\sigma_{mul}", "noise multiplier: noise standard deviation over clip norm"),
    _whole("classes", "c", "number of classes", 2),
    Letter("kappa", r"\kappa", "Lipschitz constant of φ', for a loss φ(x·θ)"),
    Letter("slope", r"s_\varphi", "largest |φ'|, for a loss φ(x·θ)"),
    Letter("beta0", r"\beta_0", "smoothness of what is clipped: a record's loss, regularised or not"),
    Letter("lam0", r"\lambda_0", "the regulariser adds lam0*theta after clipping; 0 if none does", strict=False),
    _whole("bias", r"\mathrm{bias}", "1 if a constant 1 is appended to the features, else 0", 0, 1),
    Letter("eps_norm", r"\varepsilon_{norm}", "Rényi cost of normalising the features", strict=False),
    Letter("removed", "a", "distance that the noise of a step is made to hide, in units of eta*S_g/b", strict=False),
    Letter("delta", r"\delta", "probability with which ε may be exceeded, at most 1"),
    Letter("epsilon", r"\varepsilon", "privacy loss ε of (ε, δ)-differential privacy", strict=False),
    _whole("T", "T", "number of steps (K*floor(n/b) if it is not given)", 1),
    _whole("window", r"\nu", "number of last steps that keep secret whether they used the record, or drift", 1),
    Letter("share", "g", "share of the last step's noise that hides whether it used the record, below 1"),
    _whole("known", "m", "number of last epochs in which the record's place is averaged over, or kept secret", 1),
    _whole("degree", r"d", "a whole order of the Rényi divergence, less 1", 1),
    _whole("split", "m", "number of updates after which every epoch is split in two", 1),
    _whole("forgetting", "r", "number of steps after training that leave the record out", 1),
    Letter("noise_ratio", "w", "variance of the noise in the steps after training, over that in training"),
    _whole("hit", r"\mathrm{hit}", "1 if the batch holds the differing record, else 0", 0, 1),
)
"""What a statement may ask for besides the run."""

LETTERS = {letter.name: letter for letter in PARAMETERS + ARGUMENTS}
