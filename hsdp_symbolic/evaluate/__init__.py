"""How any expression becomes a number: exactly, enclosed, over a box, or as a NumPy array."""
