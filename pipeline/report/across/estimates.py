"""What of a table over the points of a sweep can be drawn: an estimate, its limits, its names."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from schemas import Findings, Table

VALUES = ("l_star", "value", "estimate", "difference", "precision", "recall", "mean")
"""Columns that hold an estimate; of those that a table has, limits belong to the first."""
NAMES = ("system", "lexicon", "subset", "measure")
"""Columns whose values have a stroke of their own."""
OF_SYSTEMS = ("value", "mean")
"""Those that are drawn without limits too, where they have names."""
LIMITS = ("lower", "upper")
GROUP = "by "
"""How the names of columns begin that hold the groups: a table may have an n among them."""
RUN = "run"
"""A column that tells runs of one system apart: all of them are drawn with the system's stroke."""
STATISTIC = "statistic"
"""A column that says what an estimate is of, in a table whose key is a number."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the estimates of a table are drawn.

    Parameters
    ----------
    value : str
        The column of the estimate.
    is_share : bool
        Whether it is a proportion, drawn in per cent.
    name : str
        The column whose values are the lines; empty if there is none.
    over_n : bool
        Whether a point has estimates for many n.
    groups : tuple of str
        The other columns that tell estimates of a point apart: a figure for each.
    """

    value: str
    is_share: bool
    name: str
    over_n: bool
    groups: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the y axis is called."""
        said = {"l_star": "L*"}.get(self.value, self.value)
        return f"{said} (%)" if self.is_share else said


def shape_of(model: type[Table] | None, frame: pl.DataFrame) -> Shape | None:
    """Return how the estimates of a table are drawn; None if it has none, or is one of sentences.

    Parameters
    ----------
    model : type of Table or None
        What the table is.
    frame : DataFrame
        Its rows at a point, without the settings.

    Examples
    --------
    >>> from schemas import Precision
    >>> shape = shape_of(Precision, Precision.zero_rows().collect())
    >>> shape.value, shape.is_share, shape.name, shape.groups
    ('precision', True, 'measure', ('category', 'n'))
    """
    value = next((name for name in VALUES if _is_number(frame, name)), "")
    if model is None or model is Findings or not value:
        return None
    key = [name for name in model.key() if name in frame.columns]
    if STATISTIC in frame.columns:
        key = [STATISTIC]
    name = next((each for each in NAMES if each in key), "")
    if not set(LIMITS) <= set(frame.columns) and not (name and value in OF_SYSTEMS):
        return None
    over_n = "n" in key and frame["n"].n_unique() > 1
    apart = {name, RUN, *(["n"] if over_n else [])}
    groups = tuple(each for each in key if each not in apart)
    is_share = "proportion" in model.descriptions().get(value, "")
    return Shape(value=value, is_share=is_share, name=name, over_n=over_n, groups=groups)


def _is_number(frame: pl.DataFrame, name: str) -> bool:
    return name in frame.columns and frame.schema[name].is_numeric()


def estimates(frame: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Return line, n, y, lower, upper and the groups of a table; n is 0 where it is no axis.

    Examples
    --------
    >>> frame = pl.DataFrame({"category": ["TP"], "measure": ["mi"], "n": [9],
    ...     "precision": [0.25], "lower": [0.2], "upper": [None]})
    >>> shape = Shape(value="precision", is_share=True, name="measure", over_n=True,
    ...     groups=("category",))
    >>> estimates(frame, shape).row(0)
    ('TP', 'mi', 9.0, 25.0, 20.0, None)
    """
    factor = 100.0 if shape.is_share else 1.0
    limits = [name if name in frame.columns else None for name in LIMITS]
    drawn = {"y": shape.value, **dict(zip(LIMITS, limits, strict=True))}
    return frame.select(
        *[
            pl.col(name).cast(pl.String).fill_null("–").alias(f"{GROUP}{name}")
            for name in shape.groups
        ],
        pl.col(shape.name).cast(pl.String).alias("line")
        if shape.name
        else pl.lit("").alias("line"),
        (pl.col("n") if shape.over_n else pl.lit(0)).cast(pl.Float64).alias("n"),
        *[
            (pl.lit(None) if of is None else factor * pl.col(of)).cast(pl.Float64).alias(name)
            for name, of in drawn.items()
        ],
    ).with_columns(pl.when(pl.col("y").is_finite()).then("y"))
