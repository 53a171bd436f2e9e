"""Samples of lemmas, keying sheets for a printed dictionary, and joining of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem, WaitsForPerson
from pipeline.kernels import cells
from pipeline.kernels.annotation.adjudication import (
    CONFLICT,
    Round,
    adjudicate,
    apply_resolutions,
    of_round,
    resolutions,
    unknown_rounds,
)
from pipeline.kernels.annotation.sheets import (
    assign,
    by_fold,
    fold,
    notes,
    unassigned_faults,
    unify_names,
    without_transfers,
)
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.lexicon.keying import (
    EVERYBODY,
    compare_keyings,
    contradictions,
    forms_apart,
    forms_of,
    forms_text,
    keyed_forms,
    keying_agreement,
    keying_faults,
    keyings,
    with_lemmas,
)
from pipeline.kernels.lexicon.wordlists import (
    Design,
    canonical,
    common_in_parts,
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
    SeedOptions,
    Sheets,
    StageConfig,
    Tables,
    stage,
    tables_of_option,
)
from pipeline.stages.inputs import (
    JoinsAnswers,
    Names,
    answers_in_conflict,
    check_expert,
    require,
    wait_for,
)
from pipeline.stages.lexicon.extract import SpellingOptions, change_steps, preparation
from schemas import (
    AboutLemmas,
    KeyedEntries,
    KeyedLemmas,
    KeyingAgreement,
    KeyingDisagreements,
    KeyingResolutions,
    KeyingRows,
    Keyings,
    KeyingsCompared,
    LemmaSample,
    LemmaSizes,
    Preparation,
    WordList,
)
from schemas.errors import count_text

# From completed keying sheets to a gold lexicon of the sampled lemmas


class JoinKeying(JoinsAnswers, SpellingOptions):
    """Join completed keying sheets into a gold lexicon of the sampled lemmas."""

    sheet: Annotated[str, Of(KeyingRows)]
    """Stage that made the sheets."""
    folder: Annotated[str | None, FilledSheets(KeyedEntries, "keying_sheet")] = Field(
        default=None, pattern=r"^[\w-]+$"
    )
    """Folder of the sheets and of decisions made in the browser."""
    entries: Annotated[str | None, Of(KeyedEntries)] = None
    """Alternative to folder: a table of entries, e.g. from simulated keying."""
    earlier: Annotated[str | None, Of(Keyings)] = None
    """Table keyings of an earlier sheet: this one decides where forms differ."""
    rule: Literal["unanimous", "majority", "expert", "union"] = "unanimous"
    """Which forms count where they differ: none without a decision, those of most people, of the
    expert, or of all.
    """
    expert: str | None = None
    """Name of the expert, for rule = "expert"."""
    undecided: Literal["wait", "exclude"] = "wait"
    """Wait for decisions on lemmas with different forms, or exclude these lemmas."""
    confidence: float = Field(default=0.95, gt=0, lt=1)
    """Confidence level of the agreement."""
    lemma_is_form: bool = False
    """Count each lemma as one of its forms, keyed in or not."""
    partial: bool = False
    """Continue despite missing lemmas, which are ignored."""


@stage(
    "join.keying",
    config=JoinKeying,
    agree=check_expert,
    outputs={
        "gold": WordList,
        "keyed": KeyedLemmas,
        "keyings": Keyings,
        "compared": KeyingsCompared,
        "agreement": KeyingAgreement,
        "disagreements": KeyingDisagreements,
        "resolutions": KeyingResolutions,
        "others": KeyedEntries,
        "notes": KeyedEntries,
        "preparation": Preparation,
    },
)
def join_keying(config: JoinKeying, tables: Tables) -> Outputs:
    """Check all returned rows, wait for missing lemmas, then decide on the forms.

    Lemmas that the coordinator gave to others are theirs, whatever the sheet says. Decisions of
    adjudicators are not keyings, and take precedence over the rule.
    """
    returned = tables["entries" if config.entries else "folder"]
    sheet, known = config.sheet_and_known(tables["sheet"], returned)
    lemmas = sheet.select("lemma").unique()
    entries = unify_names(without_transfers(returned), known)
    contested = answers_in_conflict(entries).collect().lazy()
    entries = entries.select(pl.exclude(CONFLICT))
    every = keyed_forms(entries).collect()
    forms = every.lazy().join(lemmas, on="lemma", how="semi").collect()
    spelt, counts = normalise(forms, config.spelling, columns=["form"])
    counted = with_lemmas(spelt.lazy()) if config.lemma_is_form else spelt.lazy()
    first, decisions = (of_round(counted, each) for each in _ROUNDS)
    own = of_round(entries, "annotation").join(lemmas, on="lemma", how="semi")
    all_spelt = normalise(every, config.spelling, columns=["form"])[0].lazy()
    wrong = pl.concat([
        unknown_rounds(entries),
        *(keying_faults(of_round(entries, each)) for each in _ROUNDS),
        unassigned_faults(own, known=known, answer="forms"),
        *(contradictions(of_round(all_spelt, each)) for each in _ROUNDS),
    ])  # fmt: skip
    valid = wrong.limit(1).collect().is_empty()
    if valid and not config.partial:
        _wait_for_lemmas(sheet, first, contested, own, config.folder or str(config.entries))
    texts, decisions = keyings(first), keyings(decisions)
    if "earlier" in tables:  # this sheet decides on the lemmas keyed in before, and adds others
        before = tables["earlier"]
        texts, decisions = _after(keyings(before), pl.concat([texts, decisions]))
        first = pl.concat([before, first.join(before, on="lemma", how="anti").select(_KEYING)])
    decided, resolved = _decide(config, texts, decisions, entries, known)
    undecided = decided.filter(pl.col("label").is_null()).select("lemma")
    differ = texts.join(
        texts.unique(["lemma", "label"]).group_by("lemma").len().filter(pl.col("len") > 1),
        on="lemma", how="semi",
    ).select("lemma", "annotator", forms=forms_text("label"))  # fmt: skip
    if config.rule == "union":
        decided = pl.concat(
            [
                decided.drop_nulls("label"),
                texts.join(undecided, on="lemma", how="semi").select("lemma", "label"),
            ]
        )
    elif valid and config.undecided == "wait":
        open_ = differ.join(undecided, on="lemma", how="semi").select("lemma").unique()
        _wait_for_decisions(config, open_, texts, decisions)
    final = decided.drop_nulls("label").select("lemma", form=forms_of("label"))
    gold = canonical(final.explode("form").drop_nulls("form"))
    compared = compare_keyings(texts)
    lacking = lemmas.join(forms.lazy(), on="lemma", how="anti").collect().height
    return {
        "gold": gold,
        "keyed": _keyed_lemmas(final.select("lemma").unique(), gold, entries),
        "keyings": first.select(_KEYING).unique(),
        "compared": compared,
        "agreement": keying_agreement(compared, confidence=config.confidence),
        "disagreements": differ,
        "resolutions": resolved,
        # Rows of lemmas outside this sample, e.g. of earlier samples.
        "others": entries.join(lemmas, on="lemma", how="anti"),
        "notes": notes(entries),
        "preparation": preparation(
            [
                ("forms keyed in", forms["form"].count(), None),
                *change_steps(counts),
                ("lemmas to look up", lemmas.collect().height, None),
                ("lemmas not looked up yet", lacking, None),
            ]
        ),
        FAULTS: wrong,
    }


_ROUNDS: tuple[Round, ...] = ("annotation", "adjudication")
_KEYING = list(Keyings.columns())


def _after(before: pl.LazyFrame, now: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return the first keyings of all lemmas, and what was keyed in again as decisions."""
    new = now.join(before, on="lemma", how="anti")
    return pl.concat([before, new]), now.join(before, on="lemma", how="semi")


