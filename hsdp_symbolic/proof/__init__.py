"""Derivations: the checks that stand behind their steps, and what decides them."""
