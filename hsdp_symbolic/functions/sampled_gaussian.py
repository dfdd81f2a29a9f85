"""The log-moment of the sampled Gaussian mechanism."""

from __future__ import annotations

from sympy import Function


class SampledGaussian(Function):
    """log E[((1 − p) + p·e^(2xρ' − …))^α]: the log-moment of the sampled Gaussian mechanism (Mironov et al. 2019).

    p is the sampling rate, ρ = 1/(2·noise²), α the order: log Σ_k C(α, k) (1−p)^(α−k) p^k e^(ρk(k−1)) for whole α.
    """

    nargs = 3  # p, rho, alpha
