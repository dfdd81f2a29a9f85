"""A recursion that adds."""

from __future__ import annotations

from sympy import Function


class Accumulated(Function):
    """s after `count` steps of s ← s + increment(s) from s = 0; `increment` is given in `state`.

    The derivation that uses it proves what the views lean on: the map s ↦ s + increment(s) is increasing and convex,
    its increment decreasing; and wherever `room` is positive, s stays below the fixed point `ceiling`, at which the
    slope of the map is 1 − `gain`.
    """

    nargs = 6  # increment, state, count, room, ceiling, gain
