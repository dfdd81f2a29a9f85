"""Labels, and the statements they name."""

from __future__ import annotations

import pytest

from hsdp_symbolic import labels, statement
from hsdp_symbolic.errors import (
    UnknownLabel,
)


class TestLabels:
    @pytest.mark.parametrize(
        ("label", "told"),
        [
            ("thm:strconvexsmoth", "did you mean thm:strconvexsmooth"),
            ("thm:nothing at all", "hsdp list|did you mean"),
            ("", "hsdp list"),
            (None, "no such statement"),
            (7, "no such statement"),
            ("__import__('os')", "no such statement"),
        ],
    )
    def test_unknown(self, label, told):
        with pytest.raises(UnknownLabel, match=told):
            statement(label)

    def test_order_is_the_papers(self):
        assert labels()[:4] == ("thm:naive_RDP_baseline", "lem:post_proc", "lem:recursive", "thm:strconvexsmooth")
