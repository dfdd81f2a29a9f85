"""Executes the notebooks' sources and writes the paired `.ipynb`, or checks that those are still true.

    python notebooks/build.py                      # execute all, write all
    python notebooks/build.py 2_figures            # one of them
    python notebooks/build.py --check              # execute all, compare with what is stored, write nothing

A source is a Python file in percent format. Each runs from scratch in a kernel of the Python that runs this file. What is
stored is the same on every run: no times, no random cell ids, no progress lines.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMES = tuple(path.stem for path in sorted(HERE.glob("[0-9]*.py")))
SECONDS = 300
"""How long one cell may take before something must be wrong."""
_PICTURES = ("image/png", "image/jpeg", "image/svg+xml")

Notebook = dict[str, Any]


def read_source(name: str) -> Notebook:
    """The cells of a source, without outputs."""
    import jupytext
    import nbformat

    notebook = jupytext.read(HERE / f"{name}.py", fmt="py:percent")
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
    found: Notebook = json.loads(nbformat.writes(notebook))
    return found


def execute(source: Notebook) -> Notebook:
    """The same cells with outputs, from a fresh kernel; an error in a cell is an error here, and so is a warning."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.reads(json.dumps(source), as_version=4)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = (
        "1"  # the kernel of this Python, not one the user has registered
    )
    with tempfile.TemporaryDirectory() as profile:
        environment = os.environ | {"IPYTHONDIR": profile}
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": str(HERE)}},
        )
        client.execute(env=environment)
    done: Notebook = json.loads(nbformat.writes(notebook))
    done["metadata"] = source["metadata"]
    for cell in done["cells"]:
        cell["metadata"] = {}
        if "outputs" in cell:
            cell["outputs"] = _lasting(cell["outputs"])
    return done


def _lasting(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outputs without progress lines, which come and go with the speed of the machine, and text in one piece."""
    found: list[dict[str, Any]] = []
    for output in outputs:
        if output.get("name") == "stderr":
            if "Warning" in (text := "".join(output["text"])):
                raise RuntimeError(text)
        elif found and output["output_type"] == found[-1]["output_type"] == "stream":
            found[-1]["text"] = "".join([*found[-1]["text"], *output["text"]]).splitlines(
                keepends=True
            )
        else:
            found.append(output)
    return found


def differences(stored: Notebook, fresh: Notebook) -> list[str]:
    """Where two notebooks differ in cells or in text shown; a picture need only be there in both."""
    before, after = (_lines(notebook) for notebook in (stored, fresh))
    return list(difflib.unified_diff(before, after, "stored", "fresh", lineterm="", n=1))


def _lines(notebook: Notebook) -> list[str]:
    found = []
    for cell in notebook["cells"]:
        found += [f"[{cell['cell_type']}]", *"".join(cell["source"]).splitlines()]
        for output in cell.get("outputs", ()):
            found.append(f"  [{output['output_type']} {output.get('name', '')}]")
            texts = {"text": output["text"]} if "text" in output else output.get("data", {})
            for kind, content in sorted(texts.items()):
                shown = (
                    ["(a picture)"] if kind in _PICTURES else "".join(content).splitlines()
                )
                found += [f"  {kind}: {line}" for line in shown]
    return found


def stored(name: str) -> Notebook:
    found: Notebook = json.loads((HERE / f"{name}.ipynb").read_text(encoding="utf-8"))
    return found


def write(name: str, notebook: Notebook) -> None:
    from hsdp_symbolic.files import write_atomically

    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
    write_atomically(HERE / f"{name}.ipynb", text + "\n")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Execute the notebooks and write them, or check what is stored."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)} (default: all)"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit 1 if what is stored is not true",
    )
    chosen = parser.parse_args(arguments)
    for name in set(chosen.names) - set(NAMES):
        parser.error(f"no notebook {name!r}; there are {', '.join(NAMES)}")
    wrong = False
    for name in chosen.names or NAMES:
        print(f"executing {name}", file=sys.stderr)
        fresh = execute(read_source(name))
        if not chosen.check:
            write(name, fresh)
        elif found := differences(stored(name), fresh):
            wrong = True
            print("\n".join([f"{name}.ipynb is not what its source gives:", *found]))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
