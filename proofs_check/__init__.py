"""The audit: every claim of the paper with its evidence and verdict. Uses `hsdp_symbolic`, never the reverse."""
