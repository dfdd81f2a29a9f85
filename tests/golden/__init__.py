"""Output that is kept to compare with: `python -m tests.golden` writes all of it anew; read the difference first.

`statements.json` holds the bare LaTeX of every statement; `document.tex` every statement with hypotheses and
derivation; `macros.tex` the macros; `values.tex` the statements at the paper's figure setting; `markdown.md` the same
views in Markdown; `values.json` values of every statement, to the last bit that every machine agrees on.
"""
