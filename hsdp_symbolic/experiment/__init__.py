"""Every statement seen from outside: simulated runs, the divergences of their last iterates, attacks on the bounds."""
