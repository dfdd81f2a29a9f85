"""`hsdp advise`: what a run would cost with one thing changed, and the change that helps most."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .accounting import EXAMPLE_CLIPPED, add_options, options_given, options_wanted, run_described
from .common import Command
from .guarantee import json_number, one_record, rounded_up

if TYPE_CHECKING:
    from ..accounting import Advice
    from ..accounting.advice import Row

WIDTH = 62


def register(command: Command) -> None:
    sub = add_options(command, "advise", _advise, "delta")
    sub.epilog = (
        f"example: hsdp advise --scheme reshuffle {EXAMPLE_CLIPPED} --delta 1e-5. Every row is a certified epsilon of "
        "the run with that one thing changed; what it does to accuracy is not looked at."
    )


def _advise(arguments: argparse.Namespace) -> int:
    from ..accounting import advise

    given = options_given(arguments)
    wanted = options_wanted(given, "delta", "scheme")
    if "orders" in wanted:
        raise ArgumentError("orders", wanted["orders"], "changes are compared by what is best for each", "leave it out")
    found = advise(run_described(given), **wanted)
    if arguments.json:
        print(json.dumps(_as_json(found), ensure_ascii=False))
    else:
        _table(found)
    return 0


def _table(found: Advice) -> None:
    asked = found.asked.guarantee
    assert asked is not None
    print(f"certified epsilon at delta = {asked.delta!r}, cheapest first; {one_record(found.asked.neighbouring)}")
    rows = sorted((found.asked, *found.rows), key=lambda row: row.guarantee.epsilon if row.guarantee else 0.0)
    _rows(rows)
    if found.others:
        print(f"\nnot to be compared with these: {one_record(found.others[0].neighbouring)}")
        _rows(found.others)
    if found.refused:
        print("\nnot accounted for")
        for row in found.refused:
            print(f"  {row.kind}: {row.words}: {row.why_not}")
    print(f"\n{found}")
    if not found.hidden_state and found.helps:
        print(f"what would have to be true for more: {found.helps}")


def _rows(rows: Any) -> None:
    for row in rows:
        mark = "*" if row.kind == "as it is" else " "
        words = f"{row.kind}: {row.words}"
        print(f"{mark} {rounded_up(row.guarantee.epsilon):>11}  {words:{WIDTH}}  {row.state}, {row.guarantee.bound}")


def _as_json(found: Advice) -> dict[str, Any]:
    def written(row: Row | None) -> dict[str, Any] | None:
        if row is None:
            return None
        bound = row.guarantee
        return {
            "kind": row.kind,
            "change": row.words,
            "neighbouring": row.neighbouring,
            "epsilon": None if bound is None else json_number(bound.epsilon),
            "bound": None if bound is None else bound.bound,
            "hidden_state": None if bound is None else bound.hidden_state,
            "why_not": row.why_not,
        }

    return {
        "asked": written(found.asked),
        "best": written(found.best),
        "best_batches": written(found.best_batches),
        "rows": list(map(written, found.rows)),
        "others": list(map(written, found.others)),
        "refused": list(map(written, found.refused)),
        "hidden_state": found.hidden_state,
        "note": found.note,
        "helps": found.helps,
    }
