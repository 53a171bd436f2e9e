"""Checks of collocation stages: labels, extraction, corpora, keywords, n-best lists, samples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl
from pydantic import BaseModel

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.annotation.gold import spelling
from pipeline.kernels.annotation.sheets import fold
from pipeline.kernels.measure import measure_title
from pipeline.kernels.nbest.precision import ranked_candidates
from pipeline.remarks.base import CheckInput, Found, check, remark
from schemas.errors import count_text

# Labels of annotators.

JOINING = ("join.sheets",)


@check(stages=JOINING, threshold=20, means="candidates with labels of several annotators")
def all_agree(stage: CheckInput, threshold: float) -> Found:
    """Find annotators who agree on every candidate that several of them labelled."""
    several = (
        stage.outputs["annotations"]
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
            f"the annotators agree on all {shared:,} candidates that several of them labelled",
            remedy="make sure that they worked independently, and not only on easy candidates",
            shared=shared,
        )


@check(stages=JOINING, threshold=20, means="labels of one annotator")
def one_label(stage: CheckInput, threshold: float) -> Found:
    """Find annotators who gave everything the same label."""
    people = (
        stage.outputs["annotations"]
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
        f"{count_text(people.height, 'annotator')} with a single label: {name} {label!r},"
        f" {given:,} times",
        such_as=people["annotator"][1:],
        remedy="ask whether the label was copied down the sheet",
        annotators=people.height,
    )


@check(stages=JOINING, threshold=1, means="labels")
def unasked_annotator(stage: CheckInput, threshold: float) -> Found:
    """Find annotators without a sheet, for example mistyped names."""
    labels = stage.outputs["annotations"].group_by("annotator").agg(given=pl.len())
    former = pl.LazyFrame({"annotator": stage.config.former}, schema={"annotator": pl.String})
    asked = [stage.inputs[name] for name in ("sheet", "earlier") if name in stage.inputs]
    known = pl.concat(each.select("annotator") for each in [*asked, former]).unique()
    strange = labels.join(known, on="annotator", how="anti").sort("annotator").collect()
    given = int(strange["given"].sum())
    if given < threshold:
        return
    names = known.collect()["annotator"].sort().to_list()
    first = str(strange["annotator"][0])
    yield remark(
        "warning",
        f"{count_text(given, 'label')} by {count_text(strange.height, 'annotator')} without a sheet"
        f" (those with one: {', '.join(names)}); they count",
        such_as=[f"{name} ({labelled:,})" for name, labelled in strange.iter_rows()],
        remedy=f"correct the name in the sheet; {did_you_mean(first, names)}",
        labels=given,
    )


@check(stages=("evaluate.agreement",), threshold=1, means="annotators with several names")
def several_names(stage: CheckInput, threshold: float) -> Found:
    """Find names that differ only in case, spaces and Unicode form."""
    typed = stage.inputs["annotations"].select(pl.col("annotator").unique().sort()).collect()
    people: dict[str, list[str]] = {}
    for name in typed["annotator"]:
        people.setdefault(fold(name), []).append(repr(name))
    several = [" = ".join(names) for names in people.values() if len(names) > 1]
    if several and len(several) >= threshold:
        yield remark(
            "note",
            f"{count_text(len(several), 'annotator')} with several names, counted as one person",
            such_as=several,
            remedy="names of different people must differ in more than case and spaces",
            people=len(several),
        )


@check(stages=JOINING, threshold=0.1, means="proportion of the labelled candidates")
def undecided(stage: CheckInput, threshold: float) -> Found:
    """Count candidates on which annotators disagree, without a final label."""
    counted = stage.outputs["adjudicated"].select(
        open=(pl.col("label").is_null() & (pl.col("annotators") > 1)).sum(), every=pl.len()
    )
    open_, every = counted.collect().row(0)
    if every and open_ and open_ / every >= threshold:
        yield remark(
            "info",
            f"the annotators disagree on {open_:,} of {every:,} labelled candidates, which count as"
            " undecided",
            remedy="let a third person decide, with a sheet of agreement.disagreements",
            undecided=open_,
            labelled=every,
        )


# Judgements from tables and lists.

TABLES = ("join.table", "join.gold")


@check(stages=("join.table",), threshold=5, means="judged candidates of a category")
def positives_only(stage: CheckInput, threshold: float) -> Found:
    """Find categories without a false positive: probably a list of true positives alone."""
    judged, every = pl.col("n_judged"), pl.col("n_candidates")
    alone = judged.is_between(threshold, every, closed="left") & (pl.col("n_true") == judged)
    found = stage.outputs["coverage"].filter(alone).sort("category").collect()
    if found.is_empty():
        return
    listed = ", ".join(
        f"{name} ({count:,})" for name, count in found.select("category", "n_judged").iter_rows()
    )
    yield remark(
        "warning",
        f"all judged candidates are true positives in {listed}, so that every precision is 100 %",
        remedy="a list of true positives needs join.gold, which counts the other candidates of its"
        " words as false",
        categories=found.height,
        judged=int(found["n_judged"].sum()),
    )


@check(stages=TABLES, threshold=1, means="pairs")
def spelt_otherwise(stage: CheckInput, threshold: float) -> Found:
    """Find judged pairs that differ from candidates only in case or blanks."""
    compared = _compared(stage)
    if compared is None:
        return
    pairs, candidates = compared
    pairs = pairs.unique([*_KEYS, "l1", "l2"])
    folded = [
        pl.col(word).cast(pl.String).str.to_lowercase().str.replace_all(r"\s+", " ")
        .str.strip_chars().alias(f"fold_{word}")
        for word in ("l1", "l2")
    ]  # fmt: skip
    strange = pairs.join(candidates, on=_KEYS, how="anti").with_columns(folded)
    there = candidates.with_columns(folded).select("fold_l1", "fold_l2", here_1="l1", here_2="l2")
    near = (
        strange.join(there, on=["fold_l1", "fold_l2"])
        .unique(["l1", "l2"], keep="any")
        .sort("l1", "l2", "here_1", "here_2")
        .collect()
    )
    if near.height < threshold or near.is_empty():
        return
    shown = near.select("l1", "l2", "here_1", "here_2").iter_rows()
    yield remark(
        "warning",
        f"{count_text(near.height, 'judged pair')} that differ from candidates only in case or"
        " blanks, and judge nothing",
        such_as=[f"{a!r} {b!r} (candidate {c!r} {d!r})" for a, b, c, d in shown],
        remedy="use the same spelling in both"
        + (', or case = "lower"' if stage.use == "join.gold" else ""),
        pairs=near.height,
    )


@check(stages=TABLES, threshold=1, means="files")
def files_without_candidates(stage: CheckInput, threshold: float) -> Found:
    """Find files of judgements none of whose pairs is a candidate, or without rows."""
    if stage.inputs["path"].limit(1).collect().is_empty():
        remedy = "check the files that the option path names"
        yield remark("warning", "there are no judgements: the files have no rows", remedy=remedy)
        return
    compared = _compared(stage)
    if compared is None:
        return
    pairs, candidates = compared
    known = candidates.select(_KEYS).unique().with_columns(known=pl.lit(value=True))
    files = stage.inputs["path"].group_by("file").agg(rows=pl.len())
    found = pairs.join(known, on=_KEYS, how="left").group_by("file").agg(pl.col("known").any())
    useless = (
        files.join(found, on="file", how="left")
        .filter(~pl.col("known").fill_null(value=False))
        .sort("file")
        .collect()
    )
    if useless.height < threshold or useless.is_empty():
        return
    yield remark(
        "warning",
        f"{count_text(useless.height, 'file')} without a judgement on any candidate",
        such_as=[f"{file} ({count_text(rows, 'row')})" for file, rows in
                 useless.select("file", "rows").iter_rows()],
        remedy="check its columns, and its spelling of the words",
        files=useless.height,
    )  # fmt: skip


_KEYS = ("key_1", "key_2")


def _compared(stage: CheckInput) -> tuple[pl.LazyFrame, pl.LazyFrame] | None:
    """Return the judged pairs and the candidates, as spelt and as the stage compares them.

    Candidates are in both orders if the order does not count. None if they are without words, as
    those of a pool.
    """
    config, names = stage.config, ("l1", "l2")
    keys = [pl.col(word).cast(pl.String) for word in names]
    if stage.use == "join.gold":
        names = config.compare
        keys = [spelling(key, lower=config.case == "lower") for key in keys]
    if not {*names} <= {*stage.inputs["candidates"].collect_schema()}:
        return None
    pairs = config.pairs(stage.inputs["path"]).drop_nulls(["l1", "l2"])
    shown = stage.inputs["candidates"].select(l1=names[0], l2=names[1])
    if getattr(config, "either_order", False):
        shown = pl.concat([shown, shown.select(l1="l2", l2="l1")])
    keyed = dict(zip(_KEYS, keys, strict=True))
    return pairs.with_columns(**keyed), shown.with_columns(**keyed)


# Values of attributes that the options of an extraction ask for.

_EQUALS = re.compile(r"""(\w+)\s*=\s*'([^']*)'""")
_AMONG = re.compile(r"""(\w+)\s+IN\s*\(([^)]*)\)""", re.IGNORECASE)
_QUOTED = re.compile(r"'([^']*)'")


