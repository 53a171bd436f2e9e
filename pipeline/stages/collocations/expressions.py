"""Judgements of candidates from a corpus with annotated multiword expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, DataError, Problem, did_you_mean
from pipeline.kernels.cooccurrence.pairs import (
    COLUMNS,
    expression_tokens,
    is_code,
    pairs_in_expressions,
)
from pipeline.kernels.cooccurrence.tokens import number_tokens
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    CorpusSource,
    Counting,
    Late,
    Of,
    Outputs,
    StageConfig,
    StageReference,
    Tables,
    stage,
)
from pipeline.stages.collocations.extract_corpus import (
    PAIR,
    RelationOptions,
    find_pairs,
    numbers,
)
from pipeline.stages.collocations.units import UnitOptions
from pipeline.stages.inputs import require_attributes
from schemas import (
    AnnotatedPairs,
    CandidateIds,
    CorpusSize,
    Coverage,
    ExpressionCounts,
    ExpressionPairs,
    Judgements,
)

EVERY = "*"
"""Wildcard for all types of expressions."""
TP = "TP"
"""Default category: pairs in an expression of any type."""
_TYPES: Mapping[str, str | None] = {"parseme_mwe": None, "smwe": "lexcat", "wmwe": "wcat"}
"""Attributes with expression numbers, and those with types; None: the type is in the number."""
_EXAMPLES = 3
_CANDIDATES, _EXPRESSIONS, _OF_TYPE = "candidates", "expressions", "expressions of type "
_RELATION = ("left", "right", "relation", "dependency", "adjacent", "surface")


class JoinCorpus(StageConfig, RelationOptions):
    """Judge candidates by the multiword expressions annotated in a corpus."""

    corpus: CorpusSource
    """Corpus files: .cupt, .conllulex, or any others with such an attribute."""
    candidates: Annotated[str, Of(CandidateIds)]
    """The candidates to judge; those that do not occur in the corpus remain unjudged."""
    left: UnitOptions
    """The left units, as in the extraction of the candidates."""
    right: UnitOptions
    """The right units."""
    expressions: str = ""
    """Attribute with expression numbers: "1:VID", "1;2:VPC", or STREUSLE's "1:2" (default:
    parseme_mwe or smwe).
    """
    types: str = ""
    """Attribute with the type of an expression on its first token (default: lexcat, wcat, or the
    text after the number).
    """
    categories: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    """From categories to types of expressions, "*" for all: { LVC = ["LVC.full", "LVC.cause"] }.
    Default: TP for all types, and one category per type.
    """
    least: Annotated[int, Late()] = Field(default=1, ge=1)
    """Minimum number of pair tokens in expressions for a true positive."""
    share: Annotated[float, Late()] = Field(default=0.0, ge=0, le=1)
    """Minimum share of pair tokens in expressions for a true positive."""

    def attributes(self) -> dict[str, set[str]]:
        """Return the attributes named by each option."""
        used = {f"left.{option}": names for option, names in self.left.columns().items()}
        used |= {f"right.{option}": names for option, names in self.right.columns().items()}
        if self.dependency:
            ours = self.dependency.columns().items()
            used |= {f"dependency.{option}": names for option, names in ours}
        attributes = {"expressions": self.expressions, "types": self.types}
        return used | {option: {name} for option, name in attributes.items() if name}


def columns(config: JoinCorpus) -> set[str]:
    """Return the token columns used."""
    place = {"file", "line", "sentence", "position"}
    known = {name for each in _TYPES.items() for name in each if name}
    return place.union({} if config.expressions else known, *config.attributes().values(), known)


def _annotation(config: JoinCorpus, tokens: pl.Schema) -> tuple[str, str | None]:
    """Return the attributes with expression numbers and (if any) types."""
    names = [config.expressions] if config.expressions else [n for n in _TYPES if n in tokens]
    if not names:
        listed = " or ".join(_TYPES)
        what = f"the tokens have no attribute with expression numbers ({listed})"
        problem = Problem("expressions", what, "name it with expressions = ...")
        raise ConfigError("join.corpus", [problem])
    types = config.types or _TYPES.get(names[0])
    return names[0], types if types in tokens else None


def _require_codes(tokens: pl.DataFrame, name: str) -> None:
    """Reject an attribute without expression numbers."""
    wrong = tokens.filter(~is_code(pl.col(name)))
    if wrong.is_empty():
        return
    rows = wrong.select("file", "line", name).head(_EXAMPLES).iter_rows()
    examples = "".join(f"\n  {file}: line {line}: {value!r}" for file, line, value in rows)
    raise DataError(
        f"join.corpus: {wrong.height:,} value{'s' * (wrong.height != 1)} of {name} cannot be read"
        f' as expression numbers like "1:VID" or "2":{examples}\n'
        "Name another attribute: expressions = ..."
    )


def _in_categories(tokens: pl.DataFrame, config: JoinCorpus) -> pl.DataFrame:
    """Return category and pair of the pair tokens in expressions, once per category."""
    if not config.categories:
        every = tokens.with_columns(category=pl.lit(TP))
        own = tokens.filter(pl.col("type").is_not_null()).with_columns(category="type")
        return pl.concat([every, own]).unique(["category", "pair"])
    parts = [
        (
            tokens if EVERY in types else tokens.filter(pl.col("type").is_in(list(types)))
        ).with_columns(category=pl.lit(name))
        for name, types in config.categories.items()
    ]
    return pl.concat(parts).unique(["category", "pair"])


def merge(_config: JoinCorpus, tables: Tables) -> Outputs:
    """Sum the counts of parts of a corpus."""
    sizes = pl.when(pl.col("what") == _CANDIDATES).then(pl.max("count")).otherwise(pl.sum("count"))
    return {
        "pairs": tables["pairs"].group_by("id").agg(pl.sum("f")),
        "inside": tables["inside"].group_by("category", "id", "candidate").agg(pl.sum("f")),
        "corpus": tables["corpus"].group_by("what").agg(sizes.first()),
    }


def combine(config: JoinCorpus, tables: Tables) -> Outputs:
    """Judge each candidate in the corpus, in each category."""
    sizes = dict(tables["corpus"].select("what", "count").collect().iter_rows())
    categories = _categories(config, sizes)
    inside = tables["inside"].filter("candidate").select("category", "id", inside="f")
    every = pl.LazyFrame({"category": categories}, schema={"category": pl.String})
    pairs = every.join(tables["pairs"], how="cross")
    counts = pairs.join(inside, on=["category", "id"], how="left")
    counts = counts.with_columns(pl.col("inside").fill_null(0))
    often = pl.col("inside") >= config.least
    judged = counts.with_columns(tp=often & (pl.col("inside") / pl.col("f") >= config.share))
    others = tables["inside"].filter(~pl.col("candidate")).group_by("category")
    coverage = (
        every.join(judged.group_by("category").agg(
            n_judged=pl.len().cast(pl.Int64), n_true=pl.col("tp").sum().cast(pl.Int64)
        ), on="category", how="left")
        .join(others.agg(n_unmatched=pl.len().cast(pl.Int64)), on="category", how="left")
        .with_columns(n_candidates=pl.lit(sizes.get(_CANDIDATES, 0), pl.Int64))
        .with_columns(pl.exclude("category").fill_null(0))
    )  # fmt: skip
    return {
        "judgements": judged.select("category", "id", "tp").sort("category", "id"),
        "coverage": coverage.select(list(Coverage.columns())).sort("category"),
        "counts": counts.select(list(ExpressionCounts.columns())).sort("category", "id"),
        "corpus": tables["corpus"].filter(pl.col("what") != _CANDIDATES).sort("what"),
    }


def _categories(config: JoinCorpus, sizes: Mapping[str, int]) -> list[str]:
    """Return the categories; reject corpora without expressions, and missing types."""
    names = sorted(what.removeprefix(_OF_TYPE) for what in sizes if what.startswith(_OF_TYPE))
    tokens = sizes.get("tokens", 0)
    if tokens and not sizes.get(_EXPRESSIONS):
        what = f"none of the {tokens:,} tokens are annotated as expressions of two or more tokens"
        remedy = "name the attribute with expression numbers: expressions = ..."
        raise ConfigError("join.corpus", [Problem("expressions", what, remedy)])
    pairs = ((name, each) for name, types in config.categories.items() for each in types)
    wrong = [
        Problem(f"categories.{name}", f"no expression has type {each!r}", _suggest(each, names))
        for name, each in pairs
        if tokens and each not in {EVERY, *names}
    ]
    if wrong:
        raise ConfigError("join.corpus", wrong)
    return [*config.categories] or [TP, *(name for name in names if name != TP)]


def _suggest(name: str, names: Sequence[str]) -> str:
    near = did_you_mean(name, names)
    return near if near.startswith("valid") else f"{near} there are {', '.join(names)}"


def _agree(config: JoinCorpus, referred: Mapping[str, StageReference]) -> Iterable[Problem]:
    """Yield options that differ from the extraction of the candidates."""
    extraction = referred.get("candidates")
    if extraction is None or not isinstance(extraction.config, RelationOptions):
        return
    for option in _RELATION:
        ours, theirs = getattr(config, option), getattr(extraction.config, option, None)
        if ours != theirs:
            what = f"differs from that of stages.{extraction.stage}, which extracted the candidates"
            yield Problem(option, what, f"use the value of stages.{extraction.stage}.{option}")


@stage(
    "join.corpus",
    config=JoinCorpus,
    outputs={
        "judgements": Judgements,
        "coverage": Coverage,
        "counts": ExpressionCounts,
        "corpus": CorpusSize,
    },
    shards="corpus",
    counting=Counting(
        partials={"pairs": AnnotatedPairs, "inside": ExpressionPairs, "corpus": CorpusSize},
        merge=merge,
        combine=combine,
        columns=columns,
        in_parts=True,
    ),
    agree=_agree,
)
def join_corpus(config: JoinCorpus, tables: Tables) -> Outputs:
    """Count the pair tokens of one part of a corpus, and those in an expression."""
    if config.relation == "textual":
        what = "textual co-occurrence has no pair tokens that could belong to an expression"
        raise ConfigError("join.corpus", [Problem("relation", what, "use another relation")])
    schema = tables["corpus"].collect_schema()
    require_attributes(schema, config.attributes())
    name, types = _annotation(config, schema)
    tokens = number_tokens(tables["corpus"], in_order=True).collect()
    _require_codes(tokens, name)
    members = expression_tokens(tokens, numbers=name, types=types)
    left = config.left.kernel()
    right = left if config.left == config.right else config.right.kernel()
    pieces = find_pairs(tokens, left=left, right=right, options=config)
    parts = [_count(each.pairs, members, config) for each in pieces]
    pairs, inside = (pl.concat(each) for each in zip(*parts, strict=True))
    candidates = tables["candidates"].select("id").collect()
    known = pairs.join(candidates, on="id", how="semi")
    among = pl.col("id").is_in(candidates.get_column("id").implode())
    sizes = {
        "tokens": tokens.height,
        "pair tokens": int(pairs["f"].sum()),
        _CANDIDATES: candidates.height,
        **_expression_sizes(members),
    }
    return {
        "pairs": known.group_by("id").agg(pl.sum("f")),
        "inside": inside.group_by("category", "id").agg(pl.sum("f")).with_columns(candidate=among),
        "corpus": numbers(sizes),
    }


def _count(
    pairs: pl.DataFrame, members: pl.DataFrame, config: JoinCorpus
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the frequency of each pair, in all and in expressions of each category."""
    rows = pairs.select(COLUMNS)
    counts = rows.group_by(PAIR).agg(f=pl.len().cast(pl.Int64))
    within = _in_categories(pairs_in_expressions(rows, members), config)
    inside = within.group_by("category", *PAIR).agg(f=pl.len().cast(pl.Int64))
    identified = [
        each.with_columns(pl.col(PAIR).cast(pl.String)).with_columns(candidate_id(*PAIR))
        for each in (counts, inside)
    ]
    return identified[0].select("id", "f"), identified[1].select("category", "id", "f")


def _expression_sizes(members: pl.DataFrame) -> dict[str, int]:
    """Return the number of expressions, in all and by type."""
    own = members.unique("expression")
    counted = own.drop_nulls("type").group_by("type").len().sort("type")
    return {_EXPRESSIONS: own.height} | {f"{_OF_TYPE}{name}": n for name, n in counted.iter_rows()}
