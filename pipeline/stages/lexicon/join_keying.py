"""From filled keying sheets to a gold lexicon of the sampled lemmas."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels.annotation.names import named, unasked
from pipeline.kernels.annotation.sheet_checks import notes
from pipeline.kernels.lexicon.keyed import contradictions, keyed_forms, keying_faults
from pipeline.kernels.lexicon.normalising import normalised
from pipeline.kernels.lexicon.wordlists import canonical, sizes
from pipeline.stages.base import FAULTS, FilledSheets, Of, Outputs, Tables, stage
from pipeline.stages.lexicon.spelling import Spelt, changed, preparation
from pipeline.stages.people import Asks
from pipeline.stages.waiting import wait_for
from schemas import KeyedEntries, KeyedLemmas, KeyingRows, Preparation, WordList


class JoinKeying(Asks, Spelt):
    """Join the filled keying sheets: what the dictionary says of the sampled lemmas."""

    sheet: Annotated[str, Of(KeyingRows)]
    """What was to be looked up."""
    folder: Annotated[str | None, FilledSheets(KeyedEntries, "keying_sheet")] = Field(
        default=None, pattern=r"^[\w-]+$"
    )
    """Folder of the sheets, and of what people decide in the browser."""
    entries: Annotated[str | None, Of(KeyedEntries)] = None
    """Or a table of what stands in them, such as a simulated person gives."""
    lemma_is_form: bool = False
    """Count each lemma among its own forms, keyed in or not."""
    partial: bool = False
    """Go on although lemmas are missing; they do not count."""

    @model_validator(mode="after")
    def _one_of_two(self) -> JoinKeying:
        if (self.folder is None) == (self.entries is None):
            raise ValueError("give either folder or entries")
        return self


@stage(
    "join.keying",
    config=JoinKeying,
    outputs={
        "gold": WordList,
        "keyed": KeyedLemmas,
        "others": KeyedEntries,
        "notes": KeyedEntries,
        "preparation": Preparation,
    },
)
def join_keying(config: JoinKeying, tables: Tables) -> Outputs:
    """Check every row that came back, wait for missing lemmas, then list the forms."""
    sheet = tables["sheet"]
    asked, known = sheet.select("lemma").unique(), config.known(sheet)
    entries = named(tables["entries" if config.entries else "folder"], known)
    every = keyed_forms(entries).collect()
    typed = every.lazy().join(asked, on="lemma", how="semi").collect()
    wrong = pl.concat([
        keying_faults(entries),
        unasked(entries.join(asked, on="lemma", how="semi"), known=known, answer="forms"),
        contradictions(normalised(every, config.spelling, columns=["form"])[0].lazy()),
    ])  # fmt: skip
    empty = sheet.join(typed.lazy(), on="lemma", how="anti")
    missing = empty.select(pl.col("lemma").n_unique()).collect().item()
    if missing and not config.partial and wrong.limit(1).collect().is_empty():
        place, shown = config.folder or str(config.entries), empty.with_columns(shown="lemma")
        raise wait_for(shown, folder=place, missing=missing, what="lemma")
    spelt, counts = normalised(typed, config.spelling, columns=["form"])
    rows = spelt.lazy().select("lemma", "form")
    forms = rows.drop_nulls("form")
    own = forms.select("lemma", form=pl.col("lemma"))
    gold = canonical(pl.concat([forms, own]) if config.lemma_is_form else forms)
    return {
        "gold": gold,
        "keyed": _keyed(rows.select("lemma").unique(), gold, entries),
        # Rows of lemmas that this sample does not ask for: of earlier samples, or strangers.
        "others": entries.join(asked, on="lemma", how="anti"),
        "notes": notes(entries),
        "preparation": preparation(
            [
                ("forms keyed in", typed["form"].count(), None),
                *changed(counts),
                ("lemmas to look up", asked.collect().height, None),
                ("lemmas not looked up yet", missing, None),
            ]
        ),
        FAULTS: wrong,
    }


def _keyed(lemmas: pl.LazyFrame, gold: pl.LazyFrame, entries: pl.LazyFrame) -> pl.LazyFrame:
    remarks = entries.drop_nulls(["lemma", "note"]).group_by("lemma")
    notes = remarks.agg(note=pl.col("note").unique().sort().str.join("; "))
    counted = lemmas.join(sizes(gold, name="n_forms"), on="lemma", how="left")
    full = counted.join(notes, on="lemma", how="left")
    forms = pl.col("n_forms").fill_null(0)
    return full.select("lemma", found=forms > 0, n_forms=forms, note="note")