def _decide(
    config: JoinKeying,
    texts: pl.LazyFrame,
    decisions: pl.LazyFrame,
    entries: pl.LazyFrame,
    known: Sequence[str],
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return lemma and label (null = undecided), and the resolutions of adjudicators."""
    remarks = entries.drop_nulls(["lemma", "annotator", "note"]).group_by("lemma", "annotator")
    noted = remarks.agg(note=pl.col("note").unique().sort().str.join("; "))
    votes = texts.rename({"lemma": "id"})
    answers = decisions.join(noted, on=["lemma", "annotator"], how="left").rename({"lemma": "id"})
    resolved = resolutions(votes, answers)
    people = [*known, *texts.select(pl.col("annotator").unique().sort()).collect().to_series()]
    expert = config.expert and by_fold(people).get(fold(config.expert), config.expert)
    rule = "unanimous" if config.rule == "union" else config.rule
    decided = apply_resolutions(adjudicate(votes, rule=rule, expert=expert), resolved)
    return decided.select(lemma="id", label="label"), resolved.select(
        lemma="id", forms=forms_text("label"), annotator="annotator", note="note",
        first=forms_text("first"),
    )  # fmt: skip


def _wait_for_lemmas(
    sheet: pl.LazyFrame,
    first: pl.LazyFrame,
    contested: pl.LazyFrame,
    entries: pl.LazyFrame,
    folder: str,
) -> None:
    """Wait for missing lemmas: each needs as many people as have it on their sheets."""
    people = pl.col("annotator").n_unique()
    has = first.group_by("lemma").agg(given=people)
    needs = sheet.group_by("lemma").agg(needed=people).join(has, on="lemma", how="left")
    short = needs.filter(pl.col("given").fill_null(0) < pl.col("needed"))
    empty = sheet.join(short, on="lemma", how="semi").join(
        first, on=["lemma", "annotator"], how="anti"
    )
    missing = empty.select(pl.col("lemma").n_unique()).collect().item()
    if missing:
        cards = empty.with_columns(shown="lemma")
        raise wait_for(cards, contested, entries, folder=folder, missing=missing, what="lemma")


_SHOWN = 5
"""Lemmas, or pairs of people, in the message of a stage that waits for decisions."""
_FORMS_SHOWN = 4
"""Forms of a person for a lemma in this message."""


def _wait_for_decisions(
    config: JoinKeying, lemmas: pl.LazyFrame, texts: pl.LazyFrame, decisions: pl.LazyFrame
) -> None:
    """Wait for decisions on lemmas for which people keyed in different forms."""
    further = decisions.join(texts, on=["lemma", "annotator"], how="anti")  # a third who differs
    apart = forms_apart(pl.concat([texts, further]).join(lemmas, on="lemma", how="semi"))
    if apart:
        agreement = keying_agreement(compare_keyings(texts), confidence=config.confidence)
        lines = [
            *_agreement_lines(agreement),
            f"Forms that not all of them have: {_list_forms(apart)}.",
            *_ways_to_decide(config, people=texts.collect()["annotator"].n_unique()),
        ]
        remedy = "people keyed in different forms.\n  " + "\n  ".join(lines)
        place = config.folder or str(config.entries)
        raise WaitsForPerson(place, len(apart), "decision", remedy=remedy)


def _agreement_lines(agreement: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for everybody, if more than two, and for each pair of people."""
    pairs = agreement.select("annotator_1", "annotator_2").unique(maintain_order=True).rows()
    for one, other in pairs[:_SHOWN]:
        lemmas, forms = agreement.filter(annotator_1=one, annotator_2=other).to_dicts()
        people = "All people" if one == EVERYBODY else f"{one} and {other}"
        equal = round(lemmas["estimate"] * lemmas["lemmas"])
        shares = (
            "unknown" if each["estimate"] is None
            else "{:.1f} % [{:.1f}, {:.1f}]".format(
                *(100 * each[name] for name in ("estimate", "lower", "upper"))
            )
            for each in (lemmas, forms)
        )  # fmt: skip
        of_lemmas, of_forms = shares
        yield (
            f"{people} agree on {equal:,} of {count_text(lemmas['lemmas'], 'lemma')} ({of_lemmas});"
            f" agreement of forms: {of_forms}."
        )
    if (more := len(pairs) - _SHOWN) > 0:
        yield f"There are {count_text(more, 'more pair')} of people."


def _list_forms(apart: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    listed = []
    for lemma, people in list(apart.items())[:_SHOWN]:
        each = []
        for who, forms in people.items():
            more = len(forms) - _FORMS_SHOWN
            rest = f" and {more:,} more" if more > 0 else ""
            each.append(f"{who}: {', '.join(forms[:_FORMS_SHOWN])}{rest}")
        listed.append(f"{lemma} ({'; '.join(each)})")
    if (more := len(apart) - _SHOWN) > 0:
        listed.append(f"and {count_text(more, 'more lemma')}")
    return ", ".join(listed)


def _ways_to_decide(config: JoinKeying, *, people: int) -> Iterator[str]:
    if config.folder:
        yield (
            f"To decide in the browser, run lexassay annotate CONFIG {config.folder} and open a "
            "round of adjudication on the coordinator's page."
        )
    rules = {
        "majority": 'rule = "majority" (the forms of most people)' if people > 2 else "",
        "expert": 'rule = "expert" and expert = "NAME" (the forms of one person)',
        "union": 'rule = "union" (all forms)',
    }
    others = [text for name, text in rules.items() if text and name != config.rule]
    yield f"To decide by a rule, set {', or '.join(others)}."
    yield (
        "To continue without these lemmas and see the tables compared and disagreements, set "
        'undecided = "exclude". A sheet for a third person needs this and two more stages: see '
        '"Two people" in docs/lexicon.md'
    )


def _keyed_lemmas(lemmas: pl.LazyFrame, gold: pl.LazyFrame, entries: pl.LazyFrame) -> pl.LazyFrame:
    remarks = entries.drop_nulls(["lemma", "note"]).group_by("lemma")
    notes = remarks.agg(note=pl.col("note").unique().sort().str.join("; "))
    counted = lemmas.join(sizes(gold, name="n_forms"), on="lemma", how="left")
    full = counted.join(notes, on="lemma", how="left")
    forms = pl.col("n_forms").fill_null(0)
    return full.select("lemma", found=forms > 0, n_forms=forms, note="note")


# Samples of lemmas

_NOT_COMMON = "is not a lemma of the gold standard and all lexicons"


class SampleLemmas(SeedOptions):
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
    lexicon), or ``simple``: equal ones, which need far more lemmas and give unreliable limits if
    a few lemmas have very many forms.
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
    faults: Outputs = {}
    if config.path is not None:
        sample, faults = _from_file(tables["path"], shared, drawn=config.drawn)
    elif config.lemmas:
        sample = _from_list(config, shared, dry=shared.is_empty())
    else:
        size = config.size or sample_size(shared.height, rate=config.rate or 1.0)
        draw = sample_by_size if config.design == "size" else simple_sample
        sample = _sample_table(draw(weighed, size=size, seed=config.seed), shared, drawn=True)
    return {"sample": sample, "sizes": size_groups(weighed, sample), **faults}


def _sample_table(lemmas: pl.DataFrame, shared: pl.DataFrame, *, drawn: bool) -> pl.DataFrame:
    """Return the table; drawn lists have equal inclusion probabilities."""
    if "pi" not in lemmas.columns:
        chance = lemmas.height / max(1, shared.height) if drawn else None
        lemmas = lemmas.with_columns(pi=pl.lit(chance, pl.Float64))
    return lemmas.select(
        "lemma", "position", population=pl.lit(shared.height, pl.Int64), drawn=pl.lit(drawn),
        pi="pi", stratum=pl.lit("all"),
    )  # fmt: skip


def _number(lemmas: pl.DataFrame) -> pl.DataFrame:
    once = lemmas.unique("lemma", maintain_order=True)
    return once.select("lemma", position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))


