"""The third opinion on every statement: simulated runs, their divergences, and attacks on the bounds."""
