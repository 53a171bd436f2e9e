"""Commands on files: ``collocates``, ``keywords``, ``candidates``, ``score``."""

from __future__ import annotations

import difflib
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import polars as pl
import typer
from pydantic import TypeAdapter, ValidationError

from pipeline import errors
from pipeline.api.score import score as score_table
from pipeline.cli import output
from pipeline.cli.options import (
    Columns,
    DecimalMark,
    Header,
    Overwrite,
    Raw,
    decimal_of,
    in_options,
    split_names,
)
from pipeline.errors import ConfigError, DataError, Problem, did_you_mean
from pipeline.formats.base import FORMATS, LINE
from pipeline.formats.compression import compression_of
from pipeline.kernels import cells
from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.cells import NO_WORD, UNCLEAR, Kind, NumberFormat, number_formats
from pipeline.memory import with_limit
from pipeline.recipes import base
from pipeline.recipes.base import best
from pipeline.recipes.collocations import (
    COLLOCATE_MEASURES,
    COUNTS,
    KEYWORD_MEASURES,
    PAIR_RELATIONS,
    RELATIONS,
    WITHIN,
)
from pipeline.recipes.collocations import Within as WithinName
from pipeline.recipes.collocations import candidates as find_pairs
from pipeline.recipes.collocations import collocates as find_collocates
from pipeline.recipes.collocations import keywords as find_keywords
from pipeline.recipes.inputs import USUAL, TableOptions, pairs, table_file
from pipeline.runner.config import parse_setting
from pipeline.runner.events import Event, Listener
from pipeline.runner.inputs import Bytes
from pipeline.runner.store.backends import require_local, storage_at
from schemas import SchemaViolation, Signatures, Violation, column
from schemas.errors import count_text
from schemas.validate import validate

Save: TypeAlias = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Save the experiment to this file.")
]
Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option("--runs", help="Folder of the results [your cache folder]."),
]
ReadAs: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--read-as",
        metavar="FORMAT",
        help="Format of the corpus: text, conllu, vertical, tokens ...",
    ),
]
FilesReadAs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--read-as",
        metavar="[FILE=]FORMAT",
        help="Format, or FILE=FORMAT for one file: unimorph, brown, conllu ...",
    ),
]
Attributes: TypeAlias = Annotated[
    str | None,
    typer.Option("--attributes", help="Names of the token columns: word,pos,lemma"),
]
ReaderOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--reader",
        metavar="NAME=VALUE",
        help="Option of the reader, as in an experiment: lenient=true.",
    ),
]
Language: TypeAlias = Annotated[
    str,
    typer.Option("--language", help="Language code (en, de, tr ...) [detected]."),
]
Sentences: TypeAlias = Annotated[
    str | None, typer.Option("--sentences", help="Sentences in plain text: split | wrapped | line.")
]
Within: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--within",
        help="Unit that spans stay within: sentence | paragraph | document"
        " [sentence; plain text: document].",
    ),
]
Abbreviations: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--abbreviations", help="Additional abbreviations: Bd,Jh"),
]
StopWords: TypeAlias = Annotated[
    Path | None, typer.Option("--stop-words", help="File with stop words.")
]
Tokenizer: TypeAlias = Annotated[
    str | None, typer.Option("--tokenizer", help="pattern | icu (for scripts without spaces).")
]
Normalise: TypeAlias = Annotated[
    str | None, typer.Option("--normalise", help="Unicode normalisation: NFC | none.")
]
Measures: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--measure", help="Association measure; the first one orders the rows."),
]
T = TypeVar("T", bound=str)
_DECISIONS = (
    "number_format", "placeholders", "skipped_input", "text_layout", "normalised", "elements",
    "odd_labels",
)  # fmt: skip
"""Checks on how files were read."""
_NO_RELATION = "unknown relation {}"
_ENDINGS = {
    "text": ".txt", "conllu": ".conllu", "vertical": ".vrt", "tokens": ".tsv", "tei": ".xml",
}  # fmt: skip


