"""LaTeX and Markdown, generated from the symbolic objects: one printer, several views.

`printer` knows how each node is written, and refuses a node it does not know; `layout` breaks long formulas; `views`
are a statement, its hypotheses, its derivation and its values at a setting; `document` is all of them in one file,
`macros` a file of macros for other papers; `words` turns the sentences of the package into LaTeX; `printable` says what
of a statement all these need.

A function of the bounds knows its own LaTeX; the test that reads LaTeX back needs one rule for it in
`tests/tex/latex_reader.py`. A symbol whose name is not letters with an index needs a line in `symbols.TEX`.
"""

from .printer import PaperPrinter, latex, plain
from .views import statement_latex

__all__ = ["PaperPrinter", "latex", "plain", "statement_latex"]