class RequestedValue(NamedTuple):
    """A value of an attribute, and the option that names it."""

    option: str
    attribute: str
    value: str


def requested_values(config: Any, place: str = "") -> Iterator[RequestedValue]:
    """Yield the values in conditions on attributes, and the labels of relations.

    Only conditions of the form ``upos = 'NOUN'`` or ``upos IN ('NOUN', 'PROPN')`` count: a remark
    may miss something but must not invent it.

    Examples
    --------
    >>> from pipeline.remarks.collocations import in_condition
    >>> [value for _, value in in_condition("upos IN ('NOUN', 'ADJ') AND lemma = 'old'")]
    ['old', 'NOUN', 'ADJ']
    """
    for name, value in config.items() if isinstance(config, dict) else config:
        option = f"{place}.{name}" if place else name
        if name == "label" and place == "dependency":
            labels = [value] if isinstance(value, str) else value
            yield from (RequestedValue(option, "deprel", label) for label in labels)
        elif isinstance(value, str) and name in {"where", "through"}:
            yield from (RequestedValue(option, *each) for each in in_condition(value))
        elif isinstance(value, BaseModel | dict):
            yield from requested_values(value, option)
        elif isinstance(value, tuple):
            for number, one in enumerate(value, 1):
                if isinstance(one, BaseModel):
                    yield from requested_values(one, f"{option}.{number}")


