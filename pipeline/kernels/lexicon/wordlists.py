"""Wordlists (lemmas with their sets of wordforms): making, checking, sampling, normalisation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from pipeline.kernels import sampling
from pipeline.kernels.partitions import batches, by_range, most_rows, ranges_of, spill_of
from pipeline.kernels.survey.design import inclusion, permanent_numbers, sequential_poisson
from pipeline.memory import Spill
from schemas.errors import count_text


def first_places(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return the first position of each lemma of a dictionary.

    Parameters
    ----------
    entries : LazyFrame
        file, line and lemma of each entry; rows without a lemma are ignored.

    Returns
    -------
    LazyFrame
        lemma, first (a file), first_line, n_rows (Int64); unordered.
    """
    first = pl.col("file").min()
    line = pl.col("line").filter(pl.col("file") == first).min()
    return entries.drop_nulls("lemma").group_by("lemma").agg(
        first=first, first_line=line, n_rows=pl.len().cast(pl.Int64)
    )  # fmt: skip


def canonical(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the canonical wordlist: for each lemma the set of its wordforms.

    Parameters
    ----------
    rows : LazyFrame
        lemma and form. A null form means that the lemma is listed, and is ignored if other rows
        give the lemma a form; rows without a lemma are ignored.

    Returns
    -------
    LazyFrame
        lemma, form: distinct rows, unordered. A form of several lemmas counts for each.

    Examples
    --------
    >>> rows = {"lemma": ["ra", "ra", "ra", "dar"], "form": ["ra", "rat", None, None]}
    >>> canonical(pl.LazyFrame(rows)).sort("lemma", "form").collect().rows()
    [('dar', None), ('ra', 'ra'), ('ra', 'rat')]
    """
    listed = rows.select("lemma", "form").drop_nulls("lemma")
    full = listed.drop_nulls("form").unique()
    bare = listed.filter(pl.col("form").is_null()).unique().join(full, on="lemma", how="anti")
    return pl.concat([full, bare])


def union(*wordlists: pl.LazyFrame) -> pl.LazyFrame:
    """Return the union of wordlists, with united form sets.

    A full outer join on the lemma. Idempotent, commutative and associative; a wordlist
    without lemmas is its identity.

    Parameters
    ----------
    *wordlists : LazyFrame
        lemma, form; at least one.

    Returns
    -------
    LazyFrame
        lemma, form, in no order.

    Examples
    --------
    >>> one, two = (pl.LazyFrame({"lemma": ["ra"], "form": [form]}) for form in ("ra", "rat"))
    >>> union(one, two).sort("form").collect().rows()
    [('ra', 'ra'), ('ra', 'rat')]
    """
    return canonical(pl.concat(each.select("lemma", "form") for each in wordlists))


def common(first: pl.LazyFrame, *others: pl.LazyFrame) -> pl.LazyFrame:
    """Return Y, the lemmas in all wordlists.

    Examples
    --------
    >>> one = pl.LazyFrame({"lemma": ["ra", "dar"], "form": ["ra", "dar"]})
    >>> two = pl.LazyFrame({"lemma": ["ra"], "form": ["rajt"]})
    >>> common(one, two).collect().rows()
    [('ra',)]
    """
    shared = first.select("lemma").unique()
    for other in others:
        shared = shared.join(other.select("lemma"), on="lemma", how="semi")
    return shared


def common_in_parts(*wordlists: pl.LazyFrame) -> pl.DataFrame:
    """Like `common`, within the memory limit."""
    ranges = ranges_of("lemma", *wordlists)
    return pl.concat(
        common(*(ranges.of(each, number, by="lemma") for each in wordlists)).collect()
        for number in range(len(ranges))
    )


def sizes(wordlist: pl.LazyFrame, *, name: str = "n") -> pl.LazyFrame:
    """Return the number of wordforms of each lemma, 0 if listed without forms.

    Parameters
    ----------
    wordlist : LazyFrame
        lemma, form, as `canonical` gives it.
    name : str
        Name of the count column.
    """
    return wordlist.group_by("lemma").agg(pl.col("form").count().cast(pl.Int64).alias(name))


# Entries of a dictionary of any size

ENTRY = pl.Schema(
    {"file": pl.String, "line": pl.Int64, "lemma": pl.String, "form": pl.String, "own": pl.String}
)
"""An entry: `own` is the lemma as a form of itself, null where it is to be none."""
_LEMMA = pl.Schema(
    {"place": pl.String, "first": pl.String, "first_line": pl.Int64, "lemma": pl.String,
     "n_rows": pl.Int64, "n_forms": pl.Int64}
)  # fmt: skip


@dataclass
class Counts:
    """What was found in the entries; adds up while they are listed."""

    repeated: int = 0
    """Entries whose lemma and form stand in another one, too."""
    lemmas: int = 0
    without_forms: int = 0
    """Lemmas that have none."""
    forms: int = 0
    """Forms, each counted once per lemma."""


def listed_in_parts(
    entries: Spill, counts: Counts
) -> Iterator[tuple[pl.DataFrame | None, pl.DataFrame | None]]:
    """Yield parts of the wordlist, in order of lemma and form, then of the lemmas in their order.

    Parameters
    ----------
    entries : Spill
        One bucket of `ENTRY`, all with a lemma, in any order; it is empty afterwards.
    counts : Counts
        Is updated with what is found.

    Yields
    ------
    wordlist, lemmas : DataFrame or None
        One of the two: lemma, form as of `canonical`, or lemma, position, n_rows as of
        `first_places`, and n_forms.

    Examples
    --------
    >>> rows = [("d", 1, "ra", "rat", None), ("d", 2, "dar", None, None)]
    >>> entries = spill_of(1, ENTRY)
    >>> entries.add(pl.DataFrame(rows, schema=ENTRY, orient="row"), pl.lit(0))
    >>> [[table.rows() for table in pair if table is not None]
    ...  for pair in listed_in_parts(entries, Counts())]
    [[[('dar', None), ('ra', 'rat')]], [[('ra', 1, 1, 1), ('dar', 2, 1, 0)]]]
    """
    with spill_of(1, _LEMMA) as places:
        with by_range(entries, by="lemma") as by_lemma:
            entries.clear()
            for part in by_lemma:
                rows = part.collect()
                forms = _entry_forms(rows).sort("lemma", "form")
                lemmas = _entry_lemmas(rows, forms)
                _add_counts(counts, rows, lemmas)
                places.add(lemmas, pl.lit(0))
                yield forms, None
        yield from ((None, each) for each in _sort_lemmas(places))


def canonical_in_parts(rows: Spill) -> Iterator[pl.DataFrame]:
    """Yield what `canonical` returns in order of lemma and form, no more than there is room for.

    Parameters
    ----------
    rows : Spill
        One bucket of lemma and form, all with a lemma, in any order; it is empty afterwards.
    """
    with by_range(rows, by="lemma") as by_lemma:
        rows.clear()
        for part in by_lemma:
            yield canonical(part).collect().sort("lemma", "form")


def _entry_forms(rows: pl.DataFrame) -> pl.DataFrame:
    own = rows.lazy().drop_nulls("own").select("lemma", form="own")
    return canonical(pl.concat([rows.lazy().select("lemma", "form"), own])).collect()


def _entry_lemmas(rows: pl.DataFrame, forms: pl.DataFrame) -> pl.DataFrame:
    """Return the lemmas of some rows, each with the place where it first stands."""
    number = pl.col("first_line").cast(pl.String).str.zfill(20)
    place = pl.concat_str("first", pl.lit("\0"), number)
    lemmas = first_places(rows.lazy()).join(sizes(forms.lazy(), name="n_forms"), on="lemma")
    return lemmas.with_columns(place=place).select(*_LEMMA).collect()


def _add_counts(counts: Counts, rows: pl.DataFrame, lemmas: pl.DataFrame) -> None:
    filled = rows.select("lemma", "form").drop_nulls()
    counts.repeated += filled.height - filled.n_unique()
    counts.lemmas += lemmas.height
    counts.without_forms += int((lemmas["n_forms"] == 0).sum())
    counts.forms += int(lemmas["n_forms"].sum())


def _sort_lemmas(lemmas: Spill) -> Iterator[pl.DataFrame]:
    """Yield the lemmas in the order of their first appearance, numbered."""
    before = 0
    with by_range(lemmas, by="place") as by_place:
        for part in by_place:
            ordered = part.sort("first", "first_line", "lemma")
            place = pl.int_range(before + 1, before + pl.len() + 1, dtype=pl.Int64)
            rows = ordered.select("lemma", place.alias("position"), "n_rows", "n_forms").collect()
            before += rows.height
            yield rows


# Samples of lemmas: simple, or in proportion to paradigm size

Design: TypeAlias = Literal["simple", "size"]


def paradigm_sizes(
    lemmas: pl.LazyFrame, gold: pl.LazyFrame | None, lexicons: Sequence[pl.LazyFrame]
) -> pl.DataFrame:
    """Return the paradigm size of each lemma, as known before the draw.

    Parameters
    ----------
    lemmas : LazyFrame
        Column lemma.
    gold : LazyFrame or None
        lemma, form, whose forms count; None for a printed dictionary.
    lexicons : sequence of LazyFrame
        lemma, form; the mean number of forms counts without a gold.

    Returns
    -------
    DataFrame
        lemma, n (Float64, 1 for a lemma without forms, so that it has a chance); sorted by lemma.

    Examples
    --------
    >>> words = pl.LazyFrame({"lemma": ["a", "a", "b"], "form": ["x", "y", None]})
    >>> paradigm_sizes(words.select("lemma").unique(), None, [words]).rows()
    [('a', 2.0), ('b', 1.0)]
    """
    counted = [gold] if gold is not None else lexicons
    ranges = ranges_of("lemma", *counted)
    return pl.concat(
        _mean_paradigm_sizes(
            *(ranges.of(each, number, by="lemma") for each in (lemmas, *counted))
        ).collect()
        for number in range(len(ranges))
    )


def _mean_paradigm_sizes(lemmas: pl.LazyFrame, *wordlists: pl.LazyFrame) -> pl.LazyFrame:
    counted = pl.concat(sizes(each) for each in wordlists)
    mean = counted.group_by("lemma").agg(pl.col("n").sum() / len(wordlists))
    joined = lemmas.join(mean, on="lemma", how="left")
    return joined.select("lemma", pl.col("n").clip(lower_bound=1.0)).sort("lemma")


def simple_sample(lemmas: pl.DataFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw lemmas without replacement, with equal probabilities.

    Parameters
    ----------
    lemmas : DataFrame
        lemma, distinct.
    size : int
        Number of lemmas to draw.
    seed : str
        Seed of the draw. Smaller samples are subsets of larger ones.

    Returns
    -------
    DataFrame
        lemma, position (from 1), pi (size / lemmas); sorted by position.

    Examples
    --------
    >>> simple_sample(pl.DataFrame({"lemma": ["a", "b"]}), size=1, seed="s")["pi"].to_list()
    [0.5]
    """
    ids = lemmas.select(id="lemma")
    drawn = sampling.without_replacement(ids, size=size, seed=seed)
    chance = drawn.height / max(1, ids.height)
    return drawn.select(lemma="id", position="position", pi=pl.lit(chance))


def sample_by_size(lemmas: pl.DataFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw lemmas in proportion to paradigm size, the largest with certainty.

    A larger sample holds a smaller one of the same seed, as far as no lemma has become certain
    between the two. Of lemmas that are all as large it is the simple sample.

    Parameters
    ----------
    lemmas : DataFrame
        lemma, n (from 0; those with 0 are never drawn), as `paradigm_sizes` gives them.
    size : int
        Number of lemmas to draw.
    seed : str
        Fixes the draw.

    Returns
    -------
    DataFrame
        lemma, position (the certain ones, then in the order of the draw), pi; sorted by position.

    References
    ----------
    Ohlsson, Sequential Poisson Sampling (1998); Rosén, On Sampling with Probability Proportional
    to Size (1997).

    Examples
    --------
    >>> lemmas = pl.DataFrame({"lemma": ["a", "b", "c", "d"], "n": [30.0, 1.0, 1.0, 2.0]})
    >>> sample_by_size(lemmas, size=2, seed="s").rows()
    [('a', 1, 1.0), ('d', 2, 0.5)]
    """
    numbers = permanent_numbers(lemmas["lemma"], seed=seed)
    chances = inclusion(lemmas["n"].to_numpy(), size=min(size, lemmas.height))
    places = sequential_poisson(chances, numbers, size=size)
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    drawn = lemmas.select("lemma", pi=pl.Series(chances, dtype=pl.Float64))[places]
    return drawn.select("lemma", position=position, pi="pi")


LARGE = 5
"""A large lemma has at least this many times the mean number of forms."""


def size_groups(lemmas: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """Return how many lemmas and forms a sample has, separately for large lemmas.

    A simple sample often has none of a few large lemmas, and then no interval of L* accounts for
    them, however many forms they have.

    Parameters
    ----------
    lemmas : DataFrame
        lemma, n, as `paradigm_sizes` returns them.
    drawn : DataFrame
        lemma: those of the sample.

    Returns
    -------
    DataFrame
        group ("large": at least `LARGE` times the mean number of forms; "other"), n_lemmas, n_drawn
        (lemmas), forms, forms_drawn (Float64); these two rows, also without lemmas.

    Examples
    --------
    >>> lemmas = pl.DataFrame({"lemma": [*"abcdefgh"], "n": [42.0] + [2.0] * 7})
    >>> size_groups(lemmas, lemmas.tail(3)).rows()
    [('large', 1, 0, 42.0, 0.0), ('other', 7, 3, 14.0, 6.0)]
    """
    large = pl.col("n") >= LARGE * pl.col("n").mean()
    sampled = lemmas["lemma"].is_in(drawn["lemma"].implode())
    marked = lemmas.select("n", sampled=sampled, large=large)
    count = pl.len().cast(pl.Int64)
    return pl.concat(
        marked.filter(large=each).select(
            group=pl.lit(group), n_lemmas=count,
            n_drawn=pl.col("sampled").sum().cast(pl.Int64), forms=pl.col("n").sum(),
            forms_drawn=pl.col("n").filter("sampled").sum(),
        )
        for group, each in (("large", True), ("other", False))
    )  # fmt: skip


class UndrawnLarge(NamedTuple):
    """The large lemmas that a sample lacks: their number and their share of all forms.

    Parameters
    ----------
    lemmas : int
        Large lemmas in the population.
    undrawn : int
        Those that were not drawn.
    share : float
        The share of all forms that these have, in [0, 1].
    population : int
        Lemmas in the population.

    Examples
    --------
    >>> lemmas = pl.DataFrame({"lemma": [*"abcdefgh"], "n": [42.0] + [2.0] * 7})
    >>> undrawn_large(size_groups(lemmas, lemmas.tail(3)))
    UndrawnLarge(lemmas=1, undrawn=1, share=0.75, population=8)
    """

    lemmas: int
    undrawn: int
    share: float
    population: int

    def __str__(self) -> str:
        have, was = (
            ("has" if self.lemmas == 1 else "have"),
            ("was" if self.undrawn == 1 else "were"),
        )
        return (
            f"{self.lemmas:,} of {count_text(self.population, 'lemma')} {have} at least {LARGE} "
            f"times the mean number of forms; {self.undrawn:,} {was} not drawn, with "
            f"{100 * self.share:.1f} % of all forms"
        )


def undrawn_large(groups: pl.DataFrame) -> UndrawnLarge:
    """Return the large lemmas that a sample lacks.

    Parameters
    ----------
    groups : DataFrame
        As `size_groups` returns them.
    """
    large, whole = groups.filter(group="large"), float(groups["forms"].sum())
    undrawn = int((large["n_lemmas"] - large["n_drawn"]).sum())
    forms = float((large["forms"] - large["forms_drawn"]).sum())
    share = forms / whole if whole else 0.0
    return UndrawnLarge(int(large["n_lemmas"].sum()), undrawn, share, int(groups["n_lemmas"].sum()))


# Normalisation of spelling

UnicodeForm: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD", "as_it_is"]
Case: TypeAlias = Literal["lower", "as_it_is"]


@dataclass(frozen=True)
class Spelling:
    """Normalisation steps of texts, in this order; surrounding blanks are always removed.

    Parameters
    ----------
    unicode : str
        Unicode normalisation form.
    case : str
        "lower" for lower case.
    replace : mapping of str to str
        Simultaneous replacements, e.g. ё: е, longest first.
    """

    unicode: UnicodeForm = "NFC"
    case: Case = "as_it_is"
    replace: Mapping[str, str] = field(default_factory=dict)


class Change(NamedTuple):
    """Number of texts changed by a step, and the alphabetically first of them."""

    step: str
    n: int
    first: tuple[str, str] | None


def steps(spelling: Spelling) -> Iterator[tuple[str, dict[str, str] | str]]:
    """Yield the name of each step and what it needs."""
    yield "blanks around", "strip"
    if spelling.unicode != "as_it_is":
        yield f"Unicode {spelling.unicode}", spelling.unicode
    if spelling.case == "lower":
        yield "lower case", "lower"
    if spelling.replace:
        text = ", ".join(f"{old} → {new}" for old, new in spelling.replace.items())
        yield f"replaced: {text}", dict(spelling.replace)


def normalise(
    rows: pl.DataFrame, spelling: Spelling, *, columns: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows with normalised texts, and the changes of each step.

    Parameters
    ----------
    rows : DataFrame
        With the `columns`, String.
    spelling : Spelling
        What to do.
    columns : sequence of str
        The texts.

    Returns
    -------
    rows, counts : DataFrame
        The rows, an empty text made null; and step, n (Int64), example: how many texts a step
        changed, and the first of them in the order of the alphabet.

    Examples
    --------
    >>> rows = pl.DataFrame({"form": ["ёж", "ЁЖ", " ель"]})
    >>> table, counts = normalise(
    ...     rows, Spelling(case="lower", replace={"ё": "е"}), columns=["form"]
    ... )
    >>> table["form"].to_list(), counts["n"].to_list()
    (['еж', 'еж', 'ель'], [1, 0, 1, 2])
    """
    table, changes = normalise_batch(rows, spelling, columns=columns)
    return table, counts_of([changes])


def normalise_batch(
    rows: pl.DataFrame, spelling: Spelling, *, columns: Sequence[str]
) -> tuple[pl.DataFrame, list[Change]]:
    """Return what `normalise` does of some of many rows, with what `counts_of` adds up."""
    changes = []
    for name, how in steps(spelling):
        after = rows.with_columns(_apply_step(pl.col(column), how) for column in columns)
        changes.append(_count_changes(name, rows, after, columns))
        rows = after
    filled = [pl.when(pl.col(column) != "").then(column).alias(column) for column in columns]
    return rows.with_columns(filled), changes


def counts_of(batches: Iterable[Sequence[Change]]) -> pl.DataFrame:
    """Return what each step changed in all batches: step, n (Int64), example.

    Examples
    --------
    >>> one, two = Change("lower", 1, ("B", "b")), Change("lower", 2, ("A", "a"))
    >>> counts_of([[one], [two]]).rows()
    [('lower', 3, "'A' → 'a'")]
    """
    rows = []
    for changes in zip(*batches, strict=True):
        first = min((each.first for each in changes if each.first), default=None)
        example = first and f"{first[0]!r} → {first[1]!r}"
        rows.append((changes[0].step, sum(each.n for each in changes), example))
    schema = {"step": pl.String, "n": pl.Int64, "example": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _apply_step(text: pl.Expr, how: dict[str, str] | str) -> pl.Expr:
    if isinstance(how, dict):
        longest = sorted(how, key=lambda old: (-len(old), old))
        return text.str.replace_many(longest, [how[old] for old in longest], leftmost=True)
    if how == "strip":
        return text.str.strip_chars()
    return text.str.to_lowercase() if how == "lower" else text.str.normalize(how)  # type: ignore[arg-type]  # else a Unicode form


def _count_changes(
    name: str, before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str]
) -> Change:
    """Return how many texts differ, and an example."""
    pairs = [pl.DataFrame({"old": before[each], "new": after[each]}) for each in columns]
    changed = pl.concat(pairs).filter(pl.col("old") != pl.col("new")).sort("old", "new")
    return Change(name, changed.height, next(iter(changed.head(1).rows()), None))


# Wordforms from paradigm tables

STEM = "~"
"""Where the stem goes in an ending that is no mere suffix: ``n~u``."""


def generate_forms(entries: pl.LazyFrame, endings: pl.LazyFrame) -> pl.LazyFrame:
    """Return the wordforms of lemmas from their paradigms.

    Parameters
    ----------
    entries : LazyFrame
        lemma, stem, paradigm.
    endings : LazyFrame
        paradigm, ending: a suffix, null or empty for the bare stem; or a pattern with ``~``
        where the stem goes, for prefixes and circumfixes.

    Returns
    -------
    LazyFrame
        lemma, form, a row for each ending; none for an entry whose paradigm has no endings.

    Examples
    --------
    >>> entries = pl.LazyFrame({"lemma": ["kiteb"], "stem": ["ktib"], "paradigm": ["I"]})
    >>> endings = pl.LazyFrame({"paradigm": ["I", "I"], "ending": ["na", "ni~"]})
    >>> generate_forms(entries, endings).sort("form").collect()["form"].to_list()
    ['ktibna', 'niktib']
    """
    both = entries.join(endings.with_columns(pl.col("ending").fill_null("")), on="paradigm")
    has_stem, parts = (
        pl.col("ending").str.contains(STEM, literal=True),
        pl.col("ending").str.splitn(STEM, 2),
    )
    before = pl.when(has_stem).then(parts.struct[0]).otherwise(pl.lit(""))
    after = pl.when(has_stem).then(parts.struct[1]).otherwise("ending")
    return both.select("lemma", form=pl.concat_str(before, "stem", after))


def generate_forms_in_parts(entries: pl.LazyFrame, endings: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield what `generate_forms` returns, about as many rows at a time as there is room for.

    Parameters
    ----------
    entries, endings : LazyFrame
        As for `generate_forms`. The endings are held.

    Yields
    ------
    DataFrame
        lemma, form; one without rows where there are no entries. An entry is never divided.
    """
    table = endings.select("paradigm", "ending").collect()
    lengths = table.group_by("paradigm").agg(n=pl.len().cast(pl.Int64))
    for batch in batches(entries):
        known = batch.join(lengths, on="paradigm", maintain_order="left")
        numbered = known.with_columns(part=pl.col("n").cum_sum() // most_rows())
        parts = numbered.partition_by("part", maintain_order=True) or [numbered]
        yield from (generate_forms(each.lazy(), table.lazy()).collect() for each in parts)


# Common lemmas of gold and lexicon, and what they represent


@dataclass(frozen=True)
class Both:
    """What is known of the lemmas that both have; exists while a lexicon is evaluated.

    Parameters
    ----------
    matches : DataFrame
        The rows of `l_measure.matches` of those that are evaluated, in their order.
    lemmas : int
        How many both have.
    bases : int
        The sum over all of these of what they add to n, see `l_measure.sizes`.
    """

    matches: pl.DataFrame
    lemmas: int
    bases: int


def all_lemmas(both: Both) -> pl.LazyFrame:
    """Return the matches of all common lemmas, as a sample with pi = 1.

    Parameters
    ----------
    both : Both
        With the matches of all.

    Returns
    -------
    LazyFrame
        The columns of the matches, and those of `schemas.LemmaSample`, and base_total.
    """
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return both.matches.lazy().with_columns(
        position=place, population=pl.len().cast(pl.Int64), drawn=pl.lit(value=True),
        pi=pl.lit(1.0), base_total=pl.lit(both.bases, pl.Int64),
    )  # fmt: skip


def sampled_matches(
    both: Both, sample: pl.DataFrame, *, looked_up: pl.DataFrame | None, complete: bool
) -> pl.LazyFrame:
    """Return the matches of the sampled common lemmas.

    Where the gold was keyed in, some of the lemmas drawn from the lexicon are not in it. The
    others are a random sample of those in both, of which there are as many as their share says:
    of the lemmas, or, where chances differ, of 1/pi.

    Parameters
    ----------
    both : Both
        With the matches of the sample's lemmas at the least.
    sample : DataFrame
        `schemas.LemmaSample`.
    looked_up : DataFrame, optional
        Column lemma: the part of the sample that was looked up so far, a random one.
    complete : bool
        Whether the gold is a whole dictionary, so that the sum of the bases is known.

    Returns
    -------
    LazyFrame
        As of `all_lemmas`; base_total is null where the sample was not drawn from `both`.
    """
    draws = sample.sort("lemma")
    if looked_up is not None:
        draws = _looked_up_lemmas(draws, looked_up)
    rows = draws.join(both.matches.select("lemma"), on="lemma", how="semi", maintain_order="left")
    whole = complete and looked_up is None and rows.height == draws.height
    known = whole and bool((rows["population"] == both.lemmas).all())
    part, every = _total_weights(rows, draws)
    # Not in Polars, which multiplies a column by 1/every: 735 (1/98) is less than 7.5.
    shared = [round(lemmas * part / every) for lemmas in rows["population"]]
    rows = rows.with_columns(pl.Series("population", shared, dtype=pl.Int64))
    joined = both.matches.lazy().join(rows.lazy(), on="lemma")
    return joined.with_columns(base_total=pl.lit(both.bases if known else None, pl.Int64))


def _looked_up_lemmas(sample: pl.DataFrame, looked_up: pl.DataFrame) -> pl.DataFrame:
    """Return the lemmas that were looked up, with the chance to be drawn and looked up by now.

    The certain ones and the others apart: what is looked up first may be either.
    """
    condition = pl.col("lemma").is_in(looked_up["lemma"].implode())
    certain = pl.col("pi") == 1.0
    chances = sample.with_columns(pl.col("pi") * condition.mean().over(certain))
    return chances.filter(condition)


def _total_weights(rows: pl.DataFrame, draws: pl.DataFrame) -> tuple[float, float]:
    """Return the total weights of the common lemmas and of all sampled lemmas."""
    if draws["pi"].null_count() or draws["pi"].n_unique() < 2:
        return float(rows.height), float(max(1, draws.height))
    part, every = (float((1.0 / each["pi"].to_numpy()).sum()) for each in (rows, draws))
    return part, every
