"""Bounds sharper than the paper's, each with its own derivation."""
