"""Claims in the text around `lem:recursive`."""

from __future__ import annotations

from hsdp_symbolic.proof.checks import Definition, Identity
from hsdp_symbolic.symbols import R, S_g, alpha, b, eta, sigma2

from ..claim import Claim, Group


def groups() -> tuple[Group, ...]:
    return (_composition,)


def _composition() -> list[Claim]:
    gaussian_cost = eta**2 * (S_g / b) ** 2 / (2 * 2 * eta * sigma2)
    claimed = R + alpha * eta * S_g**2 / (4 * sigma2 * b**2)
    return [
        Claim(
            id="lem:recursive/composition",
            consequence="formula",
            label="lem:recursive",
            where="Appendix D.2, last display",
            says="R_α + η²(S_g/b)²/(2·2ησ²) = R_α + αηS_g²/(4σ²b²)",
            printed=Identity(R + gaussian_cost, claimed),
            corrected=Definition(R + alpha * gaussian_cost, claimed),
            correction="the left side lacks the factor α",
        )
    ]
