"""The accountant: from a training run to a certified (ε, δ), and back to the noise it needs.

>>> from hsdp_symbolic import Setting
>>> from hsdp_symbolic.accounting import epsilon
>>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
>>> found = epsilon(run, delta="1e-5", scheme="shuffle")
>>> found.bound, found.epsilon < 0.261157, found.hidden_state
('profile:shuffle', True, True)
"""

from .accountant import HiddenStateAccountant
from .applicable import Considered
from .bounds_over_epochs import Comparison, Crossover, compare
from .calibrate import Calibration, Unreachable, calibrate
from .conversion import delta_at, epsilon_at
from .guarantee import Guarantee, Margin, delta, epsilon
from .library import training_run
from .planned import scheduled_run
from .release import Release, average, checkpoints
from .run import Leftover, TrainingRun
from .schedule import Schedule, Stretch
from .several import Part, Total, delta_of_all, epsilon_of_all
from .update import huber, logistic, scalar, softmax, squared, vouched

__all__ = [
    "Calibration",
    "Comparison",
    "Considered",
    "Crossover",
    "Guarantee",
    "HiddenStateAccountant",
    "Leftover",
    "Margin",
    "Part",
    "Release",
    "Schedule",
    "Stretch",
    "Total",
    "TrainingRun",
    "Unreachable",
    "average",
    "calibrate",
    "checkpoints",
    "compare",
    "delta",
    "delta_at",
    "delta_of_all",
    "epsilon",
    "epsilon_at",
    "epsilon_of_all",
    "huber",
    "logistic",
    "scalar",
    "scheduled_run",
    "softmax",
    "squared",
    "training_run",
    "vouched",
]
