"""Claims: a command costs about an import of SymPy and its own work; each limit is a multiple of `import sympy`.

Run with `python -m pytest -n 0 -s tests/benchmarks/bench_commands.py`. Each command is a process of its own, started as
a user starts it. They take turns, a round of all of them at a time, so that a busy machine slows all alike, and what is
compared is the median over the rounds. The limits are those promised, with no allowance added: when they were set, on
two cores with a load of four to nine, no command took more than three quarters of its limit.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROUNDS = 7
HSDP = str(Path(sys.executable).with_name("hsdp"))
RUN = tuple(
    map(str, ("--n", 50, "--b", 2, "--K", 40, "--eta", 0.02, "--lam", 1, "--beta", 4, "--sigma", 2, "--S_g", 4))
)
REFERENCE = (sys.executable, "-c", "import sympy")
LIMITS = {
    ("--help",): 0.2,
    ("list",): 3,
    ("show", "thm:strconvexsmooth"): 4,
    ("show", "control:reshuffle"): 4,
    ("eval", "thm:strconvexsmooth", *RUN, "--alpha", "15", "--j0", "24"): 4,
    ("eval", "thm:shuffle", *RUN, "--alpha", "15"): 4,
    ("verify", "thm:GD_baseline"): 6,
    ("audit", "thm:GD_baseline/theorem"): 6,
    ("audit", "thm:shuffle/bernoulli"): 6,
    ("audit", "D.5/display-3"): 6,
    ("audit", "thm:strconvexsmooth/dropped-factor"): 6,
    **{("epsilon", "--scheme", scheme, *RUN, "--delta", "1e-5"): 6 for scheme in ("fixed", "shuffle", "reshuffle")},
    ("epsilon", "--scheme", "full_batch", *RUN, "--delta", "1e-5"): 6,
}
"""Each command, and how many times `import sympy` it may take."""
NOTHING_REMEMBERED = ("list",)
"""What is measured with an empty memory; the others have run once before."""


def seconds(command: tuple[str, ...], memory: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"XDG_CACHE_HOME": memory})
    return time.perf_counter() - started


@pytest.fixture(scope="module")
def medians():
    """The median time of every command, over rounds of all of them, relative to that of `import sympy`."""
    taken: dict[tuple[str, ...], list[float]] = {command: [] for command in ((), *LIMITS)}
    with tempfile.TemporaryDirectory() as memory:
        for turn in range(ROUNDS + 1):
            for command, times in taken.items():
                with tempfile.TemporaryDirectory() as empty:
                    place = empty if command == NOTHING_REMEMBERED else memory
                    times.append(seconds((HSDP, *command) if command else REFERENCE, place))
            if turn == 0:  # the first writes bytecode and fills the memory
                for times in taken.values():
                    times.clear()
    found = {command: statistics.median(times) for command, times in taken.items()}
    reference = found.pop(())
    return {command: value / reference for command, value in found.items()}


@pytest.mark.parametrize("command", LIMITS, ids=" ".join)
def test_command(benchmark, medians, command):
    ratio, limit = medians[command], LIMITS[command]
    print(f"\nhsdp {' '.join(command)}: {ratio:.2f} times `import sympy` (at most {limit})")
    benchmark.extra_info["times import sympy"] = ratio
    benchmark.pedantic(lambda: None, rounds=1)
    assert ratio <= limit
