"""Proofs: a small kernel that makes theorems, the facts they rest on, and around it what looks for proofs."""