def words(values: Sequence[str] | None) -> list[str]:
    """Return the values of a repeated option, which may contain commas.

    Examples
    --------
    >>> words(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [word.strip() for text in values or () for word in text.split(",") if word.strip()]


def reader(
    attributes: str | None,
    sentences: str | None,
    abbreviations: Sequence[str] | None,
    tokenizer: str | None,
    normalise: str | None,
    options: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the given options of a corpus reader.

    Examples
    --------
    >>> reader("word,pos", None, ["Bd"], None, None, ["lenient=true"])
    {'attributes': ['word', 'pos'], 'abbreviations': ['Bd'], 'lenient': True}
    """
    own = {
        "attributes": words([attributes]) if attributes else None,
        "sentences": sentences,
        "abbreviations": words(abbreviations) or None,
        "tokenizer": tokenizer,
        "normalise": normalise,
    }
    settings = {name: value for name, value in own.items() if value is not None}
    return settings | dict(parse_setting(each, option="--reader") for each in options or ())


def formats(values: Sequence[str] | None) -> str | dict[str, str] | None:
    """Return the format of all files, or those of some.

    Raises
    ------
    ConfigError
        If both kinds are given, or a format of all files twice.

    Examples
    --------
    >>> formats(["brown"]), formats(["gold.txt=tsv", "c.txt=brown"])
    ('brown', {'gold.txt': 'tsv', 'c.txt': 'brown'})
    """
    split = [text.rpartition("=") for text in values or ()]
    of_all = [name for path, _, name in split if not path]
    if of_all and len(split) > 1:
        remedy = "give one format, or FILE=FORMAT for each file"
        raise ConfigError("--read-as", [Problem("--read-as", "is given twice", remedy)])
    return of_all[0] if of_all else {path: name for path, _, name in split} or None


def require_format(read_as: str | None) -> None:
    """Refuse an unknown corpus format.

    Raises
    ------
    ConfigError
        With the nearest names.
    """
    known = [name for name in FORMATS if FORMATS.get(name).kind == "corpus"]
    if read_as is not None and read_as not in known:
        what = f"unknown corpus format {read_as!r}"
        raise ConfigError("--read-as", [Problem("--read-as", what, did_you_mean(read_as, known))])


def paths(
    files: Sequence[Path], *, read_as: str | None, runs: Path | None, save: Path | None
) -> list[Path]:
    """Return the files of a corpus; standard input (``-``) is saved as one.

    Raises
    ------
    ConfigError
        If an experiment is to be saved and its corpus is standard input.
    """
    if Path("-") not in files:
        return list(files)
    if save:
        what = "an experiment cannot read standard input again"
        raise ConfigError("--save", [Problem("-", what, "save the corpus to a file first")])
    content = sys.stdin.buffer.read()
    if compression_of(content):
        what = "standard input is compressed"
        raise ConfigError("input", [Problem("-", what, "pipe it through gzip -dc or zstd -dc")])
    name = hashlib.sha256(content).hexdigest()[:16] + _ENDINGS.get(read_as or "text", ".txt")
    root = (runs or base.cache_folder()) / "experiments" / "standard-input"
    require_local(root, "standard input")
    storage = storage_at(root, remedy="choose another folder with --runs")
    with storage.explain_errors("standard input", ""):
        storage.write(name, content)
    return [root / name if path == Path("-") else path for path in files]


def word_span(text: str) -> tuple[int, int]:
    """Return the number of tokens to the left and to the right.

    Raises
    ------
    ConfigError
        If these are not whole numbers.
    """
    numbers = [word.strip() for word in text.split(",")]
    if len(numbers) > 2 or not all(word.isdecimal() for word in numbers):
        problem = Problem("--span", f"{text!r} is not a number of tokens", "e.g. 5, or 2,8")
        raise ConfigError("--span", [problem])
    return int(numbers[0]), int(numbers[-1])


def numbers(text: str, *, option: str) -> list[int]:
    """Return the whole numbers in a text with commas.

    Raises
    ------
    ConfigError
        With each value that is not a whole number of at least 1.

    Examples
    --------
    >>> numbers("100,500", option="--n")
    [100, 500]
    """
    parts = words([text])
    wrong = [Problem(option, f"{word!r} is not a whole number of at least 1", "e.g. 100,500")
             for word in parts if not word.isdecimal() or not int(word)]  # fmt: skip
    if wrong:
        raise ConfigError(option, wrong)
    return [int(word) for word in parts]


