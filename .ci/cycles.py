"""Fail if modules import each other in a circle, deferred imports counted, packages and their own modules included.

`lint-imports` compares siblings only: a module that imports its own package, which imports it, escapes it.
"""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter

import grimp

graph = grimp.build_graph("hsdp_symbolic", "proofs_check", cache_dir=None)
try:
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()
except CycleError as error:
    sys.exit(f"a circle of imports: {' <- '.join(error.args[1])}")
print(f"no circle among {graph.count_imports()} imports of {len(graph.modules)} modules")
