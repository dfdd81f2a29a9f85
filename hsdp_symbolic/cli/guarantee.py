"""A guarantee as a JSON object and as text: shared by the commands that certify an ε."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..meaning import Neighbouring

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..accounting import Comparison, Considered, Guarantee
    from ..accounting.update import SourcedConstant


def rounded_up(value: float) -> str:
    """A double in seven significant digits, rounded upwards."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    from ..evaluate.enclosure import Enclosure

    exact = Fraction(value)
    return f"{float(Enclosure(exact, exact).decimals(7)[1]):.7g}"


def json_number(value: Any) -> Any:
    """A number as JSON can hold it: a finite double, or an infinity as text."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else str(number)


def as_json(found: Guarantee) -> dict[str, Any]:
    return {
        "epsilon": json_number(found.epsilon),
        "lower": json_number(found.lower),
        "delta": json_number(found.delta),
        "order": json_number(found.order),
        "choices": {name: str(value) for name, value in found.choices.items()},
        "bound": found.bound,
        "title": found.title,
        "scheme": found.scheme,
        "neighbouring": found.neighbouring,
        "hidden_state": found.hidden_state,
        "minimum": json_number(found.minimum),
        "considered": [
            {
                "label": each.label,
                "verdict": each.verdict,
                "value": json_number(each.value),
                "order": json_number(each.order),
                "reason": each.reason,
            }
            for each in found.considered
        ],
        "hypotheses": [
            {"hypothesis": each.hypothesis, "left": each.left, "right": each.right, "margin": each.margin}
            for each in found.hypotheses
        ],
        "update": found.update,
        "assumed_by_you": list(found.assumed_by_you),
        "assumptions": list(found.assumptions),
        "note": found.note,
        "helps": found.helps,
        "sensitivity": None if found.sensitivity is None else constant(found.sensitivity),
        "setting": found.setting.exact_strings(),
    }


def constant(found: SourcedConstant) -> dict[str, str]:
    """A constant and where it comes from."""
    return {"name": found.name, "value": str(found.value), "from": found.comes_from, "says": found.says}


def one_record(relation: str) -> str:
    """For whom it is private: how one record may differ."""
    return {
        Neighbouring.REPLACE_ONE: "one record replaced",
        Neighbouring.ADD_REMOVE: "one record added or removed",
        Neighbouring.LABEL_ONLY: "the label of one record",
        Neighbouring.ZERO_OUT: "one record left out",
    }[Neighbouring(relation)]


def by_composition(found: Guarantee | Comparison) -> str:
    """Why no hidden-state bound is used, to end the first line of an answer; empty if one is."""
    return f", by composition: {found.note}" if found.note else ""


def report(found: Guarantee) -> None:
    from ..catalogue import labels, statement

    where = f" ({statement(found.bound).where})" if found.bound in labels() else ""
    print(
        f"({found.epsilon!r}, {found.delta!r})-differential privacy for {one_record(found.neighbouring)}, "
        f"certified{by_composition(found)}"
    )
    if found.helps:
        print(f"  what helps    {found.helps}")
    print(f"  bound         {found.bound}: {found.title}{where}")
    if found.order is not None:
        print(f"  Rényi order   {float(found.order):g}")
    if found.choices:
        chosen = ", ".join(f"{name} = {value}" for name, value in found.choices.items())
        print(f"  chosen        {chosen} (every choice gives a bound)")
    print(f"  batches       {found.scheme}")
    print(f"  neighbouring  {found.neighbouring}")
    if found.sensitivity is not None:
        moved = found.sensitivity
        print(f"  S_g           {float(moved.value):.9g}, by {moved.comes_from}: {moved.says}")
    seen = "the last iterate" if where else "what is released"
    print(f"  hidden state  {f'assumed: only {seen} may be seen' if found.hidden_state else 'not needed'}")
    if found.minimum is not None:
        print(f"  any order     gives at least {found.minimum!r} with this bound")
    print(f"  update        {found.update}")
    print("  hypotheses, with this run's values")
    for each in found.hypotheses:
        print(f"    {each.hypothesis:28} {each.left:.6g} and {each.right:.6g}, margin {each.margin:.3g}")
    if found.assumed_by_you:
        print("  assumed by you")
        for assumption in found.assumed_by_you:
            print(f"    {assumption}")
    print("  assumed, and not checked here")
    for assumption in found.assumptions:
        print(f"    {assumption}")
    print("  considered")
    for entries in _alike(found.considered):
        first, value = entries[0], entries[0].value
        told = f"{'-' if value is None else rounded_up(value):>12}  {first.verdict}: {first.reason}"
        print(f"    {first.label:34} {told}")
        for entry in entries[1:]:
            print(f"    {entry.label:34} {'-':>12}  likewise")


def _alike(considered: Iterable[Considered]) -> list[list[Considered]]:
    """What was refused for one reason together, in the order of the first."""
    found: dict[object, list[Considered]] = {}
    for entry in considered:
        key = (entry.verdict, entry.reason) if entry.value is None else entry.label
        found.setdefault(key, []).append(entry)
    return list(found.values())
