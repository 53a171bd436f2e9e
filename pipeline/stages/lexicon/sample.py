"""Samples of lemmas, keying sheets for a printed dictionary, and joining of answers."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels import numeric
from pipeline.kernels.annotation.sheets import assign, notes, unassigned_faults, unify_names
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.lexicon.wordlists import (
    Design,
    canonical,
    common_in_parts,
    contradictions,
    keyed_forms,
    keying_faults,
    normalise,
    paradigm_sizes,
    sample_by_size,
    simple_sample,
    size_groups,
    sizes,
)
from pipeline.kernels.sampling import candidate_id, sample_size
from pipeline.stages.base import (
    FAULTS,
    FilledSheets,
    LexiconSource,
    Of,
    Outputs,
    Seeded,
    Sheets,
    StageConfig,
    Tables,
    stage,
    tables_of_option,
)
from pipeline.stages.inputs import Asks, Names, require, wait_for
from pipeline.stages.lexicon.extract import Spelt, change_steps, preparation
from schemas import (
    KeyedEntries,
    KeyedLemmas,
    KeyingRows,
    LemmaSample,
    LemmaSizes,
    Preparation,
    WordList,
)

# From completed keying sheets to a gold lexicon of the sampled lemmas


class JoinKeying(Asks, Spelt):
    """Join completed keying sheets into a gold lexicon of the sampled lemmas."""

    sheet: Annotated[str, Of(KeyingRows)]
    """The sheets as laid out."""
    folder: Annotated[str | None, FilledSheets(KeyedEntries, "keying_sheet")] = Field(
        default=None, pattern=r"^[\w-]+$"
    )
    """Folder of the sheets and of decisions made in the browser."""
    entries: Annotated[str | None, Of(KeyedEntries)] = None
    """Alternative to folder: a table of entries, e.g. from simulated keying."""
    lemma_is_form: bool = False
    """Count each lemma as one of its forms, keyed in or not."""
    partial: bool = False
    """Continue despite missing lemmas, which are ignored."""

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
    """Check all returned rows, wait for missing lemmas, then list the forms."""
    sheet = tables["sheet"]
    asked, known = sheet.select("lemma").unique(), config.known(sheet)
    entries = unify_names(tables["entries" if config.entries else "folder"], known)
    every = keyed_forms(entries).collect()
    typed = every.lazy().join(asked, on="lemma", how="semi").collect()
    wrong = pl.concat([
        keying_faults(entries),
        unassigned_faults(entries.join(asked, on="lemma", how="semi"), known=known, answer="forms"),
        contradictions(normalise(every, config.spelling, columns=["form"])[0].lazy()),
    ])  # fmt: skip
    empty = sheet.join(typed.lazy(), on="lemma", how="anti")
    missing = empty.select(pl.col("lemma").n_unique()).collect().item()
    if missing and not config.partial and wrong.limit(1).collect().is_empty():
        place, shown = config.folder or str(config.entries), empty.with_columns(shown="lemma")
        raise wait_for(shown, folder=place, missing=missing, what="lemma")
    spelt, counts = normalise(typed, config.spelling, columns=["form"])
    rows = spelt.lazy().select("lemma", "form")
    forms = rows.drop_nulls("form")
    own = forms.select("lemma", form=pl.col("lemma"))
    gold = canonical(pl.concat([forms, own]) if config.lemma_is_form else forms)
    return {
        "gold": gold,
        "keyed": _keyed_lemmas(rows.select("lemma").unique(), gold, entries),
        # Rows of lemmas outside this sample, e.g. of earlier samples.
        "others": entries.join(asked, on="lemma", how="anti"),
        "notes": notes(entries),
        "preparation": preparation(
            [
                ("forms keyed in", typed["form"].count(), None),
                *change_steps(counts),
                ("lemmas to look up", asked.collect().height, None),
                ("lemmas not looked up yet", missing, None),
            ]
        ),
        FAULTS: wrong,
    }


def _keyed_lemmas(lemmas: pl.LazyFrame, gold: pl.LazyFrame, entries: pl.LazyFrame) -> pl.LazyFrame:
    remarks = entries.drop_nulls(["lemma", "note"]).group_by("lemma")
    notes = remarks.agg(note=pl.col("note").unique().sort().str.join("; "))
    counted = lemmas.join(sizes(gold, name="n_forms"), on="lemma", how="left")
    full = counted.join(notes, on="lemma", how="left")
    forms = pl.col("n_forms").fill_null(0)
    return full.select("lemma", found=forms > 0, n_forms=forms, note="note")


# Samples of lemmas

_NOT_COMMON = "is not a lemma of the gold standard and all lexicons"


class SampleLemmas(Seeded):
    """Draw lemmas that the gold standard and all lexicons have, or use a given list."""

    gold: Annotated[str | None, Of(WordList)] = None
    """The gold standard; omit it if it will be keyed in."""
    lexicons: Annotated[tuple[str, ...], Of(WordList)] = Field(min_length=1)
    """The lexicon to evaluate, or several to compare on the same lemmas."""
    rate: float | None = Field(default=None, gt=0, le=1)
    """Sampling rate lambda among common lemmas. Give rate, size, lemmas or path."""
    size: int | None = Field(default=None, ge=1)
    """Number of lemmas to draw."""
    design: Design = "size"
    """With rate or size: inclusion probabilities proportional to the number of forms (gold, else
    lexicon), or ``simple``: equal ones, which need far more lemmas for the same precision of L* and
    give unreliable limits if a few lemmas have very many forms.
    """
    lemmas: tuple[str, ...] = ()
    """List of lemmas."""
    path: LexiconSource | None = None
    """File with a column lemma that lists the lemmas."""
    drawn: bool = False
    """The listed lemmas were drawn at random, so that intervals apply."""

    @model_validator(mode="after")
    def _one_of_four(self) -> SampleLemmas:
        choices = (self.rate, self.size, self.lemmas or None, self.path)
        if sum(each is not None for each in choices) != 1:
            raise ValueError("give exactly one of rate, size, lemmas and path")
        if self.drawn and (self.rate or self.size):
            raise ValueError("drawn requires lemmas or path: rate and size always draw at random")
        listed = not (self.rate or self.size)
        if listed and self.design == "size" and "design" in self.model_fields_set:
            raise ValueError(f"design = {self.design!r} requires rate or size, not a list")
        return self


@stage("sample.lemmas", config=SampleLemmas, outputs={"sample": LemmaSample, "sizes": LemmaSizes})
def sample_lemmas(config: SampleLemmas, tables: Tables) -> Outputs:
    """Draw without replacement, by the seed: smaller samples are subsets of larger ones."""
    gold = tables["gold"] if config.gold else None
    lexicons = tables_of_option(tables, "lexicons", config.lexicons)
    shared = common_in_parts(*([] if gold is None else [gold]), *lexicons)
    weighed = paradigm_sizes(shared.lazy(), gold, lexicons)
    found: Outputs = {}
    if config.path is not None:
        sample, found = _from_file(tables["path"], shared, drawn=config.drawn)
    elif config.lemmas:
        sample = _from_list(config, shared, dry=shared.is_empty())
    else:
        size = config.size or sample_size(shared.height, rate=config.rate or 1.0)
        draw = sample_by_size if config.design == "size" else simple_sample
        sample = _sample_table(draw(weighed, size=size, seed=config.seed), shared, drawn=True)
    return {"sample": sample, "sizes": size_groups(weighed, sample), **found}


def _sample_table(chosen: pl.DataFrame, shared: pl.DataFrame, *, drawn: bool) -> pl.DataFrame:
    """Return the table; drawn lists have equal inclusion probabilities."""
    if "pi" not in chosen.columns:
        chance = chosen.height / max(1, shared.height) if drawn else None
        chosen = chosen.with_columns(pi=pl.lit(chance, pl.Float64))
    return chosen.select(
        "lemma", "position", population=pl.lit(shared.height, pl.Int64), drawn=pl.lit(drawn),
        pi="pi", stratum=pl.lit("all"),
    )  # fmt: skip


def _number(lemmas: pl.DataFrame) -> pl.DataFrame:
    once = lemmas.unique("lemma", maintain_order=True)
    return once.select("lemma", position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))


def _from_list(config: SampleLemmas, shared: pl.DataFrame, *, dry: bool) -> pl.DataFrame:
    asked = _number(pl.DataFrame({"lemma": list(config.lemmas)}))
    unknown = asked.join(shared, on="lemma", how="anti", maintain_order="left")["lemma"]
    if dry:
        return _sample_table(asked.clear(), shared, drawn=config.drawn)
    if len(unknown):
        what = (
            f"{len(unknown):,} of {asked.height:,} lemmas are not in the gold standard and all "
            "lexicons"
        )
        such = f"for example {', '.join(map(repr, unknown.head(3)))}"
        raise ConfigError("lemmas", [Problem("lemmas", f"{what}, {such}", "omit them")])
    return _sample_table(asked, shared, drawn=config.drawn)


def _from_file(
    raw: pl.LazyFrame, shared: pl.DataFrame, *, drawn: bool
) -> tuple[pl.DataFrame, Outputs]:
    require(raw.collect_schema(), [("path", "lemma")])
    words = {"lemma": numeric.text_or_null("lemma")}
    empty = numeric.faults(raw, parsed=words, problem=NO_WORD, required=True)
    rows = raw.with_columns(words["lemma"].str.strip_chars()).drop_nulls("lemma")
    unknown = rows.join(shared.lazy(), on="lemma", how="anti").select(
        "file", "line", column=pl.lit("lemma"), value="lemma", problem=pl.lit(_NOT_COMMON)
    )
    asked = _number(rows.sort("file", "line").select("lemma").collect())
    lemmas = asked.join(shared, on="lemma", how="semi")
    return _sample_table(lemmas, shared, drawn=drawn), {FAULTS: pl.concat([empty, unknown])}


# Keying sheets: lemmas to look up in a printed dictionary


class SheetKeying(Seeded):
    """Make sheets for keying in the dictionary's forms of the sampled lemmas."""

    lexicon: Annotated[str, Of(WordList)]
    """The lexicon, for forms to show."""
    sample: Annotated[str, Of(LemmaSample)]
    """The lemmas to look up."""
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the sheets; existing sheets are never overwritten."""
    annotators: Names = Field(default=("annotator",), min_length=1)
    """Names of the annotators; each lemma is assigned to one."""
    shown: bool = True
    """Show the lexicon's forms beside the lemma."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """File format."""
    instructions: str = ""
    """Instructions to annotators, e.g. which dictionary to use."""