def in_condition(where: str) -> Iterator[tuple[str, str]]:
    """Yield attribute and value of every comparison in a condition."""
    yield from _EQUALS.findall(where)
    for attribute, values in _AMONG.findall(where):
        yield from ((attribute, value) for value in _QUOTED.findall(values))


# Extraction.

WORD_STAGES = ("extract.words", "extract.word_table")
EXTRACTING = (
    "extract.pairs",
    "extract.tuples",
    "extract.table",
    "extract.pair_tokens",
    "extract.pairing",
    "extract.merge",
    "extract.keywords",
    *WORD_STAGES,
)
_LOOKED_AT = 50_000
"""Tokens to inspect for the values of a corpus."""
_SHOWN = 8


@check(stages=EXTRACTING, threshold=1, means="candidates")
def no_candidates(stage: CheckInput, threshold: float) -> Found:
    """Report that there are no candidates, and the values that the corpus has."""
    found = stage.rows(next(iter(stage.outputs)))
    if found >= threshold:
        return
    what = "words" if stage.use in WORD_STAGES else "candidates"
    text = f"there are no {what}" if not found else f"there are only {found:,} {what}"
    missing = list(_missing_values(stage))
    remedies = [remedy for _, remedy in missing]
    least = getattr(stage.config, "min_frequency", 1)
    if least > 1:
        remedies.append(f"lower min_frequency ({least:,})")
    yield remark(
        "warning",
        ": ".join(filter(None, [text, "; ".join(problem for problem, _ in missing)])),
        remedy=", ".join(dict.fromkeys(remedies)) or "check the conditions on the units",
        candidates=found,
    )


