"""`HiddenStateEngine`: Opacus' PrivacyEngine, which watches the run and gives the certified ε of what happened.

Nothing that can be seen is asked for: batches, passes, steps, the optimiser and its settings, clipping and noise are
read as the run is made. The loss cannot be seen, so you declare it; what the run shows of it is compared. A run that
hidden-state bounds do not cover is accounted for by composition, and `note` says why; a run that nothing covers is an
error, raised where it is noticed and again by `get_epsilon`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from opacus import PrivacyEngine

from ..accounting.candidates import check_scheme
from ..accounting.conversion import admit_delta
from ..accounting.guarantee import Guarantee, epsilon
from ..accounting.library import training_run
from ..accounting.losses import ScalarLoss, SoftmaxLoss, admit_loss
from ..accounting.run import Leftover, TrainingRun
from ..accounting.update import Clipped
from ..errors import ArgumentError, HsdpError
from ..meaning import Scheme
from .observe_layer import LayerObserver, check_module, describe, trained_layers
from .observe_loader import LoaderObserver, Order, order_of
from .observe_optimizer import OptimizerObserver, refuse_unseen
from .observed import Observed, observe, step_size, widened

if TYPE_CHECKING:
    from collections.abc import Iterable


ALWAYS_ASSUMED = (
    "every index of the dataset is one record, and a record's loss depends on no other record",
    "the weights the run began with do not depend on the data, or are accounted for as a run of their own",
    "the number of passes and every setting of the run were chosen without looking at the data",
)
PERMUTED_ONCE = "the records were put in a uniformly random order once, before the first pass, and it is not known"
_FRESH = "one engine observes one run, from its first step: make another engine"


class HiddenStateEngine(PrivacyEngine):
    """Use it as a `PrivacyEngine`; `get_epsilon`, `guarantee` and `observed` tell what the run costs, and why.

    `loss` is what the model is trained with: `logistic(…)`, `softmax(…)`, `huber(…)`, `squared(…)`, `scalar(…)`,
    `smoothed_hinge(…)`, `convex(…)`, `smooth(…)` or `vouched(…)` of `hsdp_symbolic.accounting`; without one only
    composition is used. For the first two, training with another loss is noticed; for the others your word is taken.
    `scheme` may be left out, since it is seen, but for "shuffle": that the dataset itself was permuted at random once,
    and the loader keeps that order. A scheme that contradicts the loader is an error. ε is smallest at the end of a
    pass over the data.

    `engine.accountant` remains Opacus' own, which takes every run for one with Poisson sampling.
    """

    def __init__(self, *, loss: Any = None, scheme: str | None = None, secure_mode: bool = False) -> None:
        self._loss = admit_loss(loss)
        self._declared = None if scheme is None else check_scheme(scheme)
        super().__init__(accountant="rdp", secure_mode=secure_mode)
        self._error: HsdpError | None = None
        self._loader: LoaderObserver | None = None
        self._optimizer: OptimizerObserver | None = None
        self._layer: LayerObserver | None = None
        self._model = ""

    def make_private(self, **arguments: Any) -> Any:
        """Exactly what Opacus' own returns, or an error where it is clear now that nothing will account for the run."""
        if self._loader is not None:
            raise ArgumentError("make_private", "a second call", "this engine observes a run already", _FRESH)
        noise = arguments.get("noise_multiplier")
        if isinstance(noise, (int, float)) and not noise > 0:
            raise ArgumentError("noise_multiplier", noise, "without noise there is no privacy", "give a number > 0")
        refuse_unseen(
            **{name: arguments[name] for name in ("grad_sample_mode", "clipping", "rand_on_empty") if name in arguments}
        )
        if not arguments.get("poisson_sampling", True) and "data_loader" in arguments:
            self._check_declared(order_of(arguments["data_loader"]), arguments["data_loader"])
        linear = None
        if isinstance(self._loss, (ScalarLoss, SoftmaxLoss)) and {"module", "optimizer"} <= arguments.keys():
            linear = check_module(arguments["module"], arguments["optimizer"], self._loss)
        result = super().make_private(**arguments)
        module, optimizer, loader = result
        self._check_declared(order_of(loader), loader)
        if optimizer.loss_reduction == "mean" and not optimizer.expected_batch_size:
            raise ArgumentError(
                "batch_size",
                getattr(loader.batch_sampler, "batch_size", None),
                "Opacus divides by int(n·(1/batches)), which rounding makes 0 here",
                "use larger batches, or loss_reduction='sum'",
            )
        self._model = describe(trained_layers(module))
        if linear is not None and isinstance(self._loss, (ScalarLoss, SoftmaxLoss)):
            self._layer = LayerObserver(linear, self._loss, optimizer.loss_reduction == "mean", self._fail)
        self._loader = LoaderObserver(loader, self._declared)
        self._optimizer = OptimizerObserver(optimizer, module, self._loader, self._layer, self._fail)
        return result

    def make_private_with_epsilon(self, **arguments: Any) -> NoReturn:
        """Refused: Opacus searches for the noise with an accountant of its own, which knows too little of the run."""
        raise ArgumentError(
            "target_epsilon",
            arguments.get("target_epsilon"),
            "the noise it takes depends on the loss and on every setting of the run, which Opacus' search leaves out",
            "find it with hsdp_symbolic.accounting.calibrate (or hsdp calibrate), and give it to make_private",
        )

    def load_checkpoint(self, **arguments: Any) -> NoReturn:
        """Refused: the steps before the checkpoint were not seen by this engine."""
        raise ArgumentError(
            "path",
            arguments.get("path"),
            "the steps before it were not observed by this engine",
            "load the weights into the model before make_private; what follows is a run of its own, and "
            "hsdp_symbolic.accounting.epsilon_of_all adds the two",
        )

    def get_epsilon(self, delta: Any) -> float:
        """The certified ε of the steps so far, never below the bound used; 0 before the first."""
        if self._optimizer is not None and self._error is None and not len(self._optimizer):
            admit_delta(delta)
            return 0.0
        return self.guarantee(delta).epsilon

    def observed(self) -> Observed:
        """What was seen so far, whether any statement covers it or not."""
        loader, optimizer = self._seen()
        return observe(self._model, loader, optimizer, self._layer, widened(self._loss, self._layer), self._declared)

    def guarantee(
        self,
        delta: Any,
        *,
        orders: Iterable[Any] | None = None,
        effort: str = "normal",
        neighbouring: str | None = None,
    ) -> Guarantee:
        """As `get_epsilon`, with the bound used, why it holds, what is assumed by you, and what else was considered.

        `neighbouring` says which datasets are compared, as for `hsdp_symbolic.accounting.epsilon`.
        """
        if self._error is not None:
            raise self._error
        _, optimizer = self._seen()
        if not len(optimizer):
            raise ArgumentError("steps", 0, "no step was made yet", "train first")
        seen = self.observed()
        found = epsilon(
            self._run(seen), delta=delta, scheme=seen.scheme, neighbouring=neighbouring, orders=orders, effort=effort
        )
        told = ALWAYS_ASSUMED if seen.scheme is not Scheme.SHUFFLE else (*ALWAYS_ASSUMED, PERMUTED_ONCE)
        if not optimizer.optimiser_type.__module__.startswith("torch.optim"):
            told = (*told, f"{seen.optimiser[0]} uses the noisy gradients, and nothing else of the data")
        return replace(found, assumed_by_you=(*found.assumed_by_you, *told))

    def training_run(self) -> TrainingRun:
        """The run as it was seen, for `epsilon_of_all`, `compare` and the like."""
        if self._error is not None:
            raise self._error
        return self._run(self.observed())

    def _run(self, seen: Observed) -> TrainingRun:
        loader, optimizer = self._seen()
        least = optimizer.least_noise
        if seen.scheme is Scheme.POISSON:
            return self._poisson(seen, loader, optimizer)
        size = seen.n if seen.scheme is Scheme.FULL_BATCH else step_size(loader)
        facts: dict[str, Any] = {"noise_multiplier": least, "n": seen.n, "batch_size": size, "epochs": seen.passes}
        if seen.reasons:  # composition: a record is used at most once in a pass, whatever the batches
            by_pass = list(optimizer.least_noise_of(len(found.steps) for found in loader.trained))
            if len(set(by_pass)) > 1:
                facts |= {"noise_multiplier": by_pass, "per": "epoch"}
            run = training_run(**facts, leftover=Leftover.DROPPED if seen.n % size else None)
            return replace(run, update=Clipped(because="; ".join(seen.reasons)))
        if seen.n % size:
            used = sum(loader.trained[0].steps)
            facts["leftover"] = Leftover.PARTIAL if used == seen.n else Leftover.DROPPED
        told = self._update(seen)
        if len(seen.learning_rates) > 1 or len(seen.noise_multipliers) > 1:
            del facts["epochs"]
            facts |= {"noise_multiplier": list(optimizer.noises()), "per": "step"}
            told["learning_rate"] = list(optimizer.rates())
        return training_run(**facts, **told, divisor=seen.divisors[0])

    def _poisson(self, seen: Observed, loader: LoaderObserver, optimizer: OptimizerObserver) -> TrainingRun:
        """Composition asks for the noise of every step and nothing else; the rest is what hidden state asks for."""
        facts: dict[str, Any] = {"noise_multiplier": optimizer.least_noise, "sample_rate": loader.true_rate}
        facts["steps"] = seen.steps
        if len(set(optimizer.noises())) > 1:
            facts |= {"noise_multiplier": list(optimizer.noises()), "per": "step"}
        if seen.reasons:
            return replace(training_run(**facts), update=Clipped(because="; ".join(seen.reasons)))
        told = self._update(seen)
        if len(seen.learning_rates) > 1:
            facts["per"], told["learning_rate"] = "step", list(optimizer.rates())
        return replace(training_run(**facts, **told), records=seen.n, divisor=seen.divisors[0])

    def _update(self, seen: Observed) -> dict[str, Any]:
        """What every step did, if all did the same."""
        return {
            "max_grad_norm": seen.max_grad_norms[0],
            "learning_rate": seen.learning_rates[0],
            "weight_decay": seen.weight_decays[0],
            "loss": widened(self._loss, self._layer),
        }

    def _seen(self) -> tuple[LoaderObserver, OptimizerObserver]:
        if self._loader is None or self._optimizer is None:
            raise ArgumentError("make_private", None, "not called yet, so no run was observed", "call it first")
        return self._loader, self._optimizer

    def _fail(self, error: HsdpError) -> None:
        """Refuse the run from now on, even if the error is caught."""
        self._error = self._error or error
        raise error

    def _check_declared(self, order: Order, loader: Any) -> None:
        """Refuse a declared scheme that contradicts the loader, naming both."""
        if self._declared is None:
            return
        size = getattr(loader.batch_sampler, "batch_size", None)
        possible = {
            Order.POISSON: {Scheme.POISSON},
            Order.SEQUENTIAL: {Scheme.FIXED, Scheme.SHUFFLE},
            Order.RANDOM: {Scheme.RESHUFFLE},
        }[order]
        if order is Order.RANDOM and loader.generator is not None:  # it may be put back to its seed before every pass
            possible = {Scheme.RESHUFFLE, Scheme.FIXED, Scheme.SHUFFLE}
        if order is not Order.POISSON and size is not None and size >= len(loader.dataset):
            possible = {Scheme.FIXED, Scheme.SHUFFLE, Scheme.RESHUFFLE, Scheme.FULL_BATCH}
        if self._declared not in possible:
            hint = " (poisson_sampling=True, which is Opacus' default)" if order is Order.POISSON else ""
            raise ArgumentError(
                "scheme",
                self._declared.value,
                f"declared, and the loader makes batches {order.value}{hint}",
                "leave the scheme out, or use a loader that does what it says",
            )
