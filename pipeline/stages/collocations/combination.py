"""Combination of association measures, learned from judged candidates, and its application."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.average_precision import judged_chances
from pipeline.kernels.nbest.combination import (
    CrossFit,
    Labels,
    Ridge,
    Term,
    average_precision_of,
    choose_single,
    cross_fit,
    fit_all,
    percentiles,
    terms,
)
from pipeline.kernels.nbest.ranking import rankings
from pipeline.kernels.numeric import FloatArray, IntArray, codes
from pipeline.kernels.partitions import batches
from pipeline.kernels.ridge_logistic import Features, Model
from pipeline.kernels.survey.study import folds_of, normal_scores, rank_matrix
from pipeline.stages.base import Of, Outputs, SeedOptions, Tables, TableSource, stage
from pipeline.stages.collocations.evaluation import (
    LEARNED,
    Evaluation,
    Rankings,
    chosen_category,
    chosen_ranks,
    draws_without_unjudged,
    require_ranked,
)
from pipeline.stages.inputs import require
from schemas import (
    AppliedScores,
    CandidateIds,
    Coefficients,
    CombinationFit,
    CombinedRanks,
    CombinedScores,
    DrawnCandidates,
    Judgements,
    Refit,
)
from schemas.errors import count_text

_FREQUENCIES = ("f", "f1", "f2")
_UNSEEN = "combination, word unseen"
_SINGLE = "chosen single measure"


class ModelRankingOptions(Rankings, SeedOptions):
    """Options of stages that rank candidates by a model."""

    candidates: Annotated[str, Of(CandidateIds)]
    """The candidates, for their words and frequencies."""
    name: str = Field(default="combination", pattern=r"^[^\W\d]\w*$")
    """Name of the new ranking among the measures."""


class ScoreCombination(ModelRankingOptions, Evaluation):
    """Combine measures: a model of judged candidates ranks all candidates."""

    sample: Annotated[str | None, Of(DrawnCandidates)] = None
    """The random sample, of any design; all candidates if omitted. Labels weigh 1/pi."""
    further: Annotated[str | None, Of(Judgements)] = None
    """Judgements of candidates outside the sample, e.g. of sample.active. The refit and the
    coefficients use them; no estimate does.
    """
    words: tuple[str, ...] = ("{l1}", "{l2}")
    """Templates of words and other values with an effect of their own, from columns of the
    candidates: {l1}, {l2}, {pos}; none: ranks only.
    """
    separator: str = Field(default="", max_length=1)
    """Separator of parts with effects of their own: ":" for the preposition and the noun of
    ``in:Kraft``.
    """
    frequencies: bool = False
    """Add the frequencies f, f1 and f2 to the measures."""
    ridge: Ridge = "cv"
    """Weight of the penalty, above 0; "cv" chooses it by cross-validation."""
    folds: int = Field(default=10, ge=2)
    """Number of folds. No candidate is scored by a model that saw the labels of its fold."""
    cluster: str = ""
    """Template of the values that no fold divides, e.g. "{l2}" for verbs: precision is then that
    of verbs without a label.
    """
    category: str | None = None
    """Category of true positives; optional if there is only one."""

    @field_validator("words")
    @classmethod
    def _templates(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for template in words:
            columns_of(template)
        if len(set(words)) < len(words):
            raise ValueError("a template is listed twice")
        return words

    @field_validator("cluster")
    @classmethod
    def _template(cls, cluster: str) -> str:
        if cluster:
            columns_of(cluster)
        return cluster

    @field_validator("ridge", mode="before")
    @classmethod
    def _above_0(cls, ridge: Any) -> Any:
        number = isinstance(ridge, int | float) and not isinstance(ridge, bool)
        if ridge != "cv" and not (number and 0 < ridge < float("inf")):
            raise ValueError('should be "cv" or a number above 0')
        return ridge


def columns_of(template: str) -> list[str]:
    """Return the columns of a template.

    Raises
    ------
    ValueError
        If it has none, or more than names in braces.

    Examples
    --------
    >>> columns_of("{l1} {pos}")
    ['l1', 'pos']
    """
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"{template!r}: {error}") from None
    fields = [
        (name, bool(form or conversion)) for _, name, form, conversion in parts if name is not None
    ]
    if not fields or any(more or not name for name, more in fields):
        raise ValueError(f"{template!r}: write columns of the candidates in braces, such as {{l1}}")
    return [name for name, _ in fields]


# Features of candidates


class Description(NamedTuple):
    """Candidates with the features of a model."""

    ids: pl.Series
    ranks: IntArray
    """Shape (measures, candidates)."""
    features: Features
    names: list[tuple[str, str]]
    """Kind and name of each numeric feature."""
    words: list[tuple[str, pl.Series]]
    """Name of each word, and its values by code."""


def _describe(
    ranks: pl.LazyFrame,
    candidates: pl.LazyFrame,
    *,
    measures: Sequence[str],
    words: Sequence[str],
    frequencies: bool,
) -> Description:
    """Return ranked candidates with normal scores of ranks and frequencies, and codes of words."""
    ids, names, places = rank_matrix(ranks)
    order = [names.to_list().index(each) for each in measures or names]
    numbers = _FREQUENCIES if frequencies else ()
    columns = dict.fromkeys(
        each for word in words for each in columns_of(_Word.parse(word).template)
    )
    inputs = [*(("frequencies", each) for each in numbers), *(("words", each) for each in columns)]
    require(candidates.collect_schema(), inputs)
    table = _values_of(ids, candidates, [*columns, *numbers])
    scores = [normal_scores(places[order])]
    scores += [
        normal_scores(len(ids) + 1 - percentiles(table[each].to_numpy()) * len(ids))[None]
        for each in numbers
    ]
    kinds = [("measure", names[each]) for each in order] + [("frequency", each) for each in numbers]
    coded = [(word, *codes(_Word.parse(word).values(table))) for word in words]
    stacked = np.array([each for _, each, _ in coded], dtype=np.int64).reshape(len(words), len(ids))
    features = Features(np.concatenate(scores).T, stacked)
    return Description(
        ids, places[order], features, kinds, [(word, values) for word, _, values in coded]
    )


def _require_values(table: pl.DataFrame) -> None:
    """Reject ranked candidates without a word or a frequency."""
    lost = table.filter(pl.any_horizontal(pl.exclude("id").is_null()))["id"]
    if table.width > 1 and len(lost):
        columns = ", ".join(table.columns[1:])
        what = (
            f"{len(lost):,} of {table.height:,} ranked candidates have no {columns}, for example "
            f"{', '.join(lost.head(3))}"
        )
        remedy = "use the table of the candidates that were ranked"
        raise ConfigError("candidates", [Problem("candidates", what, remedy)])


class _Word(NamedTuple):
    """A template, or one part of its values: ``{l1}`` or ``{l1}:[2]``."""

    template: str
    separator: str = ""
    part: int = 0

    @classmethod
    def parse(cls, name: str) -> _Word:
        match = re.fullmatch(r"(.*\})(.)\[(\d+)\]", name, flags=re.DOTALL)
        return cls(match[1], match[2], int(match[3])) if match else cls(name)

    def values(self, table: pl.DataFrame) -> pl.Series:
        """Return the value of each candidate; "" where it lacks the part."""
        fields = columns_of(self.template)
        text = re.sub(r"\{[^{}]*\}", "{}", self.template)
        value = pl.format(text, *(pl.col(each).cast(pl.String) for each in fields))
        if self.part:
            value = value.str.split(self.separator).list.get(self.part - 1, null_on_oob=True)
        return table.select(value=value.fill_null("")).to_series()


def _parts(words: Sequence[str], separator: str, candidates: pl.LazyFrame) -> list[str]:
    """Return the names of words, one for each part if they have parts."""
    if not separator:
        return list(words)
    columns = [("words", each) for word in words for each in columns_of(word)]
    require(candidates.collect_schema(), columns)
    table = candidates.select(*dict.fromkeys(each for _, each in columns)).collect()
    names = []
    for word in words:
        counts = _Word(word).values(table).str.count_matches(separator, literal=True)
        numbers = range(1, int(counts.to_numpy().max(initial=0)) + 2)
        names += [f"{word}{separator}[{each}]" for each in numbers] if len(numbers) > 1 else [word]
    return names


# Combination


@stage(
    "score.combination",
    config=ScoreCombination,
    outputs={
        "scores": CombinedScores,
        "ranks": CombinedRanks,
        "fit": CombinationFit,
        "coefficients": Coefficients,
        "refit": Refit,
    },
)
def score_combination(config: ScoreCombination, tables: Tables) -> Iterator[Outputs]:
    """Fit without each fold in turn, score the fold, and fit once more to all labels.

    Raises
    ------
    ConfigError
        If the name is that of a measure, or all judgements that a model may use are alike.
    """
    ranks = chosen_ranks(config, tables)
    draws = draws_without_unjudged(tables)
    if ranks.limit(1).collect().is_empty() or draws.is_empty():
        yield _without_rows(config)
        return
    _require_new(config.name, ranks)
    category = chosen_category(config.category, draws)
    words = _parts(config.words, config.separator, tables["candidates"])
    description = _describe(
        ranks, tables["candidates"], measures=config.measures, words=words,
        frequencies=config.frequencies,
    )  # fmt: skip
    known = _judge_ranking(description.ids, draws.filter(category=category), tables)
    labels = known.labels
    fold = _folds(config, _clusters(config, description.ids, tables["candidates"]))
    try:
        fits = cross_fit(description.features, labels, fold, ridge=config.ridge)
    except ValueError as error:
        remedy = "judge more candidates, or use fewer folds"
        raise ConfigError("judgements", [Problem("judgements", str(error), remedy)]) from None
    every = _with_further(description.ids, known, tables)
    final = fit_all(description.features, every, ridge=float(np.median(fits.ridges)))
    scores = pl.DataFrame({"id": description.ids, config.name: fits.scores, "fold": fold})
    yield {
        "scores": scores.sort("id"),
        "fit": _fit(config, description, known, fold, fits),
        "coefficients": _coefficients(description, every, final, fits),
        "refit": _refit(config, description, every, final, labels.places),
    }
    yield from _ranks(ranks, scores, config)


def _require_new(name: str, ranks: pl.LazyFrame) -> None:
    if not ranks.filter(pl.col("measure") == name).limit(1).collect().is_empty():
        what = f"{name!r} is a measure that is already ranked"
        raise ConfigError("name", [Problem("name", what, "choose another name")])


def _without_rows(config: ModelRankingOptions) -> Outputs:
    return {
        "scores": CombinedScores.zero_rows(**{config.name: pl.Float64}),
        "ranks": CombinedRanks.zero_rows(),
        "fit": CombinationFit.zero_rows(),
        "coefficients": Coefficients.zero_rows(),
        "refit": Refit.zero_rows(),
    }


def _ranks(
    ranks: pl.LazyFrame, scores: pl.DataFrame, config: ModelRankingOptions
) -> Iterator[Outputs]:
    """Yield the rankings of all measures, sorted by name, the new one among them."""
    new = next(rankings(scores.lazy(), measures=[config.name], seed=config.seed))
    columns = list(CombinedRanks.columns())
    learned = pl.lit(value=False)
    if LEARNED in scores.columns:
        marked = scores.lazy().select("id", LEARNED)
        new = new.join(marked, on="id", how="left", maintain_order="left")
    if LEARNED in ranks.collect_schema() or LEARNED in scores.columns:
        ranks, new = (
            each if LEARNED in each.collect_schema() else each.with_columns(learned.alias(LEARNED))
            for each in (ranks, new)
        )
        columns.append(LEARNED)
    before = ranks.filter(pl.col("measure") < config.name)
    after = ranks.filter(pl.col("measure") > config.name)
    for part in (before, new, after):
        yield from ({"ranks": batch} for batch in batches(part.select(columns)))


class JudgedCandidates(NamedTuple):
    """The judged candidates of a category."""

    category: str
    labels: Labels
    pi: FloatArray
    """The chance of each candidate to be drawn and judged, shape (candidates,); 1 if not judged."""


def _judge_ranking(ids: pl.Series, draws: pl.DataFrame, tables: Tables) -> JudgedCandidates:
    """Return the judgements of ranked candidates, weighted by their chances and multiplicity."""
    if "sample" in tables:
        chances = tables["sample"].select("id", "pi").collect()
        draws = draws.join(chances, on="id", how="left", maintain_order="left")
    judged = judged_chances(draws, candidates=len(ids)).with_columns(draws["multiplicity"])
    places = pl.DataFrame({"id": ids, "place": np.arange(len(ids))})
    known = judged.drop_nulls("tp").join(places, on="id", how="inner").sort("place")
    place = known["place"].to_numpy()
    pi = np.ones(len(ids))
    pi[place] = known["pi"].to_numpy()
    weights = (known["multiplicity"] / known["pi"]).to_numpy()
    labels = Labels(place, known["tp"].cast(pl.Float64).to_numpy(), weights)
    return JudgedCandidates(draws["category"][0], labels, pi)


def _with_further(ids: pl.Series, candidates: JudgedCandidates, tables: Tables) -> Labels:
    """Return the labels with those outside the sample; where both judge, the sample's."""
    labels = candidates.labels
    if "further" not in tables:
        return labels
    further = tables["further"].filter(category=candidates.category).drop_nulls("tp").collect()
    tp = ids.rename("id").to_frame().join(further, on="id", how="left", maintain_order="left")["tp"]
    y = tp.cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
    y[labels.places] = labels.y
    weights = np.full(len(y), labels.weights.mean())
    weights[labels.places] = labels.weights
    places = np.flatnonzero(~np.isnan(y))
    return Labels(places, y[places], weights[places])