@contextmanager
def progress_listeners() -> Iterator[list[Listener]]:
    """Yield listeners: progress in a terminal, important messages everywhere."""
    from rich.console import Console

    from pipeline.cli.output import RunProgress

    console = Console(stderr=True)
    with _errors_in_options():
        if not console.is_terminal:
            yield [_say]
            return
        with RunProgress(console, stages=2, advise=in_options) as progress:
            yield [progress]


@contextmanager
def _errors_in_options() -> Iterator[None]:
    """Rewrite reader options in errors as options of the command."""
    try:
        yield
    except ConfigError as error:
        problems = [
            Problem(each.where, in_options(each.what), in_options(each.remedy))
            for each in error.problems
        ]
        raise ConfigError(error.source, problems) from error
    except (DataError, SchemaViolation) as error:
        raise DataError(in_options(str(error))) from error


def _say(event: Event) -> None:
    """Print warnings, and how files were read."""
    if event.kind == "note":
        print(in_options(event.facts["text"]), file=sys.stderr)
    elif event.kind == "remark" and (
        event.facts["level"] == "warning" or event.facts["check"] in _DECISIONS
    ):
        print(f"{event.stage}: {in_options(event.facts['text'])}", file=sys.stderr)


# ``collocates``


def collocates(
    node: Annotated[
        str,
        typer.Argument(help="Word, phrase, 'eye*', '/eyes?/', or lemma=eye"),
    ],
    path: Annotated[list[Path], typer.Argument(help="Files and folders; - for standard input.")],
    relation: Annotated[
        str | None,
        typer.Option("--relation", help="span | adjacent | sentence | dependency"),
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", help="Tokens on each side, or left,right [5].")
    ] = None,
    count: Annotated[
        str | None,
        typer.Option("--count", help="Unit of f1, f2, N for spans: nodes | positions [nodes]."),
    ] = None,
    within: Within = None,
    measure: Measures = None,
    min_f: Annotated[
        int, typer.Option("--min-f", min=1, help="Minimum co-occurrence frequency.")
    ] = 3,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Number of rows [50, or 10 per relation].")
    ] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="lemma, form ... [lemma if there is one].")
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Distinguish upper and lower case.")] = False,
    punctuation: Annotated[
        bool, typer.Option("--punctuation", help="Include punctuation.")
    ] = False,
    language: Language = "",
    sentences: Sentences = None,
    abbreviations: Abbreviations = None,
    stop_words: StopWords = None,
    tokenizer: Tokenizer = None,
    normalise: Normalise = None,
    read_as: ReadAs = None,
    attributes: Attributes = None,
    reader_options: ReaderOptions = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Output file.")] = None,
    overwrite: Overwrite = False,
    raw: Raw = False,
    save: Save = None,
    runs: Cache = None,
) -> int:
    """List the collocates of a word, by relation in a parsed corpus.

    A parsed corpus is CoNLL-U with heads; its list is a word sketch.
    """
    _require_options("collocates", format_, to, read_as, overwrite=overwrite)
    choice = None
    if relation is not None:
        choice = choose("collocates", "--relation", relation, RELATIONS, _NO_RELATION)
    counted = None
    if count is not None:
        counted = choose("collocates", "--count", count, COUNTS, "unknown way to count {}")
    with progress_listeners() as listeners:
        table = find_collocates(
            node,
            *paths(path, read_as=read_as, runs=runs, save=save),
            relation=choice,
            span=word_span(span) if span else None,
            count=counted,
            within=_within("collocates", within),
            measures=words(measure) or COLLOCATE_MEASURES,
            min_frequency=min_f,
            top=None,
            attribute=attribute,
            case=case,
            punctuation=punctuation,
            read_as=read_as,
            language=language,
            stop_words=stop_words,
            reader=reader(
                attributes, sentences, abbreviations, tokenizer, normalise, reader_options
            ),
            runs=runs,
            save=save,
            listeners=listeners,
        )
    _show(table, node=node, top=top, format_=format_, to=to, overwrite=overwrite, raw=raw)
    return 0


def _within(command: str, value: str | None) -> WithinName | None:
    what = "unknown unit {}"
    return choose(command, "--within", value, WITHIN, what) if value else None


