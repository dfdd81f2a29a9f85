"""The alphabet."""

from __future__ import annotations


def test_no_two_symbols_of_the_alphabet_are_one():
    from sympy import Symbol as SymPySymbol

    from hsdp_symbolic import symbols

    found = [value for value in vars(symbols).values() if isinstance(value, SymPySymbol)]
    assert len(found) == len(set(found)) == len({symbol.name for symbol in found if symbol.name != "t"}) + 1
