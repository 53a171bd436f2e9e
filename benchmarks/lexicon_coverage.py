"""Simulate how sure L* is from lemmas drawn with equal chances, and by size of their paradigms.

Draws many samples of each size with the project's own functions from lemmas of which all are known,
and prints Markdown tables: the spread of L*, how often intervals hold the true value, and how wide
they are; then the same of the difference of two lexicons. The pairs are the public Spanish one, an
invented one, data/make_lexicon.py with 9,000 lemmas, and `few_large`: 5,000 lemmas of which 0.2 %
are very large and match badly.

    python benchmarks/lexicon_coverage.py [--samples 2000] [--replicates 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from lexicon_simulation import GOLD, LEXICON

from pipeline.kernels.lexicon.inference import (
    AnyMethod,
    Interval,
    IntervalOptions,
    difference_interval,
    star_interval,
)
from pipeline.kernels.lexicon.l_measure import lemma_scores, lexicon_overlaps, matches
from pipeline.kernels.lexicon.wordlists import (
    Design,
    canonical,
    common,
    sample_by_size,
    simple_sample,
    union,
)
from pipeline.kernels.sampling import seeded_key

COUNTS = (30, 60, 93, 100, 200, 500)
METHODS: Mapping[Design, tuple[AnyMethod, ...]] = {
    "simple": ("bootstrap_t", "t"), "size": ("beta", "t"),
}  # fmt: skip
"""The default of each design, and Student's."""
DESIGNS: tuple[Design, ...] = ("simple", "size")
INVENTED = 9000
KEPT = 0.9
"""Of the forms, in the thinned copy of hunspell's dictionary that it is compared with."""


class Cell(NamedTuple):
    """What samples of one kind said of one estimate."""

    lemmas: int
    design: Design
    method: str
    spread: float
    """Standard deviation of the estimate."""
    held: float
    below: float
    """Share of the samples with the truth below the interval."""
    width: float
    without: float
    """Share of the samples without limits: they count as not held."""


def scores_of(gold: pl.LazyFrame, *lexicons: pl.LazyFrame) -> list[pl.DataFrame]:
    """Return the scores of all lemmas that gold and lexicons have, for each lexicon."""
    shared = common(gold, *lexicons)
    scores = []
    for lexicon in lexicons:
        matched = matches(lexicon_overlaps(gold, lexicon), gold, lexicon)
        scored = lemma_scores(matched.join(shared, on="lemma", how="semi")).collect()
        scores.append(scored.sort("lemma").with_columns(
            drawn=True, population=pl.len().cast(pl.Int64), base_total=pl.col("base").sum(),
        ))  # fmt: skip
    return scores


def spanish(root: Path) -> list[pl.DataFrame]:
    """Return hunspell's scores, and those of its copy without a tenth of the forms."""
    gold, lexicon = (
        canonical(pl.read_csv(root / "lexicon" / name, separator="\t", quote_char=None).lazy())
        .collect().lazy()
        for name in (GOLD, LEXICON)
    )  # fmt: skip
    key = seeded_key("form", seed="thinned", purpose="sample")
    thinned = lexicon.filter((key < KEPT * 2.0**63) | (pl.col("form") == pl.col("lemma")))
    return scores_of(gold, lexicon, thinned.collect().lazy())