def choose(command: str, option: str, value: str, known: Sequence[T], what: str) -> T:
    """Return the choice of an option; refuse unknown values."""
    for name in known:
        if name == value:
            return name
    problem = Problem(option, what.format(repr(value)), did_you_mean(value, known))
    raise ConfigError(command, [problem])


def _require_options(
    command: str, format_: str, to: Path | None, read_as: str | None = None, *, overwrite: bool
) -> None:
    """Refuse unknown formats, and outputs that cannot be written, before any long work."""
    output.require(format_, command=command)
    require_format(read_as)
    if to:
        output.kind_of(to, format_=format_)
        output.require_place(to, overwrite=overwrite)


def _show(
    table: pl.DataFrame,
    *,
    node: str,
    top: int | None,
    format_: str,
    to: Path | None,
    overwrite: bool,
    raw: bool,
) -> None:
    """Print a table, or one per relation of a word sketch; or write all to a file."""
    sketch = "relation" in table.columns
    usual = None if to or format_ != "table" else (10 if sketch else 50)
    head = best(table, top or usual, by=["relation"] if sketch else [])
    if usual is None:
        output.write_or_print(
            head, format_, to, overwrite=overwrite, rows=head.height, title="", raw=raw
        )
    elif sketch:
        for (name,), rows in head.group_by("relation", maintain_order=True):
            of_all = table.filter(pl.col("relation") == name).height
            title = f"{name}: f1 = {rows['f1'][0]:,}, {count_text(of_all, 'collocate')}"
            _print(rows.drop("relation", "f1"), title)
    else:
        _print(head, f"{node}: {count_text(table.height, 'collocate')}, the first {head.height:,}")


def _print(rows: pl.DataFrame, title: str) -> None:
    table = rows.drop("N", "documents", strict=False)
    output.print_table(table, rows=table.height, title=title)


# ``keywords``


def keywords(
    target: Annotated[Path, typer.Argument(help="The corpus: file, folder or word list.")],
    reference: Annotated[Path, typer.Argument(help="The reference corpus.")],
    measure: Measures = None,
    min_f: Annotated[int, typer.Option("--min-f", min=1, help="Minimum frequency.")] = 3,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Number of rows [50 in a table].")
    ] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="lemma, form ... [lemma if both have it].")
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Distinguish upper and lower case.")] = False,
    punctuation: Annotated[
        bool, typer.Option("--punctuation", help="Include punctuation.")
    ] = False,
    language: Language = "",
    sentences: Sentences = None,
    abbreviations: Abbreviations = None,
    stop_words: StopWords = None,
    tokenizer: Tokenizer = None,
    normalise: Normalise = None,
    read_as: ReadAs = None,
    attributes: Attributes = None,
    columns: Columns = None,
    header: Header = None,
    decimal: DecimalMark = None,
    reader_options: ReaderOptions = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Output file.")] = None,
    overwrite: Overwrite = False,
    raw: Raw = False,
    save: Save = None,
    runs: Cache = None,
) -> int:
    """List the words that are more frequent in one corpus than in another, with dispersion."""
    _require_options("keywords", format_, to, read_as, overwrite=overwrite)
    with progress_listeners() as listeners:
        table = find_keywords(
            target,
            reference,
            measures=words(measure) or KEYWORD_MEASURES,
            min_frequency=min_f,
            top=None,
            attribute=attribute,
            case=case,
            punctuation=punctuation,
            read_as=read_as,
            language=language,
            stop_words=stop_words,
            reader=reader(
                attributes, sentences, abbreviations, tokenizer, normalise, reader_options
            ),
            columns=pairs(split_names(columns), option="--columns"),
            header=header,
            decimal=decimal_of(decimal),
            runs=runs,
            save=save,
            listeners=listeners,
        )
    usual = top or (50 if to is None and format_ == "table" else table.height)
    head = table.head(usual)
    title = f"{count_text(table.height, 'word')}, the first {head.height:,}"
    output.write_or_print(
        head, format_, to, overwrite=overwrite, rows=head.height, title=title, raw=raw
    )
    return 0


# Names of columns

OURS = ("l1", "l2", *SIGNATURE)
"""Columns that ``--columns`` can name."""
_CONSTANT = ("f1", "N")
"""Columns that a number can replace: the frequency of one node, the corpus size."""
_NEAR = 0.5


