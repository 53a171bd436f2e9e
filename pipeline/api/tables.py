"""The tables of a run by name, opened when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from pipeline.api.markup import grid, texts
from pipeline.errors import ConfigError, UnknownName, did_you_mean

if TYPE_CHECKING:
    from pipeline.api.results import Run


class Tables(Mapping[str, pl.DataFrame]):
    """Every table that a run has made: "stage" is a stage's main one, "stage.table" another.

    Listing them opens none.

    Parameters
    ----------
    run : Run
        The results.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return a table, in the order of its key.

        Raises
        ------
        UnknownName
            If there is none of this name, with the nearest; it is a KeyError.
        """
        if name not in self:
            raise UnknownName(f"no table {name!r}; {self._remedy(name)}")
        return self._run.table(name)

    def _remedy(self, name: str) -> str:
        why = self._run.why_not(name.partition(".")[0])
        return f"its stage is not done: {why}" if why else did_you_mean(name, self)

    def __contains__(self, name: object) -> bool:
        try:
            reference = self._run.reference(str(name))
        except ConfigError:
            return False
        return reference.stage in self._run.manifests

    def __iter__(self) -> Iterator[str]:
        for stage, node in self._run.project.nodes.items():
            if stage in self._run.manifests:
                _, *others = node.stage.outputs
                yield from (stage, *(f"{stage}.{table}" for table in others))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, rows and content of each."""
        for name in self:
            at = self._run.reference(name)
            model = self._run.project.nodes[at.stage].stage.outputs[at.table]
            rows = self._run.manifests[at.stage].tables[at.table].rows
            yield name, f"{rows:,}", (model.__doc__ or "").partition("\n")[0]

    def __repr__(self) -> str:
        return texts(f"{len(self)} tables", ("name", "rows", "what it holds"), self._rows())

    def _repr_html_(self) -> str:
        return grid(("name", "rows", "what it holds"), self._rows(), right=(1,))
