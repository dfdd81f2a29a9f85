"""Plain sentences with Unicode mathematics as ASCII LaTeX, or as Markdown."""

from __future__ import annotations

import re
import unicodedata

from ..errors import ArgumentError

_WORDS = r"""
α \alpha β \beta γ \gamma δ \delta ε \varepsilon ζ \zeta η \eta θ \theta κ \kappa λ \lambda μ \mu ν \nu ξ \xi π \pi
ρ \rho σ \sigma τ \tau φ \varphi χ \chi ψ \psi ω \omega Γ \Gamma Δ \Delta Θ \Theta Λ \Lambda Π \Pi Σ \Sigma Φ \Phi
Ψ \Psi Ω \Omega ∏ \prod ∑ \sum ₀ _0 ₁ _1 ₂ _2 ₃ _3 ₄ _4 ₅ _5 ₆ _6 ₇ _7 ₈ _8 ₉ _9 ⁰ ^0 ¹ ^1 ² ^2 ³ ^3 ⁴ ^4 ⁵ ^5 ⁶ ^6 ⁷ ^7
⁸ ^8 ⁹ ^9 ⁻ ^- ᵀ ^T ⁿ ^n ᵏ ^k ᵢ _i ⱼ _j ₖ _k ₙ _n ≤ \le ≥ \ge ≠ \ne ≈ \approx ∞ \infty ∈ \in ∉ \notin · \cdot × \times
− - → \to ↦ \mapsto ← \leftarrow ‖ \Vert ∂ \partial ∇ \nabla ⌊ \lfloor ⌋ \rfloor ⌈ \lceil ⌉ \rceil ∫ \int √ \surd
ℓ \ell ½ \tfrac12 ⟨ \langle ⟩ \rangle 𝔼 \mathbb{E} ℝ \mathbb{R} ± \pm ′ ' ⪯ \preceq ⪰ \succeq ⇔ \Leftrightarrow
⇒ \Rightarrow ≪ \ll ≫ \gg ∝ \propto … \ldots ≡ \equiv ∀ \forall ∃ \exists ∘ \circ ⊂ \subset
⊗ \otimes ⊕ \oplus ∼ \sim ∪ \cup ∩ \cap ↓ \downarrow ₊ _+ ⟂ \perp ˣ ^x ᵗ ^t û \hat{u}
""".split()  # noqa: SIM905 — a table to be read
_MATHS = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
_TEXT = {"“": "``", "”": "''", "’": "'", "‘": "`", "–": "--", "—": "---"} | {
    "§": r"\S{}",
}
_ESCAPED = (
    {c: f"\\ensuremath{{{c}}}" for c in "<>|"}
    | {c: f"\\{c}" for c in "&%$#{}"}
    | {
        "_": r"\_\allowbreak{}",  # names of facts are long
        "~": r"\ensuremath{\sim}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
    }
)


_ACCENTS = {"\u0304": r"\bar", "\u0303": r"\tilde", "\u0302": r"\hat"}
_TEXT_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0308": '"',
    "\u030c": "v",
    "\u0327": "c",
}
_TOKEN = re.compile(
    r"(?P<accented>.[\u0302-\u0304])"
    r"|(?P<raised>\^)(?=[\w(])"
    r"|(?<![A-Za-z0-9_:])(?P<base>[^\W\d_]|[∂∇∫])_(?=[\w(])"
    r"|(?P<single>.)",
    re.S,
)


def to_latex(text: str) -> str:
    """Plain text with Unicode mathematics as ASCII LaTeX; a character without a translation is an error."""
    out, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match is not None
        place = match.end()
        if match["accented"]:
            letter, accent = match["accented"][0], match["accented"][1]
            out.append(f"\\ensuremath{{{_ACCENTS[accent]}{{{letter}}}}}")
        elif match["raised"] or match["base"]:
            if match["base"]:
                out.append(_character(match["base"]))
            end = _end_of_group(text, place)
            inner = text[place + 1 : end - 1] if text[place] == "(" else text[place:end]
            out.append(f"\\ensuremath{{{'^' if match['raised'] else '_'}{{{to_latex(inner)}}}}}")
            place = end
        else:
            out.append(_character(match["single"]))
    return "".join(out)


def _end_of_group(text: str, place: int) -> int:
    """Where an exponent or index that starts at `place` ends: a group, a number, a letter with its digits."""
    if text[place] != "(":
        short = re.compile(r"\d+|[A-Za-z]\d*").match(text, place)
        return short.end() if short else place + 1
    depth = 0
    for end in range(place, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return end + 1
    return place + 1


def _character(character: str) -> str:
    if character in _MATHS:
        return f"\\ensuremath{{{_MATHS[character]}}}"
    if character in _ESCAPED or character in _TEXT:
        return _ESCAPED.get(character) or _TEXT[character]
    if character.isascii():
        return character
    taken_apart = unicodedata.normalize("NFD", character)
    if len(taken_apart) == 2 and taken_apart[0].isascii() and taken_apart[1] in _TEXT_ACCENTS:
        return f"\\{_TEXT_ACCENTS[taken_apart[1]]}{{{taken_apart[0]}}}"
    raise ArgumentError("text", character, f"no LaTeX for U+{ord(character):04X}", "add it to tex/words.py")


def to_markdown(text: str) -> str:
    """Plain text with what Markdown would take for markup escaped; Unicode mathematics stays as it is."""
    return re.sub(r"([\\*_<>|$\[\]])", r"\\\1", text)