def column_names(texts: Sequence[str]) -> dict[str, str]:
    """Return our names of columns with those of the file, as given by ``--columns``.

    Raises
    ------
    ConfigError
        For text that is not like ``f=freq``, and for unknown names.

    Examples
    --------
    >>> column_names(["f=freq", "N=1000000"])
    {'f': 'freq', 'N': '1000000'}
    """
    problems = []
    for each in texts:
        ours, equals, theirs = (part.strip() for part in each.partition("="))
        if not (equals and theirs):
            what = f"{each!r} is not of the form OURS=THEIRS"
            problems.append(Problem("--columns", what, "e.g. --columns f=freq,f1=f_node"))
        elif ours not in OURS:
            problems.append(
                Problem("--columns", f"unknown column {ours!r}", did_you_mean(ours, OURS))
            )
    if problems:
        raise ConfigError("score", problems)
    return {
        ours.strip(): theirs.strip() for ours, _, theirs in (each.partition("=") for each in texts)
    }


def rename_columns(table: pl.LazyFrame, names: Mapping[str, str], *, file: str) -> pl.LazyFrame:
    """Return the table with our column names; a number for f1 or N fills the column.

    Raises
    ------
    ConfigError
        If such a number is 2^63 or more, or the file already has a column of that name.
    SchemaViolation
        If columns are missing, with the nearest and all existing ones.
    """
    has = [name for name in table.collect_schema().names() if name != LINE]
    numbers = {
        ours: int(theirs)
        for ours, theirs in names.items()
        if ours in _CONSTANT and theirs not in has and theirs.isdecimal()
    }
    large = {ours: value for ours, value in numbers.items() if value >= 2**63}
    if large:
        remedy = "give a column, or a smaller number"
        problems = [
            Problem(f"--columns {each}={large[each]}", "is 2^63 or more", remedy) for each in large
        ]
        raise ConfigError("score", problems)
    columns = {ours: names.get(ours, ours) for ours in (*SIGNATURE, *names) if ours not in numbers}
    if absent := {ours: theirs for ours, theirs in columns.items() if theirs not in has}:
        raise SchemaViolation(file, _absent_columns(absent, has))
    moved = {theirs: ours for ours, theirs in columns.items() if ours != theirs}
    clashes = [ours for theirs, ours in moved.items() if ours in has and ours not in moved]
    if clashes:
        what = f"the file already has a column {', '.join(clashes)}"
        raise ConfigError("score", [Problem("--columns", what, "rename it or use that one")])
    added = [pl.lit(value, pl.Int64).alias(ours) for ours, value in numbers.items()]
    return table.rename(moved).with_columns(added)


def _absent_columns(absent: Mapping[str, str], has: Sequence[str]) -> list[Violation]:
    """Return the problems of missing columns: the nearest of each, and all columns."""
    wrong = []
    for ours, theirs in absent.items():
        near = nearest(theirs if theirs != ours else ours, has)
        remedy = f"; did you mean --columns {ours}={near}?" if near else ""
        if ours in _CONSTANT and not near:
            remedy = f"; if it is constant, --columns {ours}=NUMBER"
        what = "missing" if theirs == ours else f"no column {theirs!r}"
        wrong.append(Violation(what + remedy, ours, 0))
    listed = f"the file has {', '.join(has)}; name them with --columns f=NAME,f1=NAME ..."
    return [*wrong, Violation(listed, None, 0)]


def nearest(name: str, has: Sequence[str]) -> str | None:
    """Return the column that most likely has this content; None if none does.

    Examples
    --------
    >>> nearest("f", ["Word", "Freq"]), nearest("N", ["n"]), nearest("f1", ["x"])
    ('Freq', 'n', None)
    """
    spelled = {each.lower(): each for each in has}
    for usual in (name.lower(), *USUAL.get(name, ())):
        if usual in spelled:
            return spelled[usual]
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=_NEAR)
    return spelled[near[0]] if near and len(name) > 2 else None


# ``candidates``


