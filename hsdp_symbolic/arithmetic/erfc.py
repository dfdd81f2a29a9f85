"""Two sums that give the complementary error function, between integers: what each leaves out is bounded.

For x > 0 and t = 2x²,

    erf(x)  = 2x·e^(−x²)/√π · (1 + t/3 + t²/(3·5) + t³/(3·5·7) + …)
    erfc(x) = e^(−x²)/(x√π) · (1 − 1/t + 1·3/t² − 1·3·5/t³ + …)

All terms of the first are positive. The second does not converge, but the truth lies between any two successive partial
sums (DLMF 7.6.2 and 7.12.1).
"""

from __future__ import annotations

Bracket = tuple[int, int]
"""A lower and an upper bound, in units of 2^−bits."""


def ascending(t: Bracket, bits: int) -> Bracket:
    """1 + t/3 + t²/(3·5) + …"""
    one = 1 << bits
    low, high = one, one
    sums = [one, one]
    divisor = 3
    while True:
        low = (low * t[0] >> bits) // divisor
        high = -((-high * t[1] >> bits) // divisor)
        sums[0] += low
        sums[1] += high
        divisor += 2
        if high <= 1 and 2 * t[1] <= divisor * one:
            # From here on each term is at most half of the one before it: the rest is at most `high`.
            return sums[0], sums[1] + high


def alternating(t: Bracket, bits: int) -> Bracket | None:
    """1 − 1/t + 1·3/t² − …, to about 2^−bits; None if the terms begin to grow before they are that small."""
    one = 1 << bits
    inverse = (one * one) // t[1], -(-(one * one) // t[0])
    low, high = one, one
    sums = [one, one]
    odd, sign = 1, -1
    while True:
        if odd * inverse[1] >= one:
            return None
        low = (low * inverse[0] >> bits) * odd
        high = -((-high * inverse[1] >> bits) * odd)
        if high <= odd + 2:
            # The next term is the last, and between none and all of it is right.
            break
        sums[0] += low if sign > 0 else -high
        sums[1] += high if sign > 0 else -low
        odd, sign = odd + 2, -sign
    return sums[0] - (high if sign < 0 else 0), sums[1] + (high if sign > 0 else 0)