def _folds(config: ScoreCombination, values: pl.Series) -> IntArray:
    """Return the fold of each candidate, by its id or by another value."""
    return folds_of(values, folds=config.folds, seed=config.seed, purpose="combination")


def _clusters(config: ScoreCombination, ids: pl.Series, candidates: pl.LazyFrame) -> pl.Series:
    """Return the value that no fold divides of each candidate: its id, or that of `cluster`."""
    if not config.cluster:
        return ids
    columns = columns_of(config.cluster)
    require(candidates.collect_schema(), [("cluster", each) for each in columns])
    return _Word(config.cluster).values(_values_of(ids, candidates, columns))


def _values_of(ids: pl.Series, candidates: pl.LazyFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return id and columns of the ranked candidates, in their order."""
    own = candidates.select("id", *dict.fromkeys(columns))
    every = ids.rename("id").to_frame().lazy()
    table = every.join(own, on="id", how="left", maintain_order="left").collect()
    _require_values(table)
    return table


def _fit(
    config: ScoreCombination,
    description: Description,
    candidates: JudgedCandidates,
    fold: IntArray,
    fits: CrossFit,
) -> pl.DataFrame:
    """Compare the combination with the chosen measure, and with itself on words without labels."""
    labels = candidates.labels
    single, choices = choose_single(description.ranks, labels, fold)
    values, counts = np.unique(choices, return_counts=True)
    measure = description.names[int(values[counts.argmax()])][1]
    ridge = float(np.median(fits.ridges))
    rows = [
        ("combination", "", "", ridge, fits.gain, fits.scores),
        (_SINGLE, "", measure, None, None, single),
    ]
    for at, (word, names) in enumerate(description.words):
        if config.cluster:
            break  # no label of the same cluster is used at all
        unseen = _folds(config, names.gather(description.features.words[at]))
        try:
            again = cross_fit(description.features, labels, unseen, ridge=ridge)
        except ValueError:
            continue  # all labels of one kind are about one word
        rows.append((_UNSEEN, word, "", ridge, again.gain, again.scores))
    facts = {
        "category": candidates.category, "n_judged": len(labels.y),
        "positives": int(labels.y.sum()),
    }  # fmt: skip
    table = [
        facts | {
            "ranking": ranking, "word": word, "measure": name, "ridge": penalty, "gain": gain,
            "average_precision": average_precision_of(scores, labels, candidates.pi),
        }
        for ranking, word, name, penalty, gain, scores in rows
    ]  # fmt: skip
    fit = pl.DataFrame(table, schema=CombinationFit.columns())
    return fit.fill_nan(None).sort(*CombinationFit.key())


def _coefficients(
    description: Description, labels: Labels, final: Model, fits: CrossFit
) -> pl.DataFrame:
    """Return the coefficients, and the candidates that have a label."""
    judged = description.features.of(labels.places)
    rows = terms(description.names, description.words, judged, final=final, models=fits.models)
    rows += [
        Term("label", "", each, 1, 0.0, 0.0, 0.0) for each in description.ids.gather(labels.places)
    ]
    return pl.DataFrame(rows, schema=Coefficients.columns(), orient="row").sort(*Coefficients.key())


def _refit(
    config: ScoreCombination,
    description: Description,
    labels: Labels,
    final: Model,
    drawn: IntArray,
) -> pl.DataFrame:
    """Rank all candidates by the model of all labels."""
    odds = pl.Series("odds", final.log_odds(description.features))
    tp = pl.Series("tp", labels.per_candidate(len(description.ids))).fill_nan(None).cast(pl.Boolean)
    sampled = np.zeros(len(description.ids), dtype=np.bool_)
    sampled[drawn] = True
    table = pl.DataFrame({"id": description.ids, "odds": odds, "tp": tp, "sampled": sampled})
    ranked = next(rankings(table.lazy(), measures=["odds"], seed=config.seed)).select("id", "rank")
    probability = 1.0 / (1.0 + (-pl.col("odds")).exp())
    both = table.lazy().join(ranked, on="id").with_columns(probability=probability)
    rows = both.select(
        "id", "probability", "tp", "sampled", measure=pl.lit(config.name), refit_rank="rank"
    )  # fmt: skip
    return rows.select(*Refit.columns()).sort("id").collect()


# Application to other candidates


class ScoreApply(ModelRankingOptions):
    """Rank other candidates by the model of a combination."""

    coefficients: Annotated[str | None, Of(Coefficients)] = None
    """The model: a stage score.combination. Alternative: path."""
    path: TableSource | None = None
    """The file coefficients.csv or .parquet of another experiment."""
    exclude_learned: bool = False
    """Exclude candidates that the model was fitted to. Their labels cannot evaluate it."""

    @model_validator(mode="after")
    def _one_model(self) -> ScoreApply:
        if (self.coefficients is None) == (self.path is None):
            raise ValueError("give either coefficients or path")
        return self


@stage("score.apply", config=ScoreApply, outputs={"scores": AppliedScores, "ranks": CombinedRanks})
def score_apply(config: ScoreApply, tables: Tables) -> Iterator[Outputs]:
    """Add up the coefficients of each candidate; words that the model does not know have none.

    Raises
    ------
    ConfigError
        If a measure of the model is not ranked, or a column of its words is missing.
    """
    model = _read_model(tables["coefficients" if "coefficients" in tables else "path"])
    ranks = chosen_ranks(config, tables)
    if ranks.limit(1).collect().is_empty() or model.is_empty():
        yield {
            "scores": AppliedScores.zero_rows(**{config.name: pl.Float64}),
            "ranks": CombinedRanks.zero_rows(),
        }
        return
    _require_new(config.name, ranks)
    of = {kind: model.filter(kind=kind) for kind in _KINDS}
    measures = of["measure"]["feature"].to_list()
    require_ranked("measures", measures, ranks)
    words = of["word"]["feature"].unique().sort().to_list()
    used = ranks.filter(pl.col("measure").is_in(measures))
    fitted = of["label"]["value"]
    if config.exclude_learned:
        used, ranks = (_without(fitted, each) for each in (used, ranks))
    description = _describe(
        used, tables["candidates"], measures=measures, words=words,
        frequencies=not of["frequency"].is_empty(),
    )  # fmt: skip
    numbers = pl.concat([of["measure"], of["frequency"]])
    coefficient = dict(zip(numbers["feature"], numbers["coefficient"], strict=True))
    odds = description.features.numbers @ np.array(
        [coefficient[name] for _, name in description.names]
    )
    odds += float(of["intercept"]["coefficient"].sum())
    known = np.zeros(len(description.ids), dtype=np.int64)
    for at, (word, values) in enumerate(description.words):
        learned = of["word"].filter(feature=word).select("value", "coefficient")
        own = pl.DataFrame({"value": values})
        both = own.join(learned, on="value", how="left", maintain_order="left")
        effects = both["coefficient"].fill_null(0.0).to_numpy()
        odds += effects[description.features.words[at]]
        known += both["coefficient"].is_not_null().to_numpy()[description.features.words[at]]
    scores = pl.DataFrame({
        "id": description.ids, config.name: odds.round(9), "known_words": known,
        "learned": description.ids.is_in(fitted.implode()),
    })  # fmt: skip
    yield {"scores": scores.sort("id")}
    yield from _ranks(ranks, scores, config)


def _without(fitted: pl.Series, ranks: pl.LazyFrame) -> pl.LazyFrame:
    """Return the ranks of all other candidates, numbered anew."""
    others = ranks.filter(~pl.col("id").is_in(fitted.implode())).sort("measure", "rank")
    rank = pl.int_range(1, pl.len() + 1).over("measure")
    tie = rank.min().over("measure", "tie")
    return others.with_columns(rank=rank, tie=tie)


def _read_model(model: pl.LazyFrame) -> pl.DataFrame:
    """Return the coefficients of a stage or a file.

    Raises
    ------
    ConfigError
        If a column is missing, or a coefficient is not a number.
    """
    require(model.collect_schema(), [("path", name) for name in _MODEL])
    text = model.select(*(pl.col(name).cast(pl.String) for name in _MODEL)).collect()
    number = pl.col("coefficient").cast(pl.Float64, strict=False)
    table = text.with_columns(number, pl.col("value", "feature").fill_null(""))
    known = pl.col("kind").is_in(_KINDS) & pl.col("coefficient").is_finite()
    bad = table.with_row_index("row", offset=1).filter(~known.fill_null(value=False))
    if bad.height:
        rows = ", ".join(f"row {row}" for row in bad["row"].head(3))
        what = f"{count_text(bad.height, 'row')} without a coefficient of a model, e.g. {rows}"
        remedy = "use the table coefficients of score.combination as it was written"
        raise ConfigError("path", [Problem("path", what, remedy)])
    return table


_KINDS = ("intercept", "measure", "frequency", "word", "label")
_MODEL = ("kind", "feature", "value", "coefficient")
