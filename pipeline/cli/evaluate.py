"""``evaluate``, ``clusters``, ``lexicon``: an answer from files, without an experiment."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

import polars as pl
import typer

from pipeline.api.results import Run
from pipeline.cli import from_files, output
from pipeline.cli.options import Columns, DecimalMark, Header, Missing, decimal_of, split_names
from pipeline.kernels.clustering.encoding import Noise
from pipeline.kernels.measure import measure_title
from pipeline.recipes.evaluation import CUTS, Induced, noise_counts, without_cluster
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
            columns=pairs(split_names(columns), option="--columns"),
            header=header,
            decimal=decimal_of(decimal),
            missing=from_files.words(missing),
            read_as=from_files.formats(read_as),
            reader=from_files.reader(None, None, None, None, normalise, reader_options),
            runs=runs,
            save=save,
            report=report,
            listeners=listeners,
        )
    table = run.table("precision.cuts").sort("measure", "n")
    rows = table.select(
        "measure", "n", *(_per_cent(name) for name in ("precision", "lower", "upper")),
        pl.col("n_sampled").alias("judged"), pl.col("k_sampled").alias("true positives"),
    )  # fmt: skip
    _print(rows, "N-best precision in %, with 95 % limits")
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
    induced: Annotated[
        list[Path],
        typer.Argument(help="One file per system, or NAME=FILE,FILE for its runs."),
    ],
    tag: Annotated[str, typer.Option("--tag", help="Attribute with the gold class.")] = "upos",
    cluster: Annotated[
        str, typer.Option("--cluster", help="Attribute with the induced cluster, in a corpus.")
    ] = "upos",
    item: Annotated[str, typer.Option("--item", help="Attribute that identifies words.")] = "form",
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="Gold class to exclude: PUNCT.")
    ] = None,
    fold: Annotated[bool, typer.Option("--fold", help="Lowercase words.")] = False,
    prefix: Annotated[
        int | None, typer.Option("--prefix", min=1, help="Bits of Brown paths to use.")
    ] = None,
    noise: Annotated[
        list[str] | None, typer.Option("--noise", help="Label of noise: -1 of DBSCAN.")
    ] = None,
    noise_as: Annotated[
        str,
        typer.Option("--noise-as", help="excluded | clusters: each noise word is one of its own."),
    ] = "excluded",
    columns: Columns = None,
    header: Header = None,
    decimal: DecimalMark = None,
    read_as: from_files.FilesReadAs = None,
    attributes: from_files.Attributes = None,
    normalise: from_files.Normalise = None,
    reader_options: from_files.ReaderOptions = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Skip unreadable sentences of corpora.")
    ] = False,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    report: Report = True,
    save: from_files.Save = None,
    runs: from_files.Cache = None,
) -> int:
    """Evaluate word clusters against gold classes, by type and by token."""
    output.require(format_, command="clusters")
    leniently = ["lenient=true"] if lenient else []
    known: tuple[Noise, ...] = get_args(Noise)
    treat_as = from_files.choose("clusters", "--noise-as", noise_as, known, "unknown choice {}")
    with from_files.progress_listeners() as listeners:
        run = evaluate_clusters(
            gold,
            *(_runs_of(str(each)) for each in induced),
            tag=tag,
            cluster=cluster,
            item=item,
            exclude=from_files.words(exclude),
            fold=fold,
            prefix=prefix,
            noise=from_files.words(noise),
            noise_as=treat_as,
            columns=pairs(split_names(columns), option="--columns"),
            header=header,
            decimal=decimal_of(decimal),
            read_as=from_files.formats(read_as),
            reader=from_files.reader(
                attributes, None, None, None, normalise, [*leniently, *(reader_options or [])]
            ),
            runs=runs,
            save=save,
            report=report,
            listeners=listeners,
        )
    if "senses" in run.project.nodes:
        tables = {title: _by_system(run, run.table(f"{stage}.scores"), "value")
                  for stage, title in _SENSES.items()}  # fmt: skip
    else:
        table = run.table("systems.table")
        over = ": means over runs" if (table["n_runs"] > 1).any() else ""
        title = f"Measures by type (with their mapping), then by token{over}"
        tables = {title: _by_system(run, table, "mean")}
    if format_ == "table":
        for title, table in tables.items():
            _print(table, title)
    else:
        rows = pl.concat(tables.values())
        output.write_or_print(rows, format_, None, overwrite=False, rows=rows.height, title="")
    # Sentences must not get into a table that another program reads.
    with contextlib.redirect_stdout(sys.stdout if format_ == "table" else sys.stderr):
        if not {"tokens", "senses"} & {*run.project.nodes}:
            what = "word frequencies in the gold (column f), and one cluster per word"
            print(f"no token measures: they require {what}")
        _print_coverage(run)
        return _print_report(run)


def _by_system(run: Run, scores: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return a column per system, as given: means over its runs."""
    table = scores.pivot(
        "system", index="measure", values=value, aggregate_function="mean", maintain_order=True
    )
    return table.select("measure", *sorted(table.columns[1:], key=[*run.project.nodes].index))


def _runs_of(text: str) -> Induced:
    """Return the file of a system, or the files of its runs by its name.

    Examples
    --------
    >>> _runs_of("hdp=run1.paths,run2.paths"), _runs_of("tree.paths")
    ({'hdp': ['run1.paths', 'run2.paths']}, 'tree.paths')
    """
    name, equals, files = text.partition("=")
    if not equals or Path(text).exists():
        return text
    return {name: [each for each in files.split(",") if each]}


def _print_coverage(run: Run) -> None:
    """Print how many words, or instances of words, are noise or have no cluster."""
    unit = "instance" if "senses" in run.project.nodes else "word"
    for system, name, what, count in _as_given(run, noise_counts(run)):
        kind, _, treated = what.partition(", ")
        noise = "noise token" if kind.endswith("tokens") else f"noise {unit}"
        print(f"{_run_title(system, name)}: {count_text(count, noise)}, {treated}")
    for system, name, words, lacking, such_as in _as_given(run, without_cluster(run)):
        examples = ", ".join(f"'{word}'" for word in such_as)
        print(
            f"{_run_title(system, name)}: {lacking:,} of {count_text(words, unit)} "
            f"({lacking / words:.1%}) {'has' if lacking == 1 else 'have'} no cluster, "
            f"for example {examples}"
        )


def _as_given(run: Run, rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Return rows that begin with a system, in the order of the systems on the command line."""
    return sorted(rows.iter_rows(), key=lambda row: [*run.project.nodes].index(row[0]))


def _run_title(system: str, run: str) -> str:
    return system if run == system else f"{system} ({run})"


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
    forms_separator: Annotated[
        str, typer.Option("--forms-separator", help="Separator of several forms in a field: ', '.")
    ] = "",
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
            forms_separator=forms_separator,
            columns=pairs(split_names(columns), option="--columns"),
            header=header,
            read_as=from_files.formats(read_as),
            reader=from_files.reader(None, None, None, None, normalise, reader_options),
            runs=runs,
            save=save,
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