def _from_list(config: SampleLemmas, shared: pl.DataFrame, *, dry: bool) -> pl.DataFrame:
    lemmas = _number(pl.DataFrame({"lemma": list(config.lemmas)}))
    unknown = lemmas.join(shared, on="lemma", how="anti", maintain_order="left")["lemma"]
    if dry:
        return _sample_table(lemmas.clear(), shared, drawn=config.drawn)
    if len(unknown):
        what = (
            f"{len(unknown):,} of {lemmas.height:,} lemmas are not in the gold standard and all "
            "lexicons"
        )
        such = f"for example {', '.join(map(repr, unknown.head(3)))}"
        raise ConfigError("lemmas", [Problem("lemmas", f"{what}, {such}", "omit them")])
    return _sample_table(lemmas, shared, drawn=config.drawn)


def _from_file(
    raw: pl.LazyFrame, shared: pl.DataFrame, *, drawn: bool
) -> tuple[pl.DataFrame, Outputs]:
    require(raw.collect_schema(), [("path", "lemma")])
    words = {"lemma": cells.text_or_null("lemma")}
    empty = cells.faults(raw, parsed=words, problem=NO_WORD, required=True)
    rows = raw.with_columns(words["lemma"].str.strip_chars()).drop_nulls("lemma")
    unknown = rows.join(shared.lazy(), on="lemma", how="anti").select(
        "file", "line", column=pl.lit("lemma"), value="lemma", problem=pl.lit(_NOT_COMMON)
    )
    table = _number(rows.sort("file", "line").select("lemma").collect())
    lemmas = table.join(shared, on="lemma", how="semi")
    return _sample_table(lemmas, shared, drawn=drawn), {FAULTS: pl.concat([empty, unknown])}


