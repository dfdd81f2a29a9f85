"""Hidden-state differential privacy, derived: the theorems of Ye & Shokri (NeurIPS 2022) as symbolic objects.

>>> from hsdp_symbolic import Setting, statement
>>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
>>> statement("thm:strconvexsmooth").upper(run, alpha=15, j0=24)
0.08712962327261432

Importing this package loads neither SymPy nor NumPy: they come with the first statement or array.
"""

from .catalogue import labels, statement, statements
from .errors import HsdpError
from .evaluate.enclosure import Enclosure
from .setting import Setting
from .statement import Statement

__all__ = ["Enclosure", "HsdpError", "Setting", "Statement", "labels", "statement", "statements"]
__version__ = "0.1.0"
