"""Rényi divergences between last iterates: certified for Gaussian mixtures, on a grid, or estimated from samples."""

from .estimates import Estimate, from_samples, gaussian_divergence, plug_in, rao_blackwell
from .grids import GridValue, grid_divergence
from .mixtures import Mixture, mixture_divergence

__all__ = [
    "Estimate",
    "GridValue",
    "Mixture",
    "from_samples",
    "gaussian_divergence",
    "grid_divergence",
    "mixture_divergence",
    "plug_in",
    "rao_blackwell",
]