def candidates(
    path: Annotated[list[Path], typer.Argument(help="Files and folders; - for standard input.")],
    relation: Annotated[
        str, typer.Option("--relation", help="adjacent | sentence | span | dependency")
    ] = "adjacent",
    left: Annotated[
        str, typer.Option("--left", help="Condition on the left word: upos = 'ADJ'")
    ] = "",
    right: Annotated[
        str, typer.Option("--right", help="Condition on the right word: upos = 'NOUN'")
    ] = "",
    dependency: Annotated[
        list[str] | None,
        typer.Option("--dependency", help="Relation with the left word as head: obj"),
    ] = None,
    span: Annotated[str, typer.Option("--span", help="Tokens on each side, or left,right.")] = "5",
    within: Within = None,
    measure: Measures = None,
    min_f: Annotated[
        int, typer.Option("--min-f", min=1, help="Minimum co-occurrence frequency.")
    ] = 3,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Number of rows, best first.")
    ] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="lemma, form ... [lemma if there is one].")
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Distinguish upper and lower case.")] = False,
    punctuation: Annotated[
        bool, typer.Option("--punctuation", help="Include punctuation.")
    ] = False,
    language: Language = "",
    sentences: Sentences = None,
    abbreviations: Abbreviations = None,
    stop_words: StopWords = None,
    tokenizer: Tokenizer = None,
    normalise: Normalise = None,
    read_as: ReadAs = None,
    attributes: Attributes = None,
    reader_options: ReaderOptions = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Output file.")] = None,
    overwrite: Overwrite = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Number of rows to print.")
    ] = output.ROWS,
    raw: Raw = False,
    save: Save = None,
    runs: Cache = None,
) -> int:
    """List the word pairs of a corpus with f, f1, f2, N and scores."""
    _require_options("candidates", format_, to, read_as, overwrite=overwrite)
    kind = "dependency" if dependency else relation
    known = choose("candidates", "--relation", kind, PAIR_RELATIONS, _NO_RELATION)
    with progress_listeners() as listeners:
        table = find_pairs(
            *paths(path, read_as=read_as, runs=runs, save=save),
            relation=known,
            left=left,
            right=right,
            dependency=words(dependency),
            span=word_span(span),
            within=_within("candidates", within),
            measures=words(measure) or ("frequency",),
            min_frequency=min_f,
            top=top,
            attribute=attribute,
            case=case,
            punctuation=punctuation,
            read_as=read_as,
            language=language,
            stop_words=stop_words,
            reader=reader(
                attributes, sentences, abbreviations, tokenizer, normalise, reader_options
            ),
            runs=runs,
            save=save,
            listeners=listeners,
        )
    title = count_text(table.height, "pair")
    output.write_or_print(table, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw)
    return 0


# ``score``

_THOUSANDS = r"^\s*[+-]?\d+(?:[.,'\s\x{a0}\x{202f}]\d+)+\s*$"
"""Numbers with separators between their digits."""
_DIGITS = r"^\s*[+-]?\d+\s*$"


def score(
    file: Annotated[Path, typer.Argument(help="Table with columns l1, l2, f, f1, f2, N.")],
    measures: Annotated[
        str, typer.Option("--measures", help="all, or names with commas (see lexassay measures).")
    ] = "all",
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="OURS=THEIRS,...",
            help="Column names in the file: f=freq,f1=f_node; f1 and N also as numbers.",
        ),
    ] = None,
    header: Header = None,
    decimal: DecimalMark = None,
    read_as: FilesReadAs = None,
    normalise: Normalise = None,
    reader_options: ReaderOptions = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Output file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite the file.")] = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Number of rows to print.")
    ] = output.ROWS,
    raw: Raw = False,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Memory limit for a compressed file or workbook [4GB]."),
    ] = None,
) -> int:
    """Score a table of candidates: .ds, .csv, .tsv, .xlsx, .parquet; text also as .gz."""
    _require_options("score", format_, to, overwrite=overwrite)
    own = reader(None, None, None, None, normalise, reader_options)
    names = column_names(split_names(columns))
    options = TableOptions(names, header, decimal_of(decimal), (), formats(read_as), own)
    options.require_used([file])
    with _errors_in_options(), with_limit(_memory_bytes(memory), option="--memory {}"):
        table = read(file, options)
    scored = score_table(table, measures=split_names(measures))
    title = count_text(scored.height, "row")
    output.write_or_print(scored, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw)
    return 0


