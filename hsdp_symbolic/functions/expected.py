"""`Expected`: the mean of a function of a number that random draws change."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S

from .interface import Binding, Printer, Rules, Trend, must_count


class Expected(Binding):
    """The mean of `of` after `count` draws: each turns the state into `hit` with chance `rate`, else into `miss`.

    `of`, `hit` and `miss` are given in `state`, which is `at` before the first draw. Only proofs use it.
    """

    nargs = 7  # of, state, hit, miss, rate, count, at
    only_in_proofs = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """No draw, and one draw more, before the others."""
        of, state, hit, miss, rate, count, at = self.args
        must_count(count)
        after = [self.func(of, state, hit, miss, rate, count, rule.subs(state, at)) for rule in (hit, miss)]
        start = self.func(of, state, hit, miss, rate, S.Zero, at), of.subs(state, at)
        return start, (self.func(of, state, hit, miss, rate, count + 1, at), rate * after[0] + (1 - rate) * after[1])

    def trend(self, rules: Rules) -> Trend | None:
        """Up with where it starts, if everything is; nothing is said of the rest."""
        of, state, hit, miss, *others, at = self.args
        rising = all(rules.along(each, state) is Trend.UP for each in (of, hit, miss))
        return rules.of(at) if rising and not any(map(rules.depends, (of, hit, miss, *others))) else None

    def tex(self, printer: Printer) -> str:
        """E over `count` draws from `at`, of a function of the state; below it what a draw does to the state."""
        of, state, hit, miss, rate, count, at = map(printer._print, self.args)
        draw = rf"\genfrac{{}}{{}}{{0pt}}{{3}}{{{rate}:\ {state} \to {hit}}}{{\text{{else}}\ {state} \to {miss}}}"
        return rf"\underset{{{draw}}}{{\mathrm{{E}}^{{{count}}}_{{{state} = {at}}}}}\left[{of}\right]"
