"""From figures to files: everything is made in memory first, then written together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from ..errors import ArgumentError
from ..files import require_writable_folder, write_together
from ..progress import Ticker
from .data import paper_files, tables
from .describe import Description
from .draw import render


def produce(
    figures: Iterable[Description],
    formats: Sequence[str] = ("pdf", "png"),
    *,
    palette: str = "paper",
    ticker: Ticker | None = None,
) -> dict[PurePosixPath, bytes]:
    """The files of some figures, by path: drawings, the numbers they plot, the data files the paper's source reads."""
    found: dict[PurePosixPath, bytes] = {}
    for figure in figures:
        for ending, content in render(figure, formats, palette=palette, ticker=ticker).items():
            found[PurePosixPath(f"{figure.name}.{ending}")] = content
        for path, text in (tables(figure, ticker) | paper_files(figure, ticker)).items():
            found[path] = text.encode()
    return found


def check_folder(out: str | Path) -> None:
    """Refuse a folder that cannot take the files, before anything is drawn."""
    for folder in (".", "data", "data_shuffle_sample", "data_sgm_sample", "data_rec_sample"):
        require_writable_folder(Path(out) / folder)


def save(files: dict[PurePosixPath, bytes], out: str | Path) -> list[Path]:
    """Write the files below the folder `out`; returns their paths."""
    targets = {Path(out) / path: content for path, content in files.items()}
    for folder in {target.parent for target in targets}:
        require_writable_folder(folder)
    try:
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        write_together(targets)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ArgumentError(
            "out", str(out), f"could not be written ({reason})", "free space, or choose another"
        ) from error
    return list(targets)
