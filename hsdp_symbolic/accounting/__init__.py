"""The accountant: from a training run to a certified (ε, δ), and back to the noise it needs.

>>> from hsdp_symbolic import Setting
>>> from hsdp_symbolic.accounting import epsilon
>>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
>>> found = epsilon(run, delta="1e-5", scheme="shuffle")
>>> found.bound, found.epsilon < 0.261157, found.hidden_state
('profile:shuffle', True, True)
"""

from .accountant import HiddenStateAccountant
from .advice import Advice, advise
from .applicable import Considered
from .bounds_over_epochs import Comparison, Crossover, compare
from .calibrate import Calibration, Unreachable, calibrate
from .conversion import delta_at, epsilon_at
from .guarantee import Guarantee, Margin, delta, epsilon
from .library import training_run
from .losses import convex, huber, logistic, scalar, smooth, smoothed_hinge, softmax, squared
from .planned import scheduled_run
from .release import Release, average, checkpoints
from .run import Leftover, TrainingRun
from .schedule import Schedule, Stretch
from .several import Part, Total, delta_of_all, epsilon_of_all
from .unlearning import Unlearning, unlearning
from .update import vouched

__all__ = [
    "Advice",
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
    "Unlearning",
    "Unreachable",
    "advise",
    "average",
    "calibrate",
    "checkpoints",
    "compare",
    "convex",
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
    "smooth",
    "smoothed_hinge",
    "softmax",
    "squared",
    "training_run",
    "unlearning",
    "vouched",
]
