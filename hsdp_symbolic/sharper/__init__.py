"""Bounds tighter than the paper's, each with its own derivation: statements like any other."""
