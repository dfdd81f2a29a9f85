"""The package itself: its names come when they are used, and are always the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hsdp_symbolic


def in_a_fresh_process(*lines):
    command = [sys.executable, "-W", "error", "-c", "\n".join(lines)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_importing_it_imports_nothing_else():
    script = (
        "import sys",
        "before = set(sys.modules)",
        "import hsdp_symbolic",
        "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before}))",
    )
    assert in_a_fresh_process(*script) == ["['hsdp_symbolic']"]


def test_every_public_name_is_there():
    assert set(hsdp_symbolic.__all__) == set(hsdp_symbolic._HOMES) <= set(dir(hsdp_symbolic))
    for name in hsdp_symbolic.__all__:
        found = in_a_fresh_process(f"from hsdp_symbolic import {name}", f"print({name}.__name__)")
        assert found == [name]


@pytest.mark.parametrize("first", ["hsdp_symbolic.statement", "hsdp_symbolic.accounting", "proofs_check.ledger"])
def test_statement_is_the_function_whatever_was_imported_before(first):
    script = (
        f"import {first}",
        "import hsdp_symbolic",
        "from hsdp_symbolic import Statement, statement",
        "from hsdp_symbolic.statement import Statement as the_same",
        "assert Statement is the_same",
        "assert statement is hsdp_symbolic.statement",
        "print(type(statement('eps0')).__name__)",
    )
    assert in_a_fresh_process(*script) == ["Statement"]


def test_other_names_are_an_error():
    with pytest.raises(AttributeError, match="has no attribute 'theorem'"):
        _ = hsdp_symbolic.theorem
    with pytest.raises(ImportError, match="theorem"):
        from hsdp_symbolic import theorem  # noqa: F401
