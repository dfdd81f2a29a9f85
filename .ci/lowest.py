"""Print the lowest versions that pyproject.toml allows, one `name==version` a line: constraints for pip.

Covers the dependencies and the extra `test`, with the extras that one includes. A dependency without a lower bound is
an error: then there is no lowest version to try.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*(\[(?P<extras>[^]]*)\])?(?P<versions>[^;]*)")
LOWEST = re.compile(r"[>=~]=\s*([0-9][^,\s]*)")


def lowest(project: dict, extra: str) -> dict[str, str]:
    """The lowest version of every dependency, by name, and of everything that `extra` adds."""
    found = {}
    for requirement in [*project["dependencies"], *project["optional-dependencies"][extra]]:
        parts = REQUIREMENT.match(requirement)
        if parts["name"] == project["name"]:
            for included in parts["extras"].split(","):
                found |= lowest(project, included.strip())
            continue
        bound = LOWEST.search(parts["versions"])
        if bound is None:
            sys.exit(f"{requirement}: no lower bound; write {parts['name']}>=VERSION")
        found[parts["name"]] = bound[1]
    return found


if __name__ == "__main__":
    declared = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(f"{name}=={version}" for name, version in sorted(lowest(declared, "test").items())))
