"""House rules that a machine can check."""

from __future__ import annotations

import ast
import doctest
import importlib
from functools import cache
from pathlib import Path

import pytest

from tests import skips

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("hsdp_symbolic/**/*.py"), *ROOT.glob("proofs_check/**/*.py")])


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(parsed(path)))


def imports(path: Path, *, top_level: bool = False) -> set[str]:
    """The modules a file imports (only at module level, if asked)."""
    nodes = parsed(path).body if top_level else nodes_of(path)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def mentions(modules: set[str], *names: str) -> set[str]:
    return {module for module in modules if set(module.split(".")) & set(names)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
class TestEverySource:
    def test_imports_by_name_are_of_what_is_asked_for(self, path):
        """`lint-imports` checks all other imports, and cannot see these."""
        nodes = nodes_of(path)
        names = {getattr(node, "id", getattr(node, "attr", "")) for node in nodes}
        if names & {"import_module", "__import__"}:
            allowed = {
                f"hsdp_symbolic/{each}" for each in ("__init__.py", "statement.py", "lemmas.py", "cli/__init__.py")
            }
            parts = {f"hsdp_symbolic/proof/{each}/__init__.py" for each in ("facts", "witnesses")}
            assert path.relative_to(ROOT).as_posix() in allowed | parts | {"proofs_check/register.py"}

    def test_symbols_are_made_in_one_place(self, path):
        if path.name == "symbols.py":
            return
        calls = [
            node.func.id for node in nodes_of(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert not {"Symbol", "symbols", "Dummy", "Wild", "Function"} & set(calls)

    def test_no_evaluation_of_text(self, path):
        names = {node.id for node in nodes_of(path) if isinstance(node, ast.Name)}
        assert not {"eval", "exec", "sympify", "parse_expr", "lambdify"} & names

    def test_documented(self, path):
        assert ast.get_docstring(parsed(path))

    def test_examples_in_docstrings_are_true(self, path):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name.endswith("__main__"):
            return
        if path.parent.name == "adapters" and path.stem != "__init__":
            needed = "dp_accounting" if path.stem == "dp_accounting" else "opacus"
            skips.module(needed, missing=needed)
        results = doctest.testmod(importlib.import_module(name))
        assert results.failed == 0


class TestNamesOfSymbols:
    @staticmethod
    def found():
        from sympy import Symbol
        from sympy.core.function import UndefinedFunction

        from hsdp_symbolic import symbols

        return {
            variable: thing.name if isinstance(thing, Symbol) else thing.__name__
            for variable, thing in vars(symbols).items()
            if isinstance(thing, (Symbol, UndefinedFunction))
        }

    def test_each_is_that_of_its_variable(self):
        found = self.found()
        assert len(found) > 100
        assert {variable: name for variable, name in found.items() if variable != name} == {}

    def test_each_is_used_once(self):
        names = list(self.found().values())
        assert len(names) == len(set(names))

    def test_no_module_imports_one_under_another_name(self):
        renamed = [
            f"{path.relative_to(ROOT)}: {alias.name} as {alias.asname}"
            for path in SOURCES
            for node in nodes_of(path)
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] == "symbols"
            for alias in node.names
            if alias.asname
        ]
        assert renamed == []


def test_the_command_line_imports_only_the_standard_library_at_module_level():
    light = set[str]().union(*(imports(path, top_level=True) for path in (ROOT / "hsdp_symbolic" / "cli").glob("*.py")))
    assert not mentions(light, "sympy", "numpy", "flint", "mpmath", "matplotlib", "plots")


def test_readme_examples_are_true():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted >= 8
    assert results.failed == 0
