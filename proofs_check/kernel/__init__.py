"""The same proofs, written for Coq and checked by it."""
