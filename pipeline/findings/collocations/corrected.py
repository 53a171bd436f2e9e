"""What the errors of the annotators make of precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.findings import words
from pipeline.findings.collocations.evidence import categories, said_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title


@finder(stages=("evaluate.precision",), place=22)
def corrected_precision(stage: StageView) -> Iterator[Finding]:
    """Say of the list with most true positives at each size what is left of them, corrected."""
    every = stage.table("corrected").collect()
    among = categories(every)
    lists = every.drop_nulls(["precision", "corrected"])
    order = ["category", "n", "precision", "measure"]
    ordered = lists.sort(order, descending=[False, False, True, False])
    for row in ordered.unique(["category", "n"], keep="first", maintain_order=True).rows(
        named=True
    ):
        yield _corrected(row, said_of(row["category"], among))


def _corrected(row: dict[str, Any], of: str) -> Finding:
    rates = (
        f"sensitivity {words.per_cent(row['sensitivity'])}, "
        f"specificity {words.per_cent(row['specificity'])}"
    )
    said = words.estimate(row["corrected"], row["lower_corrected"], row["upper_corrected"])
    text = (
        f"corrected for errors of the annotators ({rates}): {said} true positives for "
        f"{row['n']:,} candidates by {measure_title(row['measure'])}, "
        f"{words.per_cent(row['precision'])} as judged"
    )
    return Finding(
        about="corrected", text=words.sentence(text), question=f"corrected precision{of}",
        category=row["category"], name=row["measure"], n=row["n"], value=row["corrected"],
        lower=row["lower_corrected"], upper=row["upper_corrected"],
    )  # fmt: skip
