"""``candidates``: the pairs of a corpus as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli import output, quick
from pipeline.cli.options import Overwrite, Raw
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.recipes.pair_lists import RELATIONS, PairRelation
from pipeline.recipes.pair_lists import candidates as find

_NAMES: dict[str, PairRelation] = {name: name for name in RELATIONS}


def candidates(
    path: Annotated[list[Path], typer.Argument(help="Files and folders; - is standard input.")],
    relation: Annotated[
        str, typer.Option("--relation", help="adjacent | sentence | span | dependency")
    ] = "adjacent",
    left: Annotated[str, typer.Option("--left", help="Condition: upos = 'ADJ'")] = "",
    right: Annotated[str, typer.Option("--right", help="Condition: upos = 'NOUN'")] = "",
    dependency: Annotated[
        list[str] | None, typer.Option("--dependency", help="Relation in which left governs: obj")
    ] = None,
    span: Annotated[
        str, typer.Option("--span", help="Tokens on either side, or left,right.")
    ] = "5",
    measure: quick.Measures = None,
    min_f: Annotated[int, typer.Option("--min-f", min=1, help="Least number together.")] = 3,
    top: Annotated[int | None, typer.Option("--top", min=1, help="How many, the best.")] = None,
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
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Rows shown in a table.")
    ] = output.ROWS,
    raw: Raw = False,
    save: quick.Save = None,
    runs: quick.Cache = None,
) -> int:
    """List the pairs of words of a corpus with their frequencies f, f1, f2, N, and scores."""
    output.require(format_, command="candidates")
    quick.require_format(read_as)
    if to:
        output.kind_of(to, given=format_)
    kind = "dependency" if dependency else relation
    if kind not in _NAMES:
        what, remedy = f"there is no relation {kind!r}", did_you_mean(kind, RELATIONS)
        raise ConfigError("candidates", [Problem("--relation", what, remedy)])
    with quick.listening() as listeners:
        found = find(
            *quick.paths(path, read_as=read_as, runs=runs, save=save),
            relation=_NAMES[kind],
            left=left,
            right=right,
            dependency=quick.words(dependency),
            span=quick.span(span),
            measures=quick.words(measure) or ("frequency",),
            min_frequency=min_f,
            top=top,
            attribute=attribute,
            case=case,
            punctuation=punctuation,
            read_as=read_as,
            reader=quick.reader(attributes),
            runs=runs,
            experiment=save,
            listeners=listeners,
        )
    title = f"{found.height:,} pairs"
    output.give(found, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw)
    return 0
