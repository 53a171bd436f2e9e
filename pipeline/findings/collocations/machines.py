"""How near machines come to people, and how many labels they save."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import categories, said_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.names import called, slug
from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title


@finder(stages=("evaluate.machine",), place=45)
def machines(stage: StageView) -> Iterator[Finding]:
    """Say of each machine how often it is right, and what it is worth where that is sure."""
    judges = stage.table("judges").filter(pl.col("n_judged") > 0).collect()
    confusion, savings = (stage.table(name).collect() for name in ("confusion", "savings"))
    among = categories(judges)
    for row in judges.iter_rows(named=True):
        key = {"category": row["category"], "judge": row["judge"]}
        of = said_of(row["category"], among)
        yield _nearness(row, confusion.filter(**key).row(0, named=True), of)
        if (told := savings.filter(**key)).height:
            yield _worth(row, told, of)


def _nearness(row: dict[str, Any], cells: dict[str, Any], of: str) -> Finding:
    shares = [
        f"{words.estimate(*(cells[f'{name}{end}'] for end in ('', '_lower', '_upper')))} of {what}"
        for name, what in (("sensitivity", "the true positives"), ("specificity", "the others"))
        if cells[name] is not None
    ]
    judged = words.counted(row["n_judged"], "judged draw")
    text = f"judge {called(row['judge'])}{of} labels {' and '.join(shares)} as people do ({judged}"
    if row["kappa"] is not None:
        agreed = words.coefficient(row["kappa"], row["kappa_lower"], row["kappa_upper"])
        text += f"; Cohen's kappa {agreed}"
    return Finding(
        about="machine", text=words.sentence(f"{text})"), question="machine",
        category=row["category"], name=row["judge"], value=row["kappa"],
        lower=row["kappa_lower"], upper=row["kappa_upper"], n=row["n_judged"],
        figure=_figure(row["category"], of),
    )  # fmt: skip


def _worth(row: dict[str, Any], savings: pl.DataFrame, of: str) -> Finding:
    """Say what is saved for lists where the correlation is above 0, and that there are none."""
    sure = savings.filter((pl.col("rho2_lower") > 0) & (pl.col("labels_saved") > 0))
    lists = words.counted(savings.height, "list")
    name = f"judge {called(row['judge'])}{of}"
    if sure.is_empty():
        text = f"for none of {lists} it is shown that {name} saves labels"
    else:
        each = [
            f"{words.per_cent(saved, digits=0)} of the labels for {measure_title(measure)} at {n:,}"
            for measure, n, saved in sure.select("measure", "n", "labels_saved").iter_rows()
        ]
        text = f"{name} is worth {words.listed(each)}"
    return Finding(
        about="labels saved", text=words.sentence(text), question="machine",
        category=row["category"], name=row["judge"], n=row["n_judged"],
        value=None if sure.is_empty() else sure["labels_saved"][0],
        figure=_figure(row["category"], of),
    )  # fmt: skip


def _figure(category: str, of: str) -> str:
    """Return the name of the figure: with the category where there are several."""
    return f"reliability-{slug(category)}" if of else "reliability"
