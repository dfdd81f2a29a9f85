"""The example that the help of `hsdp` and of `hsdp eval` shows."""

EXAMPLE_EVAL = (
    "hsdp eval thm:strconvexsmooth --n 50 --b 2 --K 40 --eta 0.02 --lam 1 --beta 4 --sigma 2 --S_g 4 --alpha 15 --j0 24"
)