@stage(
    "sheet.keying",
    config=SheetKeying,
    outputs={"sheet": KeyingRows},
    delivers=lambda config: Sheets(config.folder, config.kind, "keying_sheet", config.instructions),
)
def sheet_keying(config: SheetKeying, tables: Tables) -> Outputs:
    """Assign each lemma, and add its forms in the lexicon."""
    lemmas = tables["sample"].select(candidate_id("lemma"), "lemma")
    assigned = assign(
        lemmas.select("id"), annotators=config.annotators, overlap=0.0, seed=config.seed
    )
    rows = assigned.join(lemmas, on="id").select("annotator", "order", "id", "lemma")
    if config.shown:
        forms = tables["lexicon"].drop_nulls("form").group_by("lemma")
        beside = forms.agg(lexicon_forms=pl.col("form").sort().str.join(", "))
        rows = rows.join(beside, on="lemma", how="left")
    return {"sheet": rows}


# Simulated answers, from a digitised dictionary


class SheetKeyingSimulated(StageConfig):
    """Complete the keying sheets from a digital dictionary, to simulate keying."""

    sheet: Annotated[str, Of(KeyingRows)]
    """The sheets to complete."""
    gold: Annotated[str, Of(WordList)]
    """The dictionary."""


@stage("sheet.keying_simulated", config=SheetKeyingSimulated, outputs={"entries": KeyedEntries})
def sheet_keying_simulated(_config: SheetKeyingSimulated, tables: Tables) -> Outputs:
    """Add the known forms to every row of the sheet, or a - if there are none."""
    by_lemma = tables["gold"].drop_nulls("form").group_by("lemma")
    forms = by_lemma.agg(forms=pl.col("form").sort().str.join(", "))
    rows = tables["sheet"].join(forms, on="lemma", how="left").select(
        file=pl.concat_str("annotator", pl.lit(" (simulated)")), line=pl.col("order") + 1,
        annotator="annotator", id="id", lemma="lemma", forms=pl.col("forms").fill_null("-"),
        note=pl.lit(None, pl.String),
    )  # fmt: skip
    return {"entries": rows}
