"""Remarks on the labels that people gave."""

from __future__ import annotations

import polars as pl

from pipeline.errors import did_you_mean
from pipeline.kernels.annotation.names import fold
from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark

JOINING = ("join.sheets",)


@check(stages=JOINING, threshold=20, means="candidates that several people labelled")
def all_agree(look: Look, threshold: float) -> Found:
    """Find annotators who agree on every candidate that several of them labelled."""
    several = (
        look.outputs["annotations"]
        .group_by("id")
        .agg(people=pl.col("annotator").n_unique(), labels=pl.col("label").n_unique())
        .filter(pl.col("people") > 1)
        .select(shared=pl.len(), agreed=(pl.col("labels") == 1).sum())
        .collect()
    )
    shared, agreed = several.row(0)
    if shared >= threshold and agreed == shared:
        yield remark(
            "note",
            f"all annotators agree on all {shared:,} candidates that several of them labelled",
            remedy="make sure that they annotated each by himself, and not the easy ones alone",
            shared=shared,
        )


@check(stages=JOINING, threshold=20, means="labels of one annotator")
def one_label(look: Look, threshold: float) -> Found:
    """Find annotators who gave one and the same label to everything."""
    people = (
        look.outputs["annotations"]
        .group_by("annotator")
        .agg(given=pl.len(), labels=pl.col("label").n_unique(), label=pl.col("label").first())
        .filter(pl.col("given") >= threshold, pl.col("labels") == 1)
        .sort("annotator")
        .collect()
    )
    if people.is_empty():
        return
    name, given, _, label = people.row(0)
    yield remark(
        "warning",
        f"{people.height:,} annotator(s) gave one label only: {name} {label!r}, {given:,} times",
        such_as=people["annotator"][1:],
        remedy="ask whether the sheet was filled in by copying down",
        annotators=people.height,
    )


@check(stages=JOINING, threshold=1, means="labels")
def unasked_annotator(look: Look, threshold: float) -> Found:
    """Find names that no sheet asks, such as one that was mistyped."""
    labels = look.outputs["annotations"].group_by("annotator").agg(given=pl.len())
    former = pl.LazyFrame({"annotator": look.config.former}, schema={"annotator": pl.String})
    asked = [look.inputs[name] for name in ("sheet", "earlier") if name in look.inputs]
    known = pl.concat(each.select("annotator") for each in [*asked, former]).unique()
    strange = labels.join(known, on="annotator", how="anti").sort("annotator").collect()
    given = int(strange["given"].sum())
    if given < threshold:
        return
    names = known.collect()["annotator"].sort().to_list()
    first = str(strange["annotator"][0])
    yield remark(
        "warning",
        f"{given:,} label(s) are of {strange.height:,} annotator(s) whom no sheet"
        f" asks ({', '.join(names)}), and count as theirs",
        such_as=[f"{name} ({labelled:,})" for name, labelled in strange.iter_rows()],
        remedy=f"mend the name in the sheet; {did_you_mean(first, names)}",
        labels=given,
    )


@check(stages=("evaluate.agreement",), threshold=1, means="people with several names")
def several_names(look: Look, threshold: float) -> Found:
    """Find names that are one when case, blanks and Unicode form are left out of account."""
    typed = look.inputs["annotations"].select(pl.col("annotator").unique().sort()).collect()
    people: dict[str, list[str]] = {}
    for name in typed["annotator"]:
        people.setdefault(fold(name), []).append(repr(name))
    several = [" = ".join(names) for names in people.values() if len(names) > 1]
    if several and len(several) >= threshold:
        yield remark(
            "note",
            f"{len(several):,} annotator(s) have several names, which count as one person",
            such_as=several,
            remedy="give different people names that differ in more than case and blanks",
            people=len(several),
        )


@check(stages=JOINING, threshold=0.1, means="share of the labelled candidates")
def undecided(look: Look, threshold: float) -> Found:
    """Count candidates on which the annotators differ, so that none of their labels stands."""
    counted = look.outputs["adjudicated"].select(
        open=(pl.col("label").is_null() & (pl.col("annotators") > 1)).sum(), every=pl.len()
    )
    open_, every = counted.collect().row(0)
    if every and open_ and open_ / every >= threshold:
        yield remark(
            "info",
            f"the annotators differ on {open_:,} of {every:,} labelled candidates, which count as"
            " undecided",
            remedy="let a third person decide: a sheet of agreement.disagreements",
            undecided=open_,
            labelled=every,
        )
