"""Claims in the proof of `thm:strconvexsmooth`."""

from __future__ import annotations

from sympy import Integer

from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.checks import Certificate, Slack
from hsdp_symbolic.symbols import A_epoch, K, N, m, p, q

from ..claim import Claim, Group


def groups() -> tuple[Group, ...]:
    return (_dropped_factor,)


def _dropped_factor() -> list[Claim]:
    decay = q ** (2 * (N - m))
    epochs = GeometricSum(decay, K - 1)
    return [
        Claim(
            id="thm:strconvexsmooth/dropped-factor",
            consequence="loose",
            label="thm:strconvexsmooth",
            where="Appendix D.5, eqn:proofstrconvexsmooth_K_minus_1_0_aux",
            says="with k = K−2 the line above, which has a factor q^(2(N−m)), is at most this one, which has not",
            printed=Certificate(
                A_epoch * decay * epochs,
                A_epoch * epochs,
                ((A_epoch * epochs * (1 - q**2), Slack(GeometricSum(q**2, N - m), "a sum of positive powers")),),
                {q: Integer(1) / (1 + p)},
            ),
            sharper="keep the factor q^(2(N−m)) that the proof has earned",
        )
    ]
