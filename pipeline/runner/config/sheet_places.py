"""Where the sheets of an experiment lie: one place, whatever the working folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.formats.sheets import listing
from pipeline.runner.config.sources import SourceFile, sheet_files

FOLDER = "sheets"


@dataclass(frozen=True)
class SheetPlaces:
    """The folders of an experiment's sheets.

    Parameters
    ----------
    own : Path
        Where sheets are written: a folder in it for each ``folder`` of a stage.
    former : tuple of Path
        Where earlier versions wrote them. Sheets that lie there count, too.
    """

    own: Path
    former: tuple[Path, ...] = ()

    def files(self, name: str, kind: str) -> list[SourceFile]:
        """Return the sheets of a stage's folder, those in former places last.

        Parameters
        ----------
        name : str
            The stage's ``folder``.
        kind : str
            The format of the sheets.
        """
        former = [
            replace(file, label=f"former place {number}: {file.label}")
            for number, folder in enumerate(self.former_folders(name), start=1)
            for file in sheet_files(folder, kind)
        ]
        return [*sheet_files(self.own / name, kind), *former]

    def former_folders(self, name: str) -> Iterator[Path]:
        """Yield the folders of former places that have sheets of a stage."""
        return (place / name for place in self.former if listing(place / name))


def sheet_places(config: Path, *, runs: Path, name: str, written: str = "") -> SheetPlaces:
    """Return where an experiment's sheets lie.

    Parameters
    ----------
    config : Path
        The experiment's file.
    runs : Path
        The folder of all results.
    name : str
        The experiment's name.
    written : str
        The experiment's own word: a path that begins at its file's folder.

    Examples
    --------
    >>> sheet_places(Path("work/pilot.toml"), runs=Path("runs"), name="pilot").own.as_posix()
    'work/sheets/pilot'
    """
    here = config.parent
    own = here / (written or f"{FOLDER}/{name}")
    # The version before wrote to `sheets` in the working folder, mostly that of the results or
    # that of the experiment's file or the one above it, and with --runs to `sheets` in there.
    folders = (runs, runs.parent, here, here.absolute().parent)
    former = {(each / FOLDER).resolve(): each / FOLDER for each in folders}
    former.pop(own.resolve(), None)
    return SheetPlaces(own, tuple(former.values()))
