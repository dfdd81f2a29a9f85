"""What the trained layer sees: the inputs of a declared regression, and whether its residuals are those of the loss.

This can refute what was declared, and never proves it: a loss is more than its residuals on one dataset.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..accounting.losses import ScalarLoss, SoftmaxLoss
from ..errors import ArgumentError, HsdpError
from ..setting.gate import to_fraction

NORM_TOLERANCE = to_fraction("tolerance", "1e-6")
"""An input scaled to norm L in single precision may exceed L by this much of it; where it does, L is taken larger."""
RESIDUAL_TOLERANCE = 1e-3
Fail = Callable[[HsdpError], None]


def trained_layers(module: Any) -> list[Any]:
    """The layers that own parameters to be trained."""
    root = getattr(module, "_module", module)
    return [layer for layer in root.modules() if any(p.requires_grad for p in layer.parameters(recurse=False))]


def describe(layers: list[Any]) -> str:
    """The layers in words, for messages."""
    return ", ".join(
        f"Linear({layer.in_features}, {layer.out_features}, bias={layer.bias is not None})"
        if type(layer) is nn.Linear
        else type(layer).__name__
        for layer in layers
    )


def check_module(module: Any, optimizer: Any, loss: ScalarLoss | SoftmaxLoss) -> Any:
    """The one linear layer that is trained, if it is what the declared loss says; else an error that names both."""
    root, layers = getattr(module, "_module", module), trained_layers(module)
    seen = describe(layers) or "no layer"
    declared = f"loss={loss_words(loss)}"
    if len(layers) != 1 or type(layers[0]) is not nn.Linear:
        remedy = "leave the loss out: composition holds for any model"
        raise ArgumentError("loss", loss_words(loss), f"the model trains {seen}, not one Linear layer", remedy)
    layer = layers[0]
    owned = {id(p) for group in optimizer.param_groups for p in group["params"] if p.requires_grad}
    trainable = {id(p) for p in root.parameters() if p.requires_grad}
    if {id(p) for p in layer.parameters()} != trainable or owned != trainable:
        problem = "the optimiser trains a part of the Linear layer only"
        raise ArgumentError("optimizer", seen, problem, f"train all of it, as {declared} says")
    wanted = loss.classes if isinstance(loss, SoftmaxLoss) else 1
    if layer.out_features != wanted:
        scores = "one score" if wanted == 1 else f"{wanted} scores"
        remedy = "declare the loss the model is trained with: softmax(classes=…) has one score for every class"
        raise ArgumentError("loss", loss_words(loss), f"it has {scores}, and the model is {seen}", remedy)
    if loss.bias != (layer.bias is not None):
        problem = f"it says bias={loss.bias}, and the model is {seen}"
        raise ArgumentError("loss", loss_words(loss), problem, "make the two agree")
    random = [type(each).__name__ for each in root.modules() if isinstance(each, nn.modules.dropout._DropoutNd)]
    if random:
        raise ArgumentError(
            "loss", loss_words(loss), f"the model has {random[0]}, so its loss is another one", "leave Dropout out"
        )
    return layer


def loss_words(loss: ScalarLoss | SoftmaxLoss) -> str:
    """A declared loss, as the user would write it."""
    if isinstance(loss, SoftmaxLoss):
        return f"softmax(classes={loss.classes}, feature_norm={loss.feature_norm}, bias={loss.bias})"
    curved = f"curvature={loss.curvature}, " if loss.name == "scalar" else ""
    return f"{loss.name}({curved}feature_norm={loss.feature_norm}, bias={loss.bias})"


def keep_hooks(watched: Any, *handles: Any) -> None:
    """Keep these hooks and remove those that watched an earlier run."""
    for handle in getattr(watched, "_hsdp_hooks", ()):
        handle.remove()
    watched._hsdp_hooks = handles


class LayerObserver:
    """Compares the inputs and residuals of a linear layer with the declared loss, before they enter an update."""

    def __init__(self, layer: Any, loss: ScalarLoss | SoftmaxLoss, mean: bool, fail: Fail) -> None:
        self.loss, self.mean, self.fail = loss, mean, fail
        self.feature_norm = 0.0
        self.samples = 0
        """Records whose gradient was computed since a step last looked."""
        self.limit = float(loss.feature_norm * (1 + NORM_TOLERANCE))
        keep_hooks(layer, layer.register_forward_pre_hook(self._inputs), layer.register_forward_hook(self._scores))

    @property
    def exceeds(self) -> bool:
        """Whether rounding took an input above the declared norm."""
        return self.feature_norm > self.loss.feature_norm

    def take_samples(self) -> int:
        found, self.samples = self.samples, 0
        return found

    def _inputs(self, layer: Any, args: tuple[Any, ...]) -> None:
        if not (layer.training and torch.is_grad_enabled()):  # where Opacus takes no gradients either
            return
        inputs = args[0].detach()
        if inputs.dim() != 2:
            problem = f"inputs have {inputs.dim()} dimensions, and a record of {loss_words(self.loss)} is one vector"
            self.fail(ArgumentError("inputs", tuple(inputs.shape), problem, "give the layer one vector per record"))
        if not len(inputs):
            return
        norm = torch.linalg.vector_norm(inputs, dim=1, dtype=torch.float64).max().item()
        if not norm <= self.limit:  # nan is not, either
            self.fail(
                ArgumentError(
                    "feature_norm",
                    str(self.loss.feature_norm),
                    f"declared, and the model was given an input of norm {norm:.9g}",
                    "scale or clip every input to the declared norm, whatever the data, before the model sees it",
                )
            )
        self.feature_norm = max(self.feature_norm, norm)

    def _scores(self, layer: Any, args: tuple[Any, ...], output: Any) -> None:
        if layer.training and torch.is_grad_enabled() and output.requires_grad:
            scores = output.detach()
            output.register_hook(lambda gradient: self._residuals(scores, gradient.detach()))

    def _residuals(self, scores: Any, gradient: Any) -> None:
        """The gradient in the scores is (probabilities − label)/batch, so probabilities − residuals must be a label."""
        self.samples += len(scores)
        if not len(scores):
            return
        residual = (gradient * len(scores) if self.mean else gradient).double()
        if isinstance(self.loss, SoftmaxLoss):
            label = torch.softmax(scores.double(), dim=1) - residual
            nearest = torch.zeros_like(label).scatter_(1, label.argmax(1, keepdim=True), 1.0)
            error, should = (label - nearest).abs().max().item(), "probabilities minus a one-hot label"
        elif self.loss.name == "logistic":
            # Any label from 0 to 1 leaves the second derivative as it is, so soft labels are logistic regression too.
            label = torch.sigmoid(scores.double()) - residual
            error, should = (label - label.clamp(0.0, 1.0)).abs().max().item(), "a probability minus a label"
        else:
            return
        if not error <= RESIDUAL_TOLERANCE:
            self.fail(
                ArgumentError(
                    "loss",
                    loss_words(self.loss),
                    f"its derivative in the scores is {should}, and the one seen is off by {error:.3g}",
                    "declare the loss the model is trained with (class weights change it, and so does a sum where "
                    "loss_reduction is 'mean'), or leave it out for composition",
                )
            )
