"""The sheets in a folder."""

from __future__ import annotations

from pathlib import Path

from pipeline.formats.reading import reading

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
TEXTS = (".csv", ".tsv", ".tab", ".txt")


def listing(folder: Path) -> list[Path]:
    """Return the sheets in a folder, sorted by name.

    Parameters
    ----------
    folder : Path
        Where to look; not in folders below it. An absent folder has no sheets.

    Returns
    -------
    list of Path
        Without hidden files and the lock files of open documents (``~$name.xlsx``,
        ``.~lock.name#``).
    """
    with reading(folder):
        if not folder.is_dir():
            return []
        files = (path for path in folder.iterdir() if _is_sheet(path) and path.is_file())
        return sorted(files, key=lambda path: path.name)


def _is_sheet(path: Path) -> bool:
    return path.suffix.lower() in WORKBOOKS + TEXTS and not path.name.startswith((".", "~$"))
