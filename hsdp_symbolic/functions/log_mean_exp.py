"""The logarithm of a mean of exponentials."""

from __future__ import annotations

from sympy import Function


class LogMeanExp(Function):
    """log of the mean of e^body over index = 1, …, count.

    The body must be completely monotone in the index, a nonnegative mixture of decaying exponentials; the derivation
    that uses it proves so. The views lean on it: the first term is the largest, and `means` sums the rest. A body
    with `CyclicShifts` in the index is two such functions, joined where its edges pool.
    """

    nargs = 3  # body, index, count