def _missing_values(
    stage: CheckInput, among: Sequence[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield problem and remedy of each value in the options that the first tokens lack."""
    every = requested_values(stage.config)
    wanted = [each for each in every if among is None or each.attribute in among]
    tokens = stage.tokens("corpus", _LOOKED_AT) if wanted else pl.DataFrame()
    for each in wanted:
        if each.attribute not in tokens.columns:
            continue
        counted = tokens[each.attribute].cast(pl.String).drop_nulls().value_counts(sort=True)
        values = counted[each.attribute].to_list()
        if each.value not in values:
            shown = ", ".join(values[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "")
            found = f"values: {shown}" if shown else "no token has a value"
            problem = f"no token has {each.attribute} {each.value!r} ({found})"
            yield problem, f"{each.option}: {did_you_mean(each.value, values)}"


_TAGS = ("deprel", "upos", "xpos", "pos", "tag")
"""Attributes with few values, all of which the first tokens have."""


@check(stages=EXTRACTING, threshold=1, means="values")
def misspelt_values(stage: CheckInput, threshold: float) -> Found:
    """Find tags and relations that no token has, but that resemble existing ones."""
    if stage.rows(next(iter(stage.outputs))) == 0:  # no_candidates reports it
        return
    missing = [
        (problem, remedy)
        for problem, remedy in _missing_values(stage, among=_TAGS)
        if "did you mean" in remedy
    ]
    if len(missing) >= threshold:
        text = "; ".join(problem for problem, _ in missing)
        remedies = ", ".join(dict.fromkeys(remedy for _, remedy in missing))
        yield remark("warning", text, remedy=remedies, values=len(missing))


READING = ("extract.pairs", "extract.tuples", "extract.words", "join.corpus")
_PLACES = ("file", "line", "doc", "paragraph", "sentence", "position")


@check(stages=READING, threshold=1, means="tokens that meet such a condition")
def attributes_without_values(stage: CheckInput, threshold: float) -> Found:
    """Refuse a condition on an attribute without values."""
    used = dict(_used_attributes(stage.config))
    filled = {*(stage.filled or ())}
    if stage.filled is None or not set().union(*(names for names, _ in used.values())) - filled:
        return
    tokens = stage.tokens("corpus", _LOOKED_AT)
    if tokens.is_empty():
        return
    has = [each.name for each in tokens if each.null_count() < tokens.height]
    listed = ", ".join(name for name in has if name not in _PLACES)
    problems = [
        Problem(
            option,
            f"no token has a value for {' or '.join(sorted(names - filled))}",
            f"attributes with values: {listed}",
        )
        for option, (names, condition) in used.items()
        if names - filled and _count(tokens.lazy().filter(condition)) < threshold
    ]
    if problems:
        raise ConfigError("attributes", problems)
    yield from ()


def _used_attributes(config: Any) -> Iterator[tuple[str, tuple[set[str], pl.Expr]]]:
    """Yield each option that names attributes, with these and its condition, if it has one."""
    for place, value in _unit_options(config):
        conditions = value.conditions()
        for option, names in value.columns().items():
            yield f"{place}.{option}", (names, conditions.get(option, pl.lit(value=False)))


def _unit_options(config: Any) -> Iterator[tuple[str, Any]]:
    """Yield the options that describe units and relations, with their places."""
    for name, value in vars(config).items():
        if isinstance(value, tuple):
            numbered = enumerate(value)
            yield from ((f"{name}.{i}", one) for i, one in numbered if hasattr(one, "conditions"))
        elif hasattr(value, "conditions"):
            yield name, value


# Corpora without documents or sentences.

COUNTING = ("extract.pairs", "extract.tuples")


@check(stages=(*COUNTING, "extract.words"), threshold=2, means="documents")
def one_document(stage: CheckInput, threshold: float) -> Found:
    """Find a corpus with fewer documents: dispersion is then meaningless."""
    sizes = _sizes(stage)
    documents = sizes.get("documents", 0)
    if not sizes.get("tokens") or documents >= threshold:
        return
    whole = getattr(stage.config, "text_unit", "sentence") == "document"
    effect = (
        "N counts documents, so every pair has f = f1 = f2 = N"
        if whole
        else "dispersion is undefined: dp, dp_norm and juilland_d are empty"
        if stage.use == "extract.words"
        else "the column documents cannot distinguish a pair of one text from one of the language"
    )
    yield remark(
        "warning" if whole else "info",
        f"the corpus has {count_text(documents, 'document')}: {effect}",
        remedy="mark documents (# newdoc, <doc>, a column doc), or use a file per document",
        documents=documents,
    )


@check(stages=(*COUNTING, "extract.words"), threshold=0.3, means="proportion of the first tokens")
def tabs_in_text(stage: CheckInput, threshold: float) -> Found:
    """Find plain text with tabs between tokens: tagger output or another table."""
    tokens = stage.tokens("corpus", _LOOKED_AT, "space_after")
    if "space_after" not in tokens.columns or tokens.is_empty():
        return
    tabs = tokens.get_column("space_after").str.contains("\t", literal=True).sum()
    if tabs / tokens.height >= threshold:
        yield remark(
            "warning",
            f"a tab follows {tabs:,} of the first {tokens.height:,} tokens of the text:"
            " its columns, for example word, tag and lemma, are all read as words",
            remedy='format = "vertical", attributes = ["word", "pos", "lemma"] of the corpus reads'
            " one token per line",
            tabs=int(tabs),
        )


@check(stages=COUNTING, threshold=100, means="tokens in a sentence on average")
def long_sentences(stage: CheckInput, threshold: float) -> Found:
    """Find sentences so long that the text probably lacks sentence boundaries."""
    sizes = _sizes(stage)
    tokens, sentences = sizes.get("tokens", 0), sizes.get("sentences", 0)
    if not sentences or tokens / sentences < threshold or not _by_sentence(stage):
        return
    effect, window = "sentence boundaries, which pairs may not cross, seem to be missing", ""
    if _pairs_whole_sentences(stage):
        effect, window = "the words of a pair may be pages apart", _WINDOW
    yield remark(
        "warning",
        f"the corpus has {tokens:,} tokens in {count_text(sentences, 'sentence')}, on average"
        f" {tokens / sentences:,.0f} per sentence: {effect}",
        remedy=f"mark the sentences{window}",
        tokens=tokens,
        sentences=sentences,
    )


@check(stages=COUNTING, threshold=1, means="sentences of 1,000 tokens or more")
def endless_sentences(stage: CheckInput, threshold: float) -> Found:
    """Count sentences of a thousand tokens: lists, tables, or text without boundaries."""
    found = _sizes(stage).get("sentences of 1,000 tokens or more", 0)
    if found < threshold or not _by_sentence(stage):
        return
    effect, window = "lists, tables, or text without sentence boundaries", ""
    if _pairs_whole_sentences(stage):
        effect, window = "the number of pairs grows with the square of the length", _WINDOW
    yield remark(
        "note",
        f"{count_text(found, 'sentence')} of 1,000 tokens or more in the corpus: {effect}",
        remedy=f"split them{window}",
        sentences=found,
    )


_READ = 200_000
"""Tokens to inspect."""
_SHORT, _ALWAYS, _SEEN = 5, 0.9, 3
"""Most letters of an abbreviation, its least rate of full stops, and its least frequency."""


@check(
    stages=(*COUNTING, "extract.words"), threshold=20,
    means="sentences with such an end, among the first 200,000 tokens",
)  # fmt: skip
def unknown_abbreviations(stage: CheckInput, threshold: float) -> Found:
    """Find short words that end many sentences of plain text and rarely occur elsewhere."""
    if not any(name.startswith("lines ") for name in stage.replaced):
        return
    tokens = stage.tokens("corpus", _READ, "form", "sentence")
    if "form" not in tokens.columns or not tokens.height:
        return
    word, after = pl.col("form"), pl.col("form").shift(-1)
    ends = (after == ".") & (pl.col("sentence") != pl.col("sentence").shift(-2))
    counted = (
        tokens.lazy()
        .select(word, stopped=after == ".", ends=ends)
        .filter(word.str.contains(r"^\pL+$"), word.str.len_chars() <= _SHORT)
        .group_by("form")
        .agg(pl.len(), pl.sum("stopped"), pl.sum("ends"))
        .filter(
            pl.col("stopped") >= _ALWAYS * pl.col("len"),
            pl.col("ends") >= max(threshold, _SEEN),
        )
        .sort("ends", "form", descending=[True, False])
        .collect()
    )
    if counted.is_empty():
        return
    listed = ", ".join(f"{ends:,} in '{form}.'" for form, ends in
                       counted.select("form", "ends").head(_SHOWN_WORDS).iter_rows())  # fmt: skip
    words = counted["form"].head(_SHOWN_WORDS).to_list()
    written = ", ".join(f'"{each}"' for each in words)
    yield remark(
        "warning",
        f"many sentences end with possible abbreviations: {listed}",
        remedy=f"abbreviations = [{written}] of the corpus prevents this",
        sentences=int(counted["ends"].sum()),
    )


_WINDOW = ', or count within a window: relation = "surface"'


def _by_sentence(stage: CheckInput) -> bool:
    """Return whether pairs are counted within sentences, not paragraphs or documents."""
    return getattr(stage.config, "text_unit", "sentence") == "sentence"


def _pairs_whole_sentences(stage: CheckInput) -> bool:
    """Return whether all units of a sentence are paired, not only near or related ones."""
    return getattr(stage.config, "relation", "sentence") in {"sentence", "textual"}


def _sizes(stage: CheckInput) -> dict[str, int]:
    return dict(
        stage.outputs["corpus"].select(pl.col("what"), pl.col("count")).collect().iter_rows()
    )


# Keywords.

KEYWORDS = ("extract.keywords",)
_SHOWN_WORDS = 3


@check(
    stages=KEYWORDS,
    threshold=0.05,
    means="proportion of the smaller list's words that the other has",
)
def other_words(stage: CheckInput, threshold: float) -> Found:
    """Find a target and a reference that share (nearly) no words."""
    target, reference = (stage.inputs[name].select("word", "f") for name in ("target", "reference"))
    most = [_count(each) for each in (target, reference)]
    shared = _count(target.join(reference, on="word", how="semi"))
    if not min(most) or shared >= threshold * min(most):
        return
    frequent = (
        each.sort("f", "word", descending=[True, False])
        .head(_SHOWN_WORDS)
        .collect()["word"]
        .to_list()
        for each in (target, reference)
    )
    mine, others = (", ".join(map(repr, words)) for words in frequent)
    yield remark(
        "warning",
        f"target and reference share {shared:,} of {most[0]:,} and {most[1]:,} words; the most"
        f" frequent are {mine} and {others}",
        remedy="count the same units in both: label, fold, and language",
        shared=shared,
        target=most[0],
        reference=most[1],
    )


def _count(table: pl.LazyFrame) -> int:
    return int(table.select(pl.len()).collect().item())


@check(stages=KEYWORDS, threshold=50, means="words of the target")
def within_reference(stage: CheckInput, threshold: float) -> Found:
    """Find a target that is the reference, or seems to be part of it."""
    target, reference = (
        stage.inputs[name].select("word", "f", "N") for name in ("target", "reference")
    )
    there = reference.select("word", there="f", size="N")
    equal = (pl.col("f") == pl.col("there")) & (pl.col("N") == pl.col("size"))
    both = target.join(there, on="word", how="left").select(
        words=pl.len(), held=(pl.col("f") <= pl.col("there")).sum(), same=equal.sum()
    )
    words, held, same = both.collect().row(0)
    if words < threshold or held < words:
        return
    alike = f"target and reference have the same {words:,} words with equal frequencies"
    part = f"each of the {words:,} words of the target is at least as frequent in the reference"
    yield remark(
        "warning" if same == words else "note",
        alike if same == words else part,
        remedy="compare the target with a corpus that does not contain it",
        words=words,
    )


# Pair tokens.

_FEWEST = 10


@check(
    stages=("extract.pair_tokens", "extract.table"),
    threshold=0.95,
    means="proportion of the repeated units that have one partner",
)
def one_partner(stage: CheckInput, threshold: float) -> Found:
    """Find a table in which (nearly) every unit of a side has a single partner."""
    candidates = stage.outputs["candidates"]
    # A pair that was dropped as too rare is still in the marginals.
    whole = {
        side: candidates.filter(pl.col(marginal) > 1)
        .group_by(side)
        .agg(alone=(pl.col("f") == pl.col(marginal)).all())
        .select(units=pl.len(), alone=pl.col("alone").sum())
        .collect()
        .row(0)
        for side, marginal in (("l1", "f1"), ("l2", "f2"))
    }
    for side, (units, alone) in whole.items():
        if units < _FEWEST or alone / units < threshold:
            continue
        other = "l2" if side == "l1" else "l1"
        shown = candidates.select(pair=pl.concat_str("l1", "l2", separator=" ")).head(3).collect()
        yield remark(
            "warning",
            f"{alone:,} of {units:,} units of {side} that occur at least twice have a single"
            f" {other}: f = f{side[1]}, which leaves association measures nothing to compare",
            such_as=shown["pair"],
            remedy="check the columns l1 and l2; a table of words and senses does not list pairs",
            units=units,
            alone=alone,
        )


# N-best lists.

EVALUATING = ("evaluate.precision", "evaluate.designed", "evaluate.choice")
ESTIMATES = ("evaluate.precision", "evaluate.designed")


@check(stages=EVALUATING, threshold=1, means="cuts")
def cuts_beyond(stage: CheckInput, threshold: float) -> Found:
    """Find cuts beyond the end of the lists, which are skipped."""
    last = stage.inputs["ranks"].select(pl.col("rank").max()).collect().item() or 0
    beyond = [cut for cut in _cuts(stage) if cut > last]
    if not last or len(beyond) < threshold:
        return
    yield remark(
        "note",
        f"{len(beyond):,} of {len(_cuts(stage)):,} list sizes exceed the {last:,} ranked"
        " candidates and are skipped",
        such_as=[f"n = {cut:,}" for cut in beyond],
        remedy=f"give sizes up to {last:,}",
        beyond=len(beyond),
        ranked=last,
    )


@check(stages=EVALUATING, threshold=0.1, means="proportion of the list that is drawn at random")
def ties_at_cut(stage: CheckInput, threshold: float) -> Found:
    """Find ties at a cut: candidates of equal score enter the list at random."""
    tied = [each for each in _ties(stage) if each.by_lot / each.n >= threshold]
    if not tied:
        return
    worst = max(tied, key=lambda each: each.by_lot / each.n)
    yield remark(
        "note",
        f"ties at the end of {count_text(len(tied), 'list')}: of the {worst.n:,} best by"
        f" {measure_title(worst.measure)}, {worst.by_lot:,} are drawn at random from"
        f" {worst.tied:,} of equal score",
        such_as=[f"{measure_title(each.measure)} at n = {each.n:,}" for each in tied],
        remedy="check tp_min and tp_max, the extremes over all orders of ties, or cut elsewhere",
        lists=len(tied),
        by_lot=worst.by_lot,
        tied=worst.tied,
    )


@check(stages=ESTIMATES, threshold=5, means="judged draws")
def few_judged(stage: CheckInput, threshold: float) -> Found:
    """Find estimates based on few judged draws."""
    few = pl.col("n_sampled").is_between(1, threshold, closed="left")
    cuts = stage.outputs["cuts"].filter(few, pl.col("n_sampled") < pl.col("n"))
    found = cuts.sort("n_sampled", "measure", "n").collect()
    if found.is_empty():
        return
    yield remark(
        "warning",
        f"{found.height:,} of {stage.rows('cuts'):,} estimates are based on fewer than"
        f" {threshold:g} judged draws",
        such_as=[
            f"{measure_title(name)} at n = {n:,} ({count_text(judged, 'draw')})"
            for name, n, judged in found.select("measure", "n", "n_sampled").iter_rows()
        ],
        remedy="judge more candidates (lexassay size plans their number), or use longer lists",
        estimates=found.height,
        fewest=found["n_sampled"][0],
    )


class _Tie(NamedTuple):
    measure: str
    n: int
    tied: int
    by_lot: int


def _ties(stage: CheckInput) -> Iterator[_Tie]:
    """Yield the lists that end within a tie, with the number of candidates drawn at random."""
    config, ranks = stage.config, stage.inputs["ranks"]
    chosen = ranks.filter(pl.col("measure").is_in(config.measures)) if config.measures else ranks
    sizes = pl.LazyFrame({"n": sorted(set(_cuts(stage)))}, schema={"n": pl.Int64})
    ends = chosen.join(sizes, left_on="rank", right_on="n").select("measure", "tie", n="rank")
    at_ends = ends.collect(engine="streaming").lazy()
    tied_there = chosen.join(at_ends.select("measure", "tie").unique(), on=["measure", "tie"])
    groups = tied_there.group_by("measure", "tie").agg(last=pl.col("rank").max())
    cut = at_ends.join(groups, on=["measure", "tie"]).filter(pl.col("last") > pl.col("n"))
    tied = (pl.col("last") - pl.col("tie") + 1).alias("tied")
    by_lot = (pl.col("n") - pl.col("tie") + 1).alias("by_lot")
    ties = cut.select("measure", "n", tied, by_lot).sort("measure", "n")
    return (_Tie(*row) for row in ties.collect(engine="streaming").iter_rows())


def _cuts(stage: CheckInput) -> list[int]:
    config = stage.config
    return (
        [config.size]
        if getattr(config, "size", None)
        else list(config.sizes if stage.use == "evaluate.choice" else config.cuts)
    )


# Samples.


@check(
    stages=("sample.random", "sample.stratified", "sample.design"),
    threshold=1,
    means="missing draws",
)
def few_drawn(stage: CheckInput, threshold: float) -> Found:
    """Count requested draws that are impossible for lack of candidates."""
    asked = _draws_wanted(stage)
    drawn = int(stage.outputs["sample"].select(pl.col("multiplicity").sum()).collect().item())
    if asked - drawn < threshold:
        return
    candidates = _candidates(stage)
    if not candidates:
        return  # another check reports a stage without candidates
    yield remark(
        "note",
        f"{drawn:,} of the {asked:,} requested draws: there are {candidates:,} candidates"
        + (", in strata that are smaller than their samples" if "strata" in stage.outputs else ""),
        remedy="draw fewer, or extract more candidates",
        asked=asked,
        drawn=drawn,
    )


def _candidates(stage: CheckInput) -> int:
    names = ("strata", "inclusion")
    there = [stage.outputs[name] for name in names if name in stage.outputs]
    return _count(there[0] if there else stage.inputs["candidates"])


def _draws_wanted(stage: CheckInput) -> int:
    """Return the requested number of draws; a rate is always met."""
    config = stage.config
    if stage.use == "sample.stratified":
        return sum(config.sizes)
    return int(config.size or 0) + _pilot_size(stage)


def _pilot_size(stage: CheckInput) -> int:
    """Return the number of previously judged candidates, which the sample includes."""
    if "pilot" not in stage.inputs:
        return 0
    ranked = stage.outputs["inclusion"].select("id")
    own = "pilot_sample" if "pilot_sample" in stage.inputs else "pilot"
    judged = stage.inputs[own].select(pl.col("id").unique())
    return _count(judged.join(ranked, on="id", how="semi"))


@check(stages=("score.pool",), threshold=0.05, means="proportion of the candidates")
def pool_leaves_out(stage: CheckInput, threshold: float) -> Found:
    """Count candidates that a pool excludes: estimates from it are conditional on it."""
    ranked = _count(ranked_candidates(stage.inputs["ranks"]))
    pooled = stage.rows("candidates")
    share = (ranked - pooled) / ranked if ranked else 0.0
    if not ranked or share < threshold:
        return
    yield remark(
        "note",
        f"the pool has {pooled:,} of {ranked:,} candidates and excludes {share:.0%}: estimates"
        f" apply to the {stage.config.depth:,} best of the pooled measures; baseline and recall are"
        " within the pool, and other measures cannot be compared",
        remedy="a greater depth excludes fewer; a random sample of all candidates excludes none",
        pooled=pooled,
        candidates=ranked,
    )


@check(
    stages=("sample.design",),
    threshold=1.001,
    means="expected width relative to a simple sample",
)
def does_worse(stage: CheckInput, threshold: float) -> Found:
    """Name the questions for which a designed sample is expected to be worse than a simple one."""
    asked = stage.outputs["questions"].with_columns(
        times=pl.col("half_width") / pl.col("simple_half_width")
    )
    worse = asked.filter("worse", pl.col("times") > threshold)
    named = worse.sort("times", "question", descending=[True, False]).collect()
    if named.is_empty():
        return
    shown = ", ".join(
        f"{question} ({times:.2f} times as wide)"
        for question, times in named.head(3).select("question", "times").iter_rows()
    )
    yield remark(
        "note",
        f"{named.height:,} of {stage.rows('questions'):,} questions will have wider intervals than"
        f" with a simple sample of equal size: {shown}",
        remedy="give them more weight, or the baseline a smaller baseline_width, if they matter",
        worse=named.height,
        questions=stage.rows("questions"),
    )
