"""The facts that proofs rest on: each stated in symbols, with its reference; nothing else is taken on trust.

`all_facts` gathers them; `hsdp axioms` lists them with the statements that rest on each.
"""

from __future__ import annotations

from importlib import import_module

from ..kernel import Fact

PARTS = (
    "definitions",
    "losses",
    "log_sobolev",
    "renyi",
    "mixtures",
    "epochs",
    "gaussian_laws",
    "conversion",
    "drift",
    "forgetting",
    "profiles",
    "reshuffled",
    "secret",
    "sampling",
    "bins",
    "control",
    "spending",
    "schedules",
    "projected",
    "patterns",
    "diffusion",
    "regression",
    "clipping",
    "clipped_updates",
    "clipped_softmax",
    "sensitivity",
    "published",
)


def all_facts() -> dict[str, Fact]:
    """Every fact by its name."""
    found: dict[str, Fact] = {}
    for part in PARTS:
        for fact in vars(import_module(f".{part}", __package__)).values():
            if isinstance(fact, Fact):
                found[fact.name] = fact
    return found