# Keying sheets: lemmas to look up in a printed dictionary


class SheetKeying(SeedOptions):
    """Make sheets for keying in the dictionary's forms of the sampled lemmas."""

    lexicon: Annotated[str, Of(WordList)]
    """The lexicon, for forms to show."""
    sample: Annotated[str, Of(AboutLemmas)]
    """The lemmas to look up; of a table disagreements the sheet shows the forms.
    """
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the sheets; existing sheets are never overwritten."""
    annotators: Names = Field(default=("annotator",), min_length=1)
    """Names of the annotators."""
    overlap: float = Field(default=0.0, ge=0, le=1)
    """Share of lemmas assigned to all annotators."""
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
    sample = tables["sample"]
    lemmas = sample.select(candidate_id("lemma"), "lemma").unique()
    assigned = assign(
        lemmas.select("id"),
        annotators=config.annotators,
        overlap=config.overlap,
        seed=config.seed,
    )
    rows = assigned.join(lemmas, on="id").select("annotator", "order", "id", "lemma")
    if {*KeyingDisagreements.columns()} <= {*sample.collect_schema()}:
        answers = pl.format("{}: {}", "annotator", "forms").sort_by("annotator").str.join("; ")
        texts = sample.group_by("lemma").agg(keyed_forms=answers)
        rows = rows.join(texts, on="lemma", how="left")
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
