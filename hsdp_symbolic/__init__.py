"""Hidden-state differential privacy, derived: the theorems of Ye & Shokri (NeurIPS 2022) as symbolic objects.

>>> from hsdp_symbolic import Setting, statement
>>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
>>> statement("thm:strconvexsmooth").upper(run, alpha=15, j0=24)
0.08712962327261432

Importing this package loads nothing else: the module behind each name is imported when that name is first used,
SymPy with the first statement and NumPy with the first array.
"""

import sys
from types import ModuleType

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` would cost more than all of this
if TYPE_CHECKING:
    from .catalogue import labels, statement, statements
    from .errors import HsdpError
    from .evaluate.enclosure import Enclosure
    from .setting import Setting
    from .statement import Statement

__all__ = ["Enclosure", "HsdpError", "Setting", "Statement", "labels", "statement", "statements"]
__version__ = "0.2.0.dev0"

_HOMES = {
    "Enclosure": "evaluate.enclosure",
    "HsdpError": "errors",
    "Setting": "setting",
    "Statement": "statement",
    "labels": "catalogue",
    "statement": "catalogue",
    "statements": "catalogue",
}
"""The module that each name of the package comes from."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name != "statement":
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package, in which `statement` is always the function and never the submodule of that name.

    When a submodule is imported, Python assigns it to its name in the package; the setter below ignores that.
    """

    @property
    def statement(self) -> object:
        return __getattr__("statement")

    @statement.setter
    def statement(self, submodule: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package
