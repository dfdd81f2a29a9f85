"""A recursion that multiplies."""

from __future__ import annotations

from sympy import Function


class Compounded(Function):
    """u after `count` steps of u ← factor(k)·(u + cost), k = 0, 1, …, from u = 0; `factor` is given in `index`.

    The derivation that uses it proves that the factor increases with k and stays below `limit` < 1.
    """

    nargs = 5  # factor, index, cost, count, limit
