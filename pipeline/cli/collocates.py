"""``collocates``: the words that go with a word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from pipeline.cli import output, quick
from pipeline.cli.options import Overwrite, Raw
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.recipes.collocates import collocates as find
from pipeline.recipes.collocation_questions import COUNTS, MEASURES, RELATIONS, Count, Relation
from pipeline.recipes.listing import best

_NAMES: dict[str, Relation] = {name: name for name in RELATIONS}
_COUNTS: dict[str, Count] = {name: name for name in COUNTS}


def collocates(
    node: Annotated[str, typer.Argument(help="The word.")],
    path: Annotated[list[Path], typer.Argument(help="Files and folders; - is standard input.")],
    relation: Annotated[
        str | None,
        typer.Option("--relation", help="span | adjacent | sentence | dependency"),
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", help="Tokens on either side, or left,right [5].")
    ] = None,
    count: Annotated[
        str,
        typer.Option("--count", help="positions | windows | nodes: what f1, f2, N count of spans."),
    ] = "positions",
    measure: quick.Measures = None,
    min_f: Annotated[int, typer.Option("--min-f", min=1, help="Least number together.")] = 3,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Rows; 50, or 10 for each relation.")
    ] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="lemma, form ...; the lemma if there is one.")
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Tell capital and small letters.")] = False,
    punctuation: Annotated[
        bool, typer.Option("--punctuation", help="Count punctuation marks, too.")
    ] = False,
    read_as: quick.ReadAs = None,
    attributes: quick.Attributes = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Overwrite = False,
    raw: Raw = False,
    save: quick.Save = None,
    runs: quick.Cache = None,
) -> int:
    """List the collocates of a word; relation by relation where the corpus is parsed.

    Parsed are CoNLL-U files with heads; there, the list is a word sketch.
    """
    output.require(format_, command="collocates")
    quick.require_format(read_as)
    if to:
        output.kind_of(to, given=format_)
    with quick.listening() as listeners:
        found = find(
            node,
            *quick.paths(path, read_as=read_as, runs=runs, save=save),
            relation=_relation(relation),
            span=quick.span(span) if span else None,
            count=_count(count),
            measures=quick.words(measure) or MEASURES,
            min_frequency=min_f,
            top=None,
            attribute=attribute,
            case=case,
            punctuation=punctuation,
            read_as=read_as,
            reader=quick.reader(attributes),
            runs=runs,
            experiment=save,
            listeners=listeners,
        )
    _show(found, node=node, top=top, format_=format_, to=to, overwrite=overwrite, raw=raw)
    return 0


def _relation(given: str | None) -> Relation | None:
    if given is not None and given not in _NAMES:
        what, remedy = f"there is no relation {given!r}", did_you_mean(given, RELATIONS)
        raise ConfigError("collocates", [Problem("--relation", what, remedy)])
    return _NAMES[given] if given else None


def _count(given: str) -> Count:
    if given not in _COUNTS:
        what, remedy = f"there is no way {given!r} to count", did_you_mean(given, COUNTS)
        raise ConfigError("collocates", [Problem("--count", what, remedy)])
    return _COUNTS[given]


def _show(
    found: pl.DataFrame,
    *,
    node: str,
    top: int | None,
    format_: str,
    to: Path | None,
    overwrite: bool,
    raw: bool,
) -> None:
    """Print a table, or of a word sketch one for each relation; or hand all to a file."""
    sketch = "relation" in found.columns
    usual = None if to or format_ != "table" else (10 if sketch else 50)
    shown = best(found, top or usual, by=["relation"] if sketch else [])
    if usual is None:
        output.give(shown, format_, to, overwrite=overwrite, rows=shown.height, title="", raw=raw)
    elif sketch:
        for (name,), rows in shown.group_by("relation", maintain_order=True):
            of_all = found.filter(pl.col("relation") == name).height
            title = f"{name}: {rows['f1'][0]:,} in all, {of_all:,} collocates"
            _print(rows.drop("relation", "f1"), title)
    else:
        _print(shown, f"{node}: {found.height:,} collocates, the first {shown.height:,}")


def _print(rows: pl.DataFrame, title: str) -> None:
    kept = rows.drop("N", "documents", strict=False)
    output.print_table(kept, rows=kept.height, title=title)
