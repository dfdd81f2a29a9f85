"""The parts of the page: a card for each statement, a row for each claim, the figures."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from html import escape

from latex2mathml.converter import convert

from hsdp_symbolic.errors import HsdpError
from hsdp_symbolic.plots import NEW, PAPER, Figure, Request
from hsdp_symbolic.plots.draw import render
from hsdp_symbolic.progress import progress
from hsdp_symbolic.proof.checks import Evidence
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.setting import Setting
from hsdp_symbolic.standing import proof_record
from hsdp_symbolic.statement import Statement
from hsdp_symbolic.tex import latex

from ..claim import Entry


def mathml(text: str, *, inline: bool = False) -> str:
    """LaTeX as MathML, which browsers draw by themselves."""
    made: str = convert(text, display="inline" if inline else "block")
    return made


def card(
    found: Statement, run: Setting, arguments: Mapping[str, Fraction], entries: list[Entry], shown: list[Figure]
) -> str:
    """A statement: formula, hypotheses, certified value, derivation, and what the audit says about it."""
    proofs = [entry for entry in entries if entry.claim.derives]
    others = [entry for entry in entries if not entry.claim.derives]
    rests = proof_record(found.label)
    needs = "".join(f"<li>{mathml(latex(each), inline=True)}</li>" for each in found.hypotheses)
    assumes = "".join(f"<li>{escape(each)}</li>" for each in found.assumptions)
    number = len(found.hypotheses) + len(found.assumptions)
    proof = "".join(
        f"<li><b>{escape(line['name'] or found.label)}</b>: {escape(line['says'])}"
        + (f" <span class='soft'>[{escape(line['support'])}]</span>" if line["support"] else "")
        + "</li>"
        for line in rests["proof"]
    )
    facts = "".join(
        f"<li><code>{escape(name)}</code> ({escape(all_facts()[name].reference)})</li>" for name in rests["facts"]
    )
    links = ", ".join(
        f"<a href='#figure:{each.name}'>{escape(each.title)}</a>" for each in shown if found.label in sources(each)
    )
    claims = "".join(f"<li>{_badge(entry.verdict)} {_claim_link(entry)}</li>" for entry in others)
    return f"""<article class="card" id="{escape(found.label)}">
<h3><code>{escape(found.label)}</code> {escape(found.title)} {_badge(_worst(proofs))}</h3>
<p class="where">{escape(found.where)}. {escape(found.says)}</p>
<div class="math">{mathml(found.latex())}</div>
<p>{_value(found, run, arguments)}</p>
{f"<p>Drawn in: {links}.</p>" if links else ""}
<details><summary>Hypotheses ({number})</summary><ul>{needs}{assumes}</ul></details>
<details><summary>Proof ({len(rests["proof"])} named theorems)</summary><ol>{proof}</ol>
<p class="soft">{"".join(_evidence(entry.as_printed) for entry in proofs)}</p></details>
<details><summary>Rests on {len(rests["facts"])} cited facts</summary><ul>{facts}</ul></details>
{f"<details><summary>Claims about it ({len(others)})</summary><ul>{claims}</ul></details>" if others else ""}
</article>"""


def _value(found: Statement, run: Setting, arguments: Mapping[str, Fraction]) -> str:
    try:
        used = {name: value for name, value in arguments.items() if name in found.needs}
        lower, upper = found.enclose_at(run, used).decimals(15)
    except HsdpError as error:
        return f"<span class='soft'>No value at this setting: {escape(str(error))}</span>"
    extra = ", ".join(f"{name} = {value}" for name, value in used.items())
    return f"Certified: <code>[{lower}, {upper}]</code>" + (f" <span class='soft'>({extra})</span>" if extra else "")


def _worst(steps: list[Entry]) -> str:
    """The verdict on a derivation: that of the first step that fails, or proved, with the number of citations."""
    verdicts = Counter(entry.verdict for entry in steps)
    failing = [entry.verdict for entry in steps if not entry.passes]
    cited = f", {verdicts['cited']} cited" if verdicts["cited"] else ""
    return failing[0] if failing else f"proved{cited}"


def _badge(verdict: str) -> str:
    kind = "sharper" if "sharper" in verdict else verdict.split()[0].strip(",;")
    return f"<span class='badge {kind}'>{escape(verdict)}</span>"


def _evidence(evidence: Evidence) -> str:
    told = f"{evidence.method}; {evidence.scope}; {evidence.detail}"
    return f"{_badge(str(evidence.verdict))} <span class='soft'>{escape(told)}</span>"


def _claim_link(entry: Entry) -> str:
    return f"<a href='#claim:{escape(entry.claim.id)}'>{escape(entry.claim.id)}</a> {escape(entry.claim.says)}"


def summary(entries: list[Entry]) -> str:
    """How many claims there are, by verdict."""
    verdicts = Counter(entry.verdict for entry in entries)
    return f"{len(entries)} claims examined: " + ", ".join(
        f"{count} {escape(name)}" for name, count in verdicts.items()
    )


def chips(entries: list[Entry]) -> str:
    """A button for each verdict, all pressed."""
    verdicts = Counter(entry.verdict for entry in entries)
    return "".join(
        f"<button type='button' aria-pressed='true' data-verdict='{escape(name)}'>{escape(name)} ({count})</button>"
        for name, count in verdicts.items()
    )


def row(entry: Entry) -> str:
    """A claim with its verdict and the story behind it."""
    claim = entry.claim
    return f"""<div class="row" id="claim:{escape(claim.id)}" data-verdict="{escape(entry.verdict)}">
<p><code>{escape(claim.id)}</code> <span class="where">{escape(claim.where)}</span> {_badge(entry.verdict)}</p>
<p>{escape(claim.says)}</p>
<p class="soft">{escape(entry.story)}</p></div>"""


def drawn() -> list[Figure]:
    """The figures the page shows: the paper's, and those that compare with them."""
    chosen = {**PAPER, **{name: make for name, make in NEW.items() if name in ("crossover", "sharper")}}
    return [make(Request()) for make in chosen.values()]


def figures(shown: list[Figure]) -> str:
    """Figures, drawn anew and carried inside the page."""
    made = []
    for number, figure in enumerate(shown, start=1):
        progress(number, len(shown), f"drawing {figure.name}")
        image = base64.b64encode(render(figure, ["svg"])["svg"]).decode()
        made.append(
            f"<figure id='figure:{figure.name}'>"
            f"<img alt='{escape(figure.title)}' src='data:image/svg+xml;base64,{image}'>"
            f"<figcaption><b>{escape(figure.title)}.</b> {escape(figure.caption)}</figcaption></figure>"
        )
    progress(0, 0, "")
    return "\n".join(made)


def sources(figure: Figure) -> set[str]:
    """The labels of the statements a figure draws."""
    return {str(curve.source) for panel in figure.panels for curve in panel.curves}
