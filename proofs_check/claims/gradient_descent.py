"""Claims in the comparison of `thm:GD_tighter` with `thm:GD_baseline`."""

from __future__ import annotations

from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.checks import Identity
from hsdp_symbolic.symbols import K, e_half

from ..claim import Claim, Group


def groups() -> tuple[Group, ...]:
    return (_geometric_sum,)


def _geometric_sum() -> list[Claim]:
    total = GeometricSum(e_half, K)  # e stands for e^(−ηλ/2)
    return [
        Claim(
            id="thm:GD_baseline/geometric-sum",
            consequence="formula",
            label="thm:GD_baseline",
            where="Appendix D.7, eqn:GD_tighter_relax_ex",
            says="Σ_(k<K) e^(−ηλk/2) = (1 − e^(−ληK))/(1 − e^(−ηλ/2))",
            printed=Identity(total, (1 - e_half ** (2 * K)) / (1 - e_half), (e_half < 1,)),
            corrected=Identity(total, (1 - e_half**K) / (1 - e_half), (e_half < 1,)),
            correction="the exponent in the numerator is −ληK/2, here and in the two lines after",
        )
    ]