def invented_scores(lemmas: int = INVENTED) -> list[pl.DataFrame]:
    """Return the scores of the invented lexicons: one clustered, one made from paradigms."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
    import inflection
    import make_lexicon

    random = {name: np.random.default_rng(place).random for place, name in enumerate("wpucm")}
    words = inflection.lemmas(lemmas, random["w"])
    printed = [
        (lemma, form)
        for lemma, _, forms in make_lexicon.printed_entries(words, random["p"])
        for form in forms.split(", ")
    ]
    web = [(lemma, form.lower()) for lemma, form, _ in make_lexicon.unimorph(words, random["u"])]
    clustered = make_lexicon.computed_lexicon(words, random["c"])
    scores = [
        (lemma, ending.replace("~", lemma) if "~" in ending else lemma + ending)
        for lemma, _, kind in make_lexicon.entries(words, random["m"])
        for ending in inflection.PARADIGMS[kind]
    ]
    computed = [(lemma, form) for lemma, forms in clustered.items() for form in forms]
    gold = union(_wordlist(printed), _wordlist(web)).collect().lazy()
    return scores_of(gold, _wordlist(computed), _wordlist(scores))


def _wordlist(rows: Sequence[tuple[str, str]]) -> pl.LazyFrame:
    frame = pl.DataFrame(rows, schema={"lemma": pl.String, "form": pl.String}, orient="row")
    return canonical(frame.lazy()).collect().lazy()


def few_large(lemmas: int = 5000, *, large: float = 0.002, seed: int = 1) -> list[pl.DataFrame]:
    """Return the scores of two lexicons that match a few very large lemmas badly.

    The large lemmas have 1,000 forms each and L near .2; the others 9 on average and L near .9.
    """
    random = np.random.default_rng(seed)
    size = 1 + np.minimum(random.geometric(1 / 8, lemmas), 60)
    size[: round(large * lemmas)] = 1000
    values = random.beta(9, 1, lemmas)
    bad = size == 1000
    values[bad] = random.uniform(0.1, 0.3, int(bad.sum()))
    frame = pl.DataFrame({"lemma": [f"l{i:05}" for i in range(lemmas)], "size": size, "L": values})
    scores = frame.with_columns(
        base="size", n_gold="size", drawn=True, population=pl.lit(lemmas, pl.Int64),
        base_total=pl.col("size").sum(),
    )  # fmt: skip
    return [scores, scores.with_columns(L=pl.col("L") * random.uniform(0.8, 1.0, lemmas))]


def star_of(scores: pl.DataFrame) -> float:
    """Return the L* of all lemmas."""
    return float((scores["size"] * scores["L"]).sum()) / float(scores["base"].sum())


def samples_of(
    population: Sequence[pl.DataFrame], count: int, design: Design, *, samples: int, seed: int
) -> Iterator[list[pl.DataFrame]]:
    """Yield the scores of the sampled lemmas, for each lexicon."""
    lemmas = population[0].select("lemma", n=pl.col("n_gold").cast(pl.Float64).clip(1.0))
    draw = sample_by_size if design == "size" else simple_sample
    for number in range(samples):
        drawn = draw(lemmas, size=count, seed=f"{seed} {number}").select("lemma", "pi")
        yield [each.join(drawn, on="lemma", maintain_order="left") for each in population]


def cell(
    intervals: Sequence[Interval], truth: float, count: int, design: Design, method: str
) -> Cell:
    """Put together what intervals say of the truth."""
    rows = np.array([(each.estimate, each.lower, each.upper) for each in intervals], dtype=float)
    estimate, lower, upper = rows.T
    return Cell(
        count, design, method, float(np.nanstd(estimate, ddof=1)),
        float(((lower <= truth) & (truth <= upper)).mean()), float((truth < lower).mean()),
        float(np.nanmean(upper - lower)), float(np.isnan(lower).mean()),
    )  # fmt: skip


def coverage(
    scores: pl.DataFrame,
    count: int,
    design: Design,
    *,
    samples: int,
    replicates: int = 1000,
    seed: int = 1,
    methods: Mapping[Design, tuple[AnyMethod, ...]] = METHODS,
) -> list[Cell]:
    """Return how sure L* is from samples of one kind, by each method."""
    truth = star_of(scores)
    intervals: dict[AnyMethod, list[Interval]] = {method: [] for method in methods[design]}
    drawn = samples_of([scores], count, design, samples=samples, seed=seed)
    for number, (each,) in enumerate(drawn):
        how = IntervalOptions(None, 0.95, replicates, f"{seed} {number}")
        for method, limits in intervals.items():
            limits.append(star_interval(each, how, method=method))
    return [cell(limits, truth, count, design, method) for method, limits in intervals.items()]


def difference_coverage(
    scores: Sequence[pl.DataFrame],
    count: int,
    design: Design,
    *,
    samples: int,
    replicates: int = 1000,
    seed: int = 1,
) -> Cell:
    """Return how sure the difference of two lexicons is, by the default of the design."""
    stars = [star_of(each) for each in scores]
    drawn = samples_of(scores, count, design, samples=samples, seed=seed)
    intervals = [
        difference_interval(one, two, IntervalOptions(None, 0.95, replicates, f"{seed} {number}"))
        for number, (one, two) in enumerate(drawn)
    ]
    return cell(
        intervals, stars[0] - stars[1], count, design, "bootstrap_t" if design == "simple" else "t"
    )


def table(cells: Sequence[Cell]) -> str:
    """Return the cells as a Markdown table."""
    head = "| lemmas | design | standard deviation | interval | coverage | truth below | width |"
    rows = [
        f"| {each.lemmas:,} | {each.design} | {each.spread:.4f} | {each.method} "
        f"| {100 * each.held:.1f} % | {100 * each.below:.1f} % | {each.width:.3f} |"
        for each in cells
    ]
    return "\n".join([head, "|---|---|---|---|---|---|---|", *rows])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    settings = parser.parse_args(arguments)
    options = {
        "samples": settings.samples,
        "replicates": settings.replicates,
        "seed": settings.seed,
    }
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        print("LEXASSAY_DATA is not set: only the invented pair is simulated", file=sys.stderr)
    pairs = {"Spanish": spanish(Path(root))} if root else {}
    started = time.perf_counter()
    for name, scores in {**pairs, "invented": invented_scores(), "few large": few_large()}.items():
        stars = [star_of(each) for each in scores]
        print(f"\n{name}: {scores[0].height:,} lemmas, L* {stars[0]:.4f} and {stars[1]:.4f}\n")
        kinds = [(count, design) for count in settings.counts for design in DESIGNS]
        print(table([each for kind in kinds for each in coverage(scores[0], *kind, **options)]))
        print("\ndifference\n")
        print(table([difference_coverage(scores, *kind, **options) for kind in kinds]), flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
