"""Integrals over the whole space, in any dimension, as the kernel knows them: linear, and no more.

`theta` in an integrand stands for a point of the space; a derivative by it is one by a coordinate. `Everywhere` is the
integral of what involves no coordinate, `Coordinatewise` the sum, over all coordinates, of the integrals.

An integral that does not converge is taken for some number of which nothing is known but that integrals stay linear
(there is such a choice: a linear functional extends from a subspace). Facts that are true only of integrals that
converge say so.
"""

from __future__ import annotations

from sympy import Derivative, Expr, Function, S, Symbol


class Integrated(Function):  # type: ignore[misc]
    """An integral, of an integrand in one variable."""

    nargs = 2

    @classmethod
    def eval(cls, integrand: Expr, variable: Symbol) -> None:
        """Nothing is computed."""
        if not isinstance(variable, Symbol):
            raise TypeError(f"{variable} is not a name")

    @property
    def integrand(self) -> Expr:
        return self.args[0]

    @property
    def variable(self) -> Symbol:
        return self.args[1]

    @property
    def free_symbols(self) -> set[Symbol]:
        found: set[Symbol] = self.integrand.free_symbols
        return found - {self.variable}

    @property
    def bound_symbols(self) -> list[Symbol]:
        return [self.variable]

    def _eval_is_real(self) -> bool | None:
        return self.integrand.is_real  # type: ignore[no-any-return]

    def _eval_is_commutative(self) -> bool:
        return True

    def _eval_derivative(self, symbol: Symbol) -> Expr:
        """Left alone: to differentiate under the integral sign takes a reason."""
        return Derivative(self, symbol, evaluate=False) if symbol in self.free_symbols else S.Zero


class Everywhere(Integrated):
    """The integral over the whole space of what involves no coordinate (if it does, the first is meant)."""


class Coordinatewise(Integrated):
    """The sum, over all coordinates, of the integrals over the whole space; a derivative is by the coordinate."""
