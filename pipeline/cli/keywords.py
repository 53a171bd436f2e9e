"""``keywords``: the words that are typical of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli import output, quick
from pipeline.cli.options import Overwrite, Raw
from pipeline.recipes.keywords import MEASURES
from pipeline.recipes.keywords import keywords as find


def keywords(
    target: Annotated[Path, typer.Argument(help="The corpus: a file, a folder, a word list.")],
    reference: Annotated[Path, typer.Argument(help="What it is compared with.")],
    measure: quick.Measures = None,
    min_f: Annotated[int, typer.Option("--min-f", min=1, help="Least frequency.")] = 3,
    top: Annotated[int | None, typer.Option("--top", min=1, help="Rows; 50 of a table.")] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="lemma, form ...; the lemma if both have it.")
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
    """List the words that are more frequent in a corpus than in another one, with dispersion."""
    output.require(format_, command="keywords")
    quick.require_format(read_as)
    if to:
        output.kind_of(to, given=format_)
    with quick.listening() as listeners:
        found = find(
            target,
            reference,
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
    usual = top or (50 if to is None and format_ == "table" else found.height)
    shown = found.head(usual)
    title = f"{found.height:,} words, the first {shown.height:,}"
    output.give(shown, format_, to, overwrite=overwrite, rows=shown.height, title=title, raw=raw)
    return 0
