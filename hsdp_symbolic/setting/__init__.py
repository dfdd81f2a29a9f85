"""Letters, exact parameters and arrays: the gate every number enters by."""

from .parameters import Setting

__all__ = ["Setting"]
