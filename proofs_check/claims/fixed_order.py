"""Claims in the proof of `thm:strconvexsmooth`."""

from __future__ import annotations

from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.checks import Certificate
from hsdp_symbolic.symbols import A_epoch, K, m_rest, q

from ..claim import Claim, Group


def groups() -> tuple[Group, ...]:
    return (_dropped_factor,)


def _dropped_factor() -> list[Claim]:
    decay = q ** (2 * m_rest)  # N − m = ⌈N/2⌉ batches
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
                ((A_epoch * epochs * (1 + q) * GeometricSum(q**2, m_rest), q < 1),),
                (q < 1,),
            ),
            sharper="keep the factor q^(2(N−m)) that the proof has earned",
        )
    ]
