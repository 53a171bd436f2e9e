"""Checks of corpora and of what is extracted from them: values, sentences, keywords, partners."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl
from pydantic import BaseModel

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.partitions import count_rows
from pipeline.remarks.base import CheckInput, Found, check, remark
from schemas.errors import count_text

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
    >>> from pipeline.remarks.corpora import in_condition
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
    count = stage.rows(next(iter(stage.outputs)))
    if count >= threshold:
        return
    what = "words" if stage.use in WORD_STAGES else "candidates"
    text = f"there are no {what}" if not count else f"there are only {count:,} {what}"
    missing = list(_missing_values(stage))
    remedies = [remedy for _, remedy in missing]
    least = getattr(stage.config, "min_frequency", 1)
    if least > 1:
        remedies.append(f"lower min_frequency ({least:,})")
    yield remark(
        "warning",
        ": ".join(filter(None, [text, "; ".join(problem for problem, _ in missing)])),
        remedy=", ".join(dict.fromkeys(remedies)) or "check the conditions on the units",
        candidates=count,
    )


def _missing_values(
    stage: CheckInput, among: Sequence[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield problem and remedy of each value in the options that the first tokens lack."""
    every = requested_values(stage.config)
    requests = [each for each in every if among is None or each.attribute in among]
    names = {each.attribute for each in requests}
    tokens = stage.tokens("corpus", _LOOKED_AT, *names) if names else pl.DataFrame()
    for each in requests:
        if each.attribute not in tokens.columns:
            continue
        counted = tokens[each.attribute].cast(pl.String).drop_nulls().value_counts(sort=True)
        values = counted[each.attribute].to_list()
        if each.value not in values:
            listing = ", ".join(values[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "")
            reason = f"values: {listing}" if listing else "no token has a value"
            problem = f"no token has {each.attribute} {each.value!r} ({reason})"
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
        if names - filled and count_rows(tokens.lazy().filter(condition)) < threshold
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


# Pairs in both orders.

_BOTH = ("sentence", "surface", "textual")
"""Relations that may find a pair in both orders."""


@check(stages=("extract.pairs",), threshold=0.1, means="proportion of the candidates")
def both_orders(stage: CheckInput, threshold: float) -> Found:
    """Find candidates that occur in both orders."""
    config = stage.config
    span = config.span
    one_sided = config.relation == "surface" and not (span.left and span.right)
    if config.relation not in _BOTH or one_sided or config.left != config.right:
        return
    candidates = stage.outputs["candidates"]
    some = candidates.select("l1", "l2").head(_LOOKED_AT)
    turned = some.filter(pl.col("l1") != pl.col("l2")).select(l1="l2", l2="l1")
    there = candidates.select("l1", "l2").join(turned, on=["l1", "l2"], how="semi")
    both, every = count_rows(there), count_rows(some)
    if not every or both / every < threshold or not both:
        return
    ordered = there.filter(pl.col("l1") < pl.col("l2")).sort("l1", "l2").head(1).collect()
    examples = [f"{a} {b} and {b} {a}" for a, b in ordered.cast(pl.String).iter_rows()]
    remedy = "conditions that differ on left and right, or a span on one side, give one order"
    if config.relation == "surface":
        remedy = f"surface = {{ left = 0, right = {span.right} }} gives one order"
    of = "" if every < _LOOKED_AT else "first "
    yield remark(
        "note",
        f"{both:,} of the {of}{count_text(every, 'candidate')} also occur in the other order",
        such_as=examples,
        remedy=remedy,
        both=both,
        candidates=every,
    )


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
        else "the column documents cannot show whether a pair is one of the text or of the language"
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
    count = _sizes(stage).get("sentences of 1,000 tokens or more", 0)
    if count < threshold or not _by_sentence(stage):
        return
    effect, window = "lists, tables, or text without sentence boundaries", ""
    if _pairs_whole_sentences(stage):
        effect, window = "the number of pairs grows with the square of the length", _WINDOW
    yield remark(
        "note",
        f"{count_text(count, 'sentence')} of 1,000 tokens or more in the corpus: {effect}",
        remedy=f"split them{window}",
        sentences=count,
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
    abbreviations = ", ".join(f'"{each}"' for each in words)
    yield remark(
        "warning",
        f"many sentences end with possible abbreviations: {listed}",
        remedy=f"abbreviations = [{abbreviations}] of the corpus prevents this",
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
    most = [count_rows(each) for each in (target, reference)]
    shared = count_rows(target.join(reference, on="word", how="semi"))
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
    words, rarer, same = both.collect().row(0)
    if words < threshold or rarer < words:
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
        pairs = candidates.select(pair=pl.concat_str("l1", "l2", separator=" ")).head(3).collect()
        yield remark(
            "warning",
            f"{alone:,} of {units:,} units of {side} that occur at least twice have a single"
            f" {other}: f = f{side[1]}, which leaves association measures nothing to compare",
            such_as=pairs["pair"],
            remedy="check the columns l1 and l2; a table of words and senses does not list pairs",
            units=units,
            alone=alone,
        )
