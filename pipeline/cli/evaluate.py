"""``evaluate``, ``clusters``, ``lexicon``: an answer from files, without an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from pipeline.api.results import Run
from pipeline.cli import from_files, output
from pipeline.cli.options import Columns, DecimalMark, Header, Missing, decimal_of, listed
from pipeline.kernels.measure import measure_title
from pipeline.recipes.evaluation import CUTS
from pipeline.recipes.evaluation import clusters as evaluate_clusters
from pipeline.recipes.evaluation import evaluate as evaluate_list
from pipeline.recipes.evaluation import lexicon as evaluate_lexicon
from pipeline.recipes.inputs import pairs
from schemas.errors import count_text

Report = Annotated[bool, typer.Option(help="Write a page with the figures.")]
_SIZES = ",".join(map(str, CUTS))
_COSTLY = 10
"""Lemmas to print."""
_OF_A_LEMMA = ("lemma", "match", "n_gold", "n_common", "n_missing", "n_spurious", "L", "lost")


def evaluate(
    ranked: Annotated[Path, typer.Argument(help="Pairs with scores, or in rank order.")],
    judgements: Annotated[Path, typer.Argument(help="Pairs with 1 or 0, or with labels.")],
    score: Annotated[
        list[str] | None, typer.Option("--score", help="Column of scores [all].")
    ] = None,
    ascending: Annotated[
        list[str] | None,
        typer.Option("--ascending", help="Column of scores to rank from the lowest: p-values."),
    ] = None,
    positive: Annotated[
        list[str] | None, typer.Option("--positive", help="Label of true positives.")
    ] = None,
    sampled: Annotated[
        bool, typer.Option("--sampled", help="Treat the judged pairs as a random sample.")
    ] = False,
    combine: Annotated[
        bool,
        typer.Option("--combine", help="Also combine all scores and the words of the pairs."),
    ] = False,
    n: Annotated[
        str | None,
        typer.Option("--n", help=f"List sizes [{_SIZES}, up to the length of the list]."),
    ] = None,
    columns: Columns = None,
    header: Header = None,
    decimal: DecimalMark = None,
    missing: Missing = None,
    read_as: from_files.FilesReadAs = None,
    normalise: from_files.Normalise = None,
    reader_options: from_files.ReaderOptions = None,
    report: Report = True,
    save: from_files.Save = None,
    runs: from_files.Cache = None,
) -> int:
    """Evaluate ranked pairs: n-best precision with confidence limits and a graph."""
    with from_files.progress_listeners() as listeners:
        run = evaluate_list(
            ranked,
            judgements,
            scores=from_files.words(score),
            ascending=from_files.words(ascending),
            positive=from_files.words(positive),
            sampled=sampled,
            combine=combine,
            cuts=from_files.numbers(n, option="--n") if n else None,
            columns=pairs(listed(columns), option="--columns"),
            header=header,
            decimal=decimal_of(decimal),
            missing=from_files.words(missing),
            read_as=from_files.formats(read_as),
            reader=from_files.reader(None, None, None, None, normalise, reader_options),
            runs=runs,
            experiment=save,
            report=report,
            listeners=listeners,
        )
    table = run.table("precision.cuts").sort("measure", "n")
    shown = table.select(
        "measure", "n", *(_per_cent(name) for name in ("precision", "lower", "upper")),
        pl.col("n_sampled").alias("judged"), pl.col("k_sampled").alias("true positives"),
    )  # fmt: skip
    _print(shown, "N-best precision in %, with 95 % limits")
    if combine:
        print(_combination(run.table("combined.fit")))
    if "comparison" in run.project.nodes:
        _print(
            run.table("comparison.best"),
            "Best measure at each n, and those not significantly worse",
        )
    return _print_report(run)


def _combination(fit: pl.DataFrame) -> str:
    """Say what the combination was learned from, and how well it ranks."""
    own, single = (
        fit.filter(pl.col("word") == "", (pl.col("measure") == "") == combined).row(0, named=True)
        for combined in (True, False)
    )
    ours, theirs = (
        "unknown" if each is None else f"{100 * each:.1f} %"
        for each in (own["average_precision"], single["average_precision"])
    )
    return (
        f"combination: learned from {count_text(own['n_judged'], 'label')} with "
        f"{count_text(own['positives'], 'true positive')}; cross-fitted average precision {ours}, "
        f"single measure ({measure_title(single['measure'])}) {theirs}"
    )


def clusters(
    gold: Annotated[
        Path, typer.Argument(help="Tagged corpus, table of words and classes, or Senseval key.")
    ],
    induced: Annotated[list[Path], typer.Argument(help="One file per system.")],
    tag: Annotated[str, typer.Option("--tag", help="Attribute with the gold class.")] = "upos",
    cluster: Annotated[
        str, typer.Option("--cluster", help="Attribute with the induced class, in a corpus.")
    ] = "upos",
    item: Annotated[str, typer.Option("--item", help="Attribute that identifies words.")] = "form",
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="Gold class to exclude: PUNCT.")
    ] = None,
    fold: Annotated[bool, typer.Option("--fold", help="Lowercase words.")] = False,
    prefix: Annotated[
        int | None, typer.Option("--prefix", min=1, help="Bits of Brown paths to use.")
    ] = None,
    columns: Columns = None,
    header: Header = None,
    decimal: DecimalMark = None,
    read_as: from_files.FilesReadAs = None,
    attributes: from_files.Attributes = None,
    normalise: from_files.Normalise = None,
    reader_options: from_files.ReaderOptions = None,
    report: Report = True,
    save: from_files.Save = None,
    runs: from_files.Cache = None,
) -> int:
    """Evaluate word clusters against gold classes, by type and by token."""
    with from_files.progress_listeners() as listeners:
        run = evaluate_clusters(
            gold,
            *induced,
            tag=tag,
            cluster=cluster,
            item=item,
            exclude=from_files.words(exclude),
            fold=fold,
            prefix=prefix,
            columns=pairs(listed(columns), option="--columns"),
            header=header,
            decimal=decimal_of(decimal),
            read_as=from_files.formats(read_as),
            reader=from_files.reader(attributes, None, None, None, normalise, reader_options),
            runs=runs,
            experiment=save,
            report=report,
            listeners=listeners,
        )
    if "senses" in run.project.nodes:
        for stage, title in _SENSES.items():
            scores = run.table(f"{stage}.scores")
            wide = scores.pivot("system", index="measure", values="value", maintain_order=True)
            _print(wide, title)
        return _print_report(run)
    table = run.table("systems.table")
    wide = table.pivot("system", index="measure", values="mean", maintain_order=True)
    _print(wide, "Measures by type (with their mapping), then by token")
    if "tokens" not in run.project.nodes:
        print("no token measures: they need word frequencies and one cluster per word")
    return _print_report(run)


_SENSES = {
    "senses": "Graded senses: means over words",
    "heaviest": "The heaviest sense of each instance: means over words",
}
"""What is printed of Senseval keys, by stage."""


def lexicon(
    gold: Annotated[Path, typer.Argument(help="Dictionary: lemma and form.")],
    lexicon: Annotated[Path, typer.Argument(help="Lexicon to evaluate.")],
    also: Annotated[
        list[Path] | None, typer.Option("--also", help="Further dictionary, merged with the first.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", help="Proportion of the lemmas to sample, by number of forms."),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--size", min=1, help="Number of lemmas to sample, by number of forms."),
    ] = None,
    fold: Annotated[bool, typer.Option("--fold", help="Lowercase words.")] = False,
    columns: Columns = None,
    header: Header = None,
    read_as: from_files.FilesReadAs = None,
    normalise: from_files.Normalise = None,
    reader_options: from_files.ReaderOptions = None,
    report: Report = True,
    save: from_files.Save = None,
    runs: from_files.Cache = None,
) -> int:
    """Evaluate a lexicon against dictionaries: L*, F*, entropy, and the costliest lemmas."""
    with from_files.progress_listeners() as listeners:
        run = evaluate_lexicon(
            [gold, *(also or [])],
            lexicon,
            rate=rate,
            size=size,
            case=not fold,
            columns=pairs(listed(columns), option="--columns"),
            header=header,
            read_as=from_files.formats(read_as),
            reader=from_files.reader(None, None, None, None, normalise, reader_options),
            runs=runs,
            experiment=save,
            report=report,
            listeners=listeners,
        )
    quality = run.table("quality").drop("number")
    _print(quality, f"{lexicon.name} against {gold.name}")
    lost = (pl.col("weight") - pl.col("contribution")).alias("lost")
    lemmas = run.table("quality.lemmas").with_columns(lost)
    costly = lemmas.sort("lost", "lemma", descending=[True, False]).head(_COSTLY)
    _print(costly.select(_OF_A_LEMMA), "Lemmas that lower L* most")
    return _print_report(run)


def _per_cent(name: str) -> pl.Expr:
    return (pl.col(name) * 100).round(1).alias(f"{name} %" if name == "precision" else name)


def _print(table: pl.DataFrame, title: str) -> None:
    output.print_table(table, rows=table.height, title=title)


def _print_report(run: Run) -> int:
    if run.report:
        print(f"report: {run.report}")
    return 0