def _memory_bytes(memory: str | None) -> int | None:
    try:
        return None if memory is None else TypeAdapter(Bytes).validate_python(memory)
    except ValidationError:
        what = f"{memory!r} is not an amount of memory"
        raise ConfigError("score", [Problem("--memory", what, "e.g. 500MB or 2GB")]) from None


class _NumberedSignatures(Signatures):
    """Frequency signatures, each with its line in the file."""

    line: int = column("line", key=True)


def read(file: Path, options: TableOptions) -> pl.DataFrame:
    """Read a table of frequency signatures; print the number format to stderr.

    Parameters
    ----------
    file : Path
        The table; a file called CSV may have semicolons or tabs.
    options : TableOptions
        Names of columns, and options of the reader.

    Raises
    ------
    ConfigError
        If the file does not exist or its ending is of no known format.
    SchemaViolation
        With the lines, for missing columns, counts that are not whole numbers or contradict each
        other, and empty words.
    """
    raw = rename_columns(_scan(file, options), options.columns, file=str(file)).collect()
    faults = {name: errors.no_plain_values(raw.schema[name]) for name in SIGNATURE}
    odd = [
        Violation(f"has {what} instead of whole numbers", name, 0)
        for name, what in faults.items()
        if what
    ]
    if odd:
        raise SchemaViolation(str(file), odd)
    kinds: dict[str, Kind] = dict.fromkeys(SIGNATURE, "count")
    forms = number_formats(raw.lazy(), kinds, decimal=options.decimal)
    counts = raw.with_columns(
        cells.whole_number(name, raw.schema[name], form) for name, form in forms.items()
    )
    wrong = [each for name in SIGNATURE if (each := _violation(raw, counts, name, forms[name]))]
    wrong += [each for name in _word_columns(raw.schema) if (each := _word_violation(raw, name))]
    if wrong:
        raise SchemaViolation(str(file), wrong)
    plain = [name for name, dtype in counts.schema.items() if dtype in Signatures.open_dtypes()]
    lines = counts.select(LINE, *(name for name in plain if name != LINE))
    validate([lines], _NumberedSignatures, name=str(file))
    for name, form in forms.items():
        if not form.is_plain and options.decimal is None:
            print(f"{file}: column {name}: {form} (--decimal changes this)", file=sys.stderr)
    return counts.drop(LINE)


def _scan(file: Path, options: TableOptions) -> pl.LazyFrame:
    """Return the query of a table in any format."""
    if not file.is_file():
        raise ConfigError("score", [Problem(str(file), *errors.no_file(file))])
    table = table_file(file, options.select())
    for note in table.notes:
        print(note, file=sys.stderr)
    table.file.format.check(file, table.file.options)
    return table.file.format.scan(file, table.file.options)


def _word_columns(schema: pl.Schema) -> list[str]:
    """Return the word columns, by our names or those of other programs."""
    usual = {name for ours in ("l1", "l2") for name in (ours, *USUAL[ours])}
    return [name for name in schema.names() if name.lower() in usual and name not in SIGNATURE]


def _word_violation(raw: pl.DataFrame, name: str) -> Violation | None:
    if errors.no_plain_values(raw.schema[name]):
        return None
    bad = raw.filter(cells.text_or_null(name).is_null())
    examples = tuple(
        f"line {line}: {'empty' if value is None else repr(value)}"
        for line, value in bad.select(LINE, pl.col(name).cast(pl.String)).head(3).rows()
    )
    return Violation(NO_WORD, name, bad.height, examples) if bad.height else None


def _violation(
    raw: pl.DataFrame, counts: pl.DataFrame, name: str, form: NumberFormat
) -> Violation | None:
    bad = raw.filter(counts.get_column(name).is_null())
    if not bad.height:
        return None
    rows = bad.select(LINE, name).head(3).rows()
    examples = tuple(f"line {line}: {errors.value_text(value)}" for line, value in rows)
    texts = bad.get_column(name).cast(pl.String)
    remedy = ""
    if form.unclear and texts.str.contains(_THOUSANDS).any():
        return Violation(UNCLEAR, name, bad.height, examples)
    if texts.str.contains(_THOUSANDS).any():
        remedy = " (write 1200, without separators or decimals)"
    elif texts.str.contains(_DIGITS).any():
        remedy = " below 2^63"
    return Violation(f"is not a whole number{remedy}", name, bad.height, examples)
