"""Every bound says on what terms it holds."""

from dataclasses import replace

import pytest

from hsdp_symbolic import statement
from hsdp_symbolic.catalogue import _check, labels, statements
from hsdp_symbolic.meaning import PROFILES, Asks, Neighbouring, Quantity, Released, Scheme


class TestMeaning:
    def test_every_bound_on_a_run_says_on_what_terms(self):
        for found in statements():
            if found.scheme is not Scheme.NONE and found.kind != "law":
                assert found.quantity in (Quantity.DIVERGENCE, *PROFILES), found.label
                assert isinstance(found.neighbouring, Neighbouring)
                assert isinstance(found.released, Released)
                assert isinstance(found.asks, Asks)

    def test_registration_refuses_what_does_not(self):
        bare = replace(statement("lem:post_proc"), label="thm:shuffle")
        with pytest.raises(TypeError, match="on what terms"):
            _check("thm:shuffle", bare)
        with pytest.raises(TypeError, match="on what terms"):
            _check("thm:shuffle", statement("thm:strconvexsmooth"))
        with pytest.raises(TypeError, match="its proposition says what it bounds"):
            replace(statement("thm:shuffle"), bounded=Quantity.EPSILON)

    def test_only_composition_lets_every_iterate_be_seen(self):
        open_ones = {found.label for found in statements() if found.released is Released.EVERY}
        named = {label for label in labels() if "composition:" in label or label.startswith("seen:")}
        assert open_ones == named | {"mironov2019"}
        assert all(statement(label).asks is Asks.NOTHING for label in open_ones)

    def test_a_bound_on_a_formula_says_nothing_of_a_run(self):
        found = statement("mironov2019:small_rate")
        assert (found.terms, found.released, found.asks) == (None, None, None)
        assert found.quantity is Quantity.DIVERGENCE

    def test_the_words_follow_the_types(self):
        assert "only the last iterate is released" in " ".join(statement("thm:shuffle").assumptions)
        assert "added or removed" in " ".join(statement("mironov2019").assumptions)
