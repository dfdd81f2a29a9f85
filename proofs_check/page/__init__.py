"""`hsdp report`: one self-contained web page with every statement, the audit and a live calculator.

Formulas, programs, verdicts and figures are those that the other commands show; no formula is typed here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from string import Template

from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.files import require_writable_folder, write_atomically
from hsdp_symbolic.progress import progress
from hsdp_symbolic.setting import Setting
from hsdp_symbolic.setting.gate import Number, admit
from hsdp_symbolic.setting.letters import LETTERS
from hsdp_symbolic.setting.parameters import PARAMETER_NAMES

from ..claim import Entry
from ..report import examine_all
from .content import card, chips, drawn, figures, mathml, row, summary
from .programs import HERE, live

_CONTROLS: dict[str, tuple[int | str, float, float, bool]] = {
    "n": (50, 10, 1e6, True),
    "b": (2, 1, 1e3, True),
    "K": (40, 1, 200, False),
    "eta": ("0.02", 1e-4, 1, True),
    "lam": (1, 1e-2, 10, True),
    "beta": (4, 1e-2, 100, True),
    "sigma": (2, 1e-2, 100, True),
    "S_g": (4, 0.1, 100, True),
    "lipschitz": ("1.01", 1, 2, False),
    "alpha": (15, 1.01, 100, True),
    "j0": (24, 0, 100, False),
    "j": (12, 0, 100, False),
    "k": (1, 0, 100, False),
    "t": ("0.01", 0, 1, False),
    "c": (1, 0.01, 100, True),
    "L": (1, 0.01, 10, True),
    "R": ("0.1", 0, 10, False),
    "dR": ("0.01", 0, 1, False),
    "u": ("0.01", 0, 1, False),
    "R1": ("0.1", 0, 10, False),
    "R2": ("0.2", 0, 10, False),
    "w1": ("0.5", 0.01, 0.99, False),
    "sigma_mul": (20, 0.1, 100, True),
    "classes": (2, 2, 100, False),
    "kappa": ("0.25", 0.01, 10, True),
    "slope": ("1", 0.01, 10, True),
    "beta0": (4, 1e-2, 100, True),
    "lam0": ("0.1", 0, 10, False),
    "bias": (1, 0, 1, False),
    "eps_norm": (0, 0, 1, False),
    "hit": (0, 0, 1, False),
    "split": (12, 1, 100, False),
    "forgetting": (25, 1, 1e4, True),
    "noise_ratio": (1, 0.01, 100, True),
    "removed": (1, 0, 10, False),
    "delta": ("0.00001", 1e-12, 1, True),
    "epsilon": (1, 0, 20, False),
}
"""Each letter's value to begin with (the setting of the paper's figures), where its slider begins and ends, and whether
it is logarithmic; the number beside a slider takes any value."""


def write_page(folder: Path, given: Mapping[str, Number] | None = None) -> Path:
    """Write the page as `folder`/index.html, whole or not at all; the folder is made where it does not exist."""
    require_writable_folder(folder)
    text = build(given)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "index.html", text)
    return folder / "index.html"


def build(given: Mapping[str, Number] | None = None) -> str:
    """The page, with certified values at the letters `given` (by default the setting of the paper's figures)."""
    letters: dict[str, Number] = {name: value for name, (value, *_) in _CONTROLS.items()}
    letters |= given or {}
    run = Setting(**{name: value for name, value in letters.items() if name in PARAMETER_NAMES})
    arguments = {name: admit(name, value) for name, value in letters.items() if name not in PARAMETER_NAMES}
    entries = examine_all()
    about: dict[str, list[Entry]] = {}
    for entry in entries:
        about.setdefault(entry.claim.label, []).append(entry)
    shown = drawn()
    cards, programs = [], {}
    everything = statements()
    for number, found in enumerate(everything, start=1):
        progress(number, len(everything), found.label)
        cards.append(card(found, run, arguments, about.get(found.label, []), shown))
        if (data := live(found)) is not None:
            programs[found.label] = {**data, "formula": mathml(found.latex())}
    progress(0, 0, "")
    page_data = {
        "setting": {name: float(admit(name, value)) for name, value in letters.items()},
        "letters": {name: _letter(name) for name in letters},
        "live": programs,
    }
    return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
        css=_source("page.css"),
        calculator=_source("calculator.js"),
        script=_source("page.js"),
        version=version("hsdp_symbolic"),
        summary=summary(entries),
        setting=", ".join(
            f"{name} = {value}" for name, value in letters.items() if name in {*PARAMETER_NAMES, "alpha"}
        ),
        options="".join(
            f"<option{' selected' if label == 'thm:shuffle' else ''}>{label}</option>" for label in programs
        ),
        statements="\n".join(cards),
        figures=figures(shown),
        chips=chips(entries),
        rows="\n".join(map(row, entries)),
        data=json.dumps(page_data, ensure_ascii=False).replace("<", "\\u003c"),
    )


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _letter(name: str) -> dict[str, object]:
    letter = LETTERS[name]
    _, low, high, logarithmic = _CONTROLS[name]
    return {
        "math": mathml(letter.tex, inline=True),
        "meaning": letter.meaning,
        "range": letter.describe_range(),
        "low": letter.low,
        "strict": letter.strict,
        "integer": letter.integer,
        "high": letter.high,
        "from": low,
        "to": high,
        "log": logarithmic,
    }
