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
    listed,
)
from pipeline.errors import ConfigError, DataError, Problem, did_you_mean
from pipeline.formats.base import FORMATS, LINE
from pipeline.kernels import numeric
from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.number_format import UNCLEAR, Kind, NumberFormat, number_formats
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
from pipeline.recipes.inputs import TableOptions, pairs, table_file
from pipeline.runner.config import parse_setting
from pipeline.runner.events import Event, Listener
from pipeline.runner.inputs import Bytes
from pipeline.runner.store.backends import in_a_folder, storage_at
from schemas import SchemaViolation, Signatures, Violation, column
from schemas.validate import validate

Save: TypeAlias = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Write the experiment to this file.")
]
Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option("--runs", help="Folder of the results; else a cache folder of yours."),
]
ReadAs: TypeAlias = Annotated[
    str | None,
    typer.Option("--read-as", metavar="FORMAT", help="text, conllu, vertical, tokens ..."),
]
FilesReadAs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--read-as",
        metavar="[FILE=]FORMAT",
        help="Format of the files, or of one: unimorph, brown, conllu ... Can be given again.",
    ),
]
Attributes: TypeAlias = Annotated[
    str | None,
    typer.Option("--attributes", help="Names of the columns of the tokens: word,pos,lemma"),
]
ReaderOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--reader",
        metavar="NAME=VALUE",
        help="Option of the reader, as in an experiment: lenient=true. Can be given again.",
    ),
]
Language: TypeAlias = Annotated[
    str,
    typer.Option("--language", help="Code of the language (en, de, tr ...), else as it looks."),
]
Sentences: TypeAlias = Annotated[
    str | None, typer.Option("--sentences", help="Lines of plain text: split | wrapped | line.")
]
Within: TypeAlias = Annotated[
    str | None, typer.Option("--within", help="Where spans end: sentence | paragraph | document.")
]
Abbreviations: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--abbreviations", help="More words whose full stop ends no sentence: Bd,Jh"),
]
StopWords: TypeAlias = Annotated[
    Path | None, typer.Option("--stop-words", help="File with words that do not count.")
]
Tokenizer: TypeAlias = Annotated[
    str | None, typer.Option("--tokenizer", help="pattern | icu, for writing without blanks.")
]
Normalise: TypeAlias = Annotated[
    str | None, typer.Option("--normalise", help="NFC | none: text as it is written.")
]
Measures: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--measure", help="Association measure, the first orders; can be given again."),
]
T = TypeVar("T", bound=str)
_DECISIONS = (
    "number_format", "placeholders", "left_out", "text_layout", "normalised", "elements",
)  # fmt: skip
"""Checks that say how files were read."""
_NO_RELATION = "there is no relation {}"
_ENDINGS = {
    "text": ".txt", "conllu": ".conllu", "vertical": ".vrt", "tokens": ".tsv", "tei": ".xml",
}  # fmt: skip


def words(given: Sequence[str] | None) -> list[str]:
    """Return what was given several times, or with commas.

    Examples
    --------
    >>> words(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [word.strip() for text in given or () for word in text.split(",") if word.strip()]


def reader(
    attributes: str | None,
    sentences: str | None,
    abbreviations: Sequence[str] | None,
    tokenizer: str | None,
    normalise: str | None,
    given: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the options of a reader of corpora that were given.

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
    named = {name: value for name, value in own.items() if value is not None}
    return named | dict(parse_setting(each, option="--reader") for each in given or ())


def formats(given: Sequence[str] | None) -> str | dict[str, str] | None:
    """Return the format of all files, or those of some.

    Raises
    ------
    ConfigError
        If both are given, or a format of all files twice.

    Examples
    --------
    >>> formats(["brown"]), formats(["gold.txt=tsv", "c.txt=brown"])
    ('brown', {'gold.txt': 'tsv', 'c.txt': 'brown'})
    """
    split = [text.rpartition("=") for text in given or ()]
    of_all = [name for path, _, name in split if not path]
    if of_all and len(split) > 1:
        remedy = "give one format, or FILE=FORMAT for each file"
        raise ConfigError("--read-as", [Problem("--read-as", "is given twice", remedy)])
    return of_all[0] if of_all else {path: name for path, _, name in split} or None


def require_format(read_as: str | None) -> None:
    """Refuse a format that no reader of corpora has.

    Raises
    ------
    ConfigError
        With the nearest names.
    """
    known = [name for name in FORMATS if FORMATS.get(name).kind == "corpus"]
    if read_as is not None and read_as not in known:
        what = f"no reader of corpora is called {read_as!r}"
        raise ConfigError("--read-as", [Problem("--read-as", what, did_you_mean(read_as, known))])


def paths(
    given: Sequence[Path], *, read_as: str | None, runs: Path | None, save: Path | None
) -> list[Path]:
    """Return the files of a corpus; what comes by standard input (``-``) becomes one.

    Raises
    ------
    ConfigError
        If an experiment is to be saved whose corpus has no file.
    """
    if Path("-") not in given:
        return list(given)
    if save:
        what = "the corpus comes by standard input, which an experiment cannot read again"
        raise ConfigError("--save", [Problem("-", what, "put it into a file first")])
    content = sys.stdin.buffer.read()
    name = hashlib.sha256(content).hexdigest()[:16] + _ENDINGS.get(read_as or "text", ".txt")
    root = (runs or base.cache_folder()) / "experiments" / "standard-input"
    in_a_folder(root, "standard input")
    storage = storage_at(root, remedy="name another folder by --runs")
    with storage.guarded("standard input", ""):
        storage.write(name, content)
    return [root / name if path == Path("-") else path for path in given]


def word_span(text: str) -> tuple[int, int]:
    """Return the tokens on the left and on the right.

    Raises
    ------
    ConfigError
        If these are no whole numbers.
    """
    numbers = [word.strip() for word in text.split(",")]
    if len(numbers) > 2 or not all(word.isdecimal() for word in numbers):
        problem = Problem("--span", f"{text!r} is no number of tokens", "e.g. 5, or 2,8")
        raise ConfigError("--span", [problem])
    return int(numbers[0]), int(numbers[-1])


def numbers(text: str, *, option: str) -> list[int]:
    """Return the whole numbers in a text with commas.

    Raises
    ------
    ConfigError
        With each that is no whole number from 1 on.

    Examples
    --------
    >>> numbers("100,500", option="--n")
    [100, 500]
    """
    given = words([text])
    wrong = [Problem(option, f"{word!r} is no whole number from 1 on", "e.g. 100,500")
             for word in given if not word.isdecimal() or not int(word)]  # fmt: skip
    if wrong:
        raise ConfigError(option, wrong)
    return [int(word) for word in given]


@contextmanager
def progress_listeners() -> Iterator[list[Listener]]:
    """Give what shows how far a run is where somebody looks, and what matters everywhere."""
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
    """Write the options that errors name as options of the command."""
    try:
        yield
    except ConfigError as error:
        told = [
            Problem(each.where, in_options(each.what), in_options(each.remedy))
            for each in error.problems
        ]
        raise ConfigError(error.source, told) from error
    except (DataError, SchemaViolation) as error:
        raise DataError(in_options(str(error))) from error


def _say(event: Event) -> None:
    """Print what looks like a mistake, and what was decided for whoever asked."""
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
        typer.Argument(help="A word, a phrase, 'eye*', '/eyes?/', or lemma=eye"),
    ],
    path: Annotated[list[Path], typer.Argument(help="Files and folders; - is standard input.")],
    relation: Annotated[
        str | None,
        typer.Option("--relation", help="span | adjacent | sentence | dependency"),
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", help="Tokens on either side, or left,right [5].")
    ] = None,
    count: Annotated[
        str | None,
        typer.Option("--count", help="nodes | positions | windows: what f1, f2, N count of spans."),
    ] = None,
    within: Within = None,
    measure: Measures = None,
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
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Overwrite = False,
    raw: Raw = False,
    save: Save = None,
    runs: Cache = None,
) -> int:
    """List the collocates of a word; relation by relation where the corpus is parsed.

    Parsed are CoNLL-U files with heads; there, the list is a word sketch.
    """
    _require_options("collocates", format_, to, read_as)
    chosen = None
    if relation is not None:
        chosen = _choose("collocates", "--relation", relation, RELATIONS, _NO_RELATION)
    counted = None
    if count is not None:
        counted = _choose("collocates", "--count", count, COUNTS, "there is no way {} to count")
    with progress_listeners() as listeners:
        found = find_collocates(
            node,
            *paths(path, read_as=read_as, runs=runs, save=save),
            relation=chosen,
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
            experiment=save,
            listeners=listeners,
        )
    _show(found, node=node, top=top, format_=format_, to=to, overwrite=overwrite, raw=raw)
    return 0


def _within(command: str, given: str | None) -> WithinName | None:
    what = "spans do not end at {}"
    return _choose(command, "--within", given, WITHIN, what) if given else None


def _choose(command: str, option: str, given: str, known: Sequence[T], what: str) -> T:
    """Return the choice of an option; refuse what is none."""
    for name in known:
        if name == given:
            return name
    problem = Problem(option, what.format(repr(given)), did_you_mean(given, known))
    raise ConfigError(command, [problem])


def _require_options(command: str, format_: str, to: Path | None, read_as: str | None) -> None:
    """Refuse formats that cannot be read or written, before any long work."""
    output.require(format_, command=command)
    require_format(read_as)
    if to:
        output.kind_of(to, given=format_)


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
        output.write_or_print(
            shown, format_, to, overwrite=overwrite, rows=shown.height, title="", raw=raw
        )
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


# ``keywords``


def keywords(
    target: Annotated[Path, typer.Argument(help="The corpus: a file, a folder, a word list.")],
    reference: Annotated[Path, typer.Argument(help="What it is compared with.")],
    measure: Measures = None,
    min_f: Annotated[int, typer.Option("--min-f", min=1, help="Least frequency.")] = 3,
    top: Annotated[int | None, typer.Option("--top", min=1, help="Rows; 50 of a table.")] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="lemma, form ...; the lemma if both have it.")
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Tell capital and small letters.")] = False,
    punctuation: Annotated[
        bool, typer.Option("--punctuation", help="Count punctuation marks, too.")
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
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Overwrite = False,
    raw: Raw = False,
    save: Save = None,
    runs: Cache = None,
) -> int:
    """List the words that are more frequent in a corpus than in another one, with dispersion."""
    _require_options("keywords", format_, to, read_as)
    with progress_listeners() as listeners:
        found = find_keywords(
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
            columns=pairs(listed(columns), option="--columns"),
            header=header,
            decimal=decimal_of(decimal),
            runs=runs,
            experiment=save,
            listeners=listeners,
        )
    usual = top or (50 if to is None and format_ == "table" else found.height)
    shown = found.head(usual)
    title = f"{found.height:,} words, the first {shown.height:,}"
    output.write_or_print(
        shown, format_, to, overwrite=overwrite, rows=shown.height, title=title, raw=raw
    )
    return 0


# Names of columns

OURS = ("l1", "l2", *SIGNATURE)
"""What ``--columns`` gives a name for."""
_USUAL = {
    "l1": ("node", "word1", "w1", "lemma1", "left"),
    "l2": ("collocate", "collocation", "word2", "w2", "lemma2", "right"),
    "f": ("freq", "frequency", "o11", "joint", "cooccurrence", "cooccurrences", "freq12"),
    "f1": ("r1", "freq1", "frequency1", "f_node", "node_freq", "node_frequency", "fa"),
    "f2": ("c1", "freq2", "frequency2", "f_collocate", "coll_freq", "word_freq", "fb"),
    "N": ("n", "size", "total", "corpus_size", "tokens"),
}
"""What other programs call them."""
_CONSTANT = ("f1", "N")
"""What may be the same in all rows, and no column: the frequency of one node, the corpus size."""
_NEAR = 0.5


def column_names(given: Sequence[str]) -> dict[str, str]:
    """Return the file's name of each of our columns that ``--columns`` names.

    Raises
    ------
    ConfigError
        For what is not ``f=freq``, and for names that we do not have.

    Examples
    --------
    >>> column_names(["f=freq", "N=1000000"])
    {'f': 'freq', 'N': '1000000'}
    """
    problems = []
    for each in given:
        ours, equals, theirs = (part.strip() for part in each.partition("="))
        if not (equals and theirs):
            what = f"{each!r} does not say which column is which"
            problems.append(Problem("--columns", what, "e.g. --columns f=freq,f1=f_node"))
        elif ours not in OURS:
            problems.append(
                Problem("--columns", f"{ours!r} is no column", did_you_mean(ours, OURS))
            )
    if problems:
        raise ConfigError("score", problems)
    return {
        ours.strip(): theirs.strip() for ours, _, theirs in (each.partition("=") for each in given)
    }


def rename_columns(table: pl.LazyFrame, names: Mapping[str, str], *, file: str) -> pl.LazyFrame:
    """Return the table with our names; a number for f1 or N is that number in all rows.

    Raises
    ------
    ConfigError
        If such a number is 2^63 or more, or the file has a column of one of our names already.
    SchemaViolation
        If columns are absent, with those that there are and the nearest.
    """
    has = [name for name in table.collect_schema().names() if name != LINE]
    numbers = {
        ours: int(theirs)
        for ours, theirs in names.items()
        if ours in _CONSTANT and theirs not in has and theirs.isdecimal()
    }
    large = {ours: value for ours, value in numbers.items() if value >= 2**63}
    if large:
        problems = [Problem(f"--columns {each}={large[each]}", "is 2^63 or more") for each in large]
        raise ConfigError("score", problems)
    wanted = {ours: names.get(ours, ours) for ours in (*SIGNATURE, *names) if ours not in numbers}
    if absent := {ours: theirs for ours, theirs in wanted.items() if theirs not in has}:
        raise SchemaViolation(file, _absent_columns(absent, has))
    moved = {theirs: ours for ours, theirs in wanted.items() if ours != theirs}
    taken = [ours for theirs, ours in moved.items() if ours in has and ours not in moved]
    if taken:
        what = f"the file has a column {', '.join(taken)} already"
        raise ConfigError("score", [Problem("--columns", what, "rename it, or take that one")])
    added = [pl.lit(value, pl.Int64).alias(ours) for ours, value in numbers.items()]
    return table.rename(moved).with_columns(added)


def _absent_columns(absent: Mapping[str, str], has: Sequence[str]) -> list[Violation]:
    """Return what to say of absent columns: the nearest of each, and all that there are."""
    wrong = []
    for ours, theirs in absent.items():
        near = nearest(theirs if theirs != ours else ours, has)
        remedy = f"; did you mean --columns {ours}={near}?" if near else ""
        if ours in _CONSTANT and not near:
            remedy = f"; --columns {ours}=NUMBER, if it is the same everywhere"
        what = "missing" if theirs == ours else f"there is no column {theirs!r}"
        wrong.append(Violation(what + remedy, ours, 0))
    listed = f"the file has {', '.join(has)}; --columns f=NAME,f1=NAME ... says which is which"
    return [*wrong, Violation(listed, None, 0)]


def nearest(name: str, has: Sequence[str]) -> str | None:
    """Return the column that is meant by a name of ours, or by one that is spelled wrong.

    Examples
    --------
    >>> nearest("f", ["Word", "Freq"]), nearest("N", ["n"]), nearest("f1", ["x"])
    ('Freq', 'n', None)
    """
    spelled = {each.lower(): each for each in has}
    for usual in (name.lower(), *_USUAL.get(name, ())):
        if usual in spelled:
            return spelled[usual]
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=_NEAR)
    return spelled[near[0]] if near and len(name) > 2 else None


# ``candidates``


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
    within: Within = None,
    measure: Measures = None,
    min_f: Annotated[int, typer.Option("--min-f", min=1, help="Least number together.")] = 3,
    top: Annotated[int | None, typer.Option("--top", min=1, help="How many, the best.")] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="lemma, form ...; the lemma if there is one.")
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Tell capital and small letters.")] = False,
    punctuation: Annotated[
        bool, typer.Option("--punctuation", help="Count punctuation marks, too.")
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
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Overwrite = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Rows shown in a table.")
    ] = output.ROWS,
    raw: Raw = False,
    save: Save = None,
    runs: Cache = None,
) -> int:
    """List the pairs of words of a corpus with their frequencies f, f1, f2, N, and scores."""
    _require_options("candidates", format_, to, read_as)
    kind = "dependency" if dependency else relation
    known = _choose("candidates", "--relation", kind, PAIR_RELATIONS, _NO_RELATION)
    with progress_listeners() as listeners:
        found = find_pairs(
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
            experiment=save,
            listeners=listeners,
        )
    title = f"{found.height:,} pairs"
    output.write_or_print(found, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw)
    return 0


# ``score``

_THOUSANDS = r"^\s*[+-]?\d+(?:[.,'\s\x{a0}\x{202f}]\d+)+\s*$"
"""Numbers with something between their digits: of thousands, or before decimals."""
_DIGITS = r"^\s*[+-]?\d+\s*$"


def score(
    file: Annotated[
        Path, typer.Argument(help="Table with l1, l2, f, f1, f2, N, or see --columns.")
    ],
    measures: Annotated[
        str, typer.Option("--measures", help="all, or names with commas; see lexassay measures.")
    ] = "all",
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="OURS=THEIRS,...",
            help="What the file calls f, f1, f2, N, l1, l2: f=freq,f1=f_node; f1, N: or a number.",
        ),
    ] = None,
    header: Header = None,
    decimal: DecimalMark = None,
    read_as: FilesReadAs = None,
    normalise: Normalise = None,
    reader_options: ReaderOptions = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Rows shown in a table.")
    ] = output.ROWS,
    raw: Raw = False,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="What a packed file or a workbook may take [4GB]."),
    ] = None,
) -> int:
    """Score any table of candidates: .ds, .csv, .tsv, .xlsx, .parquet; text also as .gz."""
    output.require(format_, command="score")
    if to:
        output.kind_of(to, given=format_)
    own = reader(None, None, None, None, normalise, reader_options)
    names = column_names(listed(columns))
    options = TableOptions(names, header, decimal_of(decimal), (), formats(read_as), own)
    options.require_used([file])
    with _errors_in_options(), with_limit(_memory_bytes(memory), option="--memory {}"):
        table = read(file, options)
    scored = score_table(table, measures=listed(measures))
    title = f"{scored.height:,} rows"
    output.write_or_print(scored, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw)
    return 0


def _memory_bytes(memory: str | None) -> int | None:
    try:
        return None if memory is None else TypeAdapter(Bytes).validate_python(memory)
    except ValidationError:
        what = f"{memory!r} is no amount of memory"
        raise ConfigError("score", [Problem("--memory", what, "e.g. 500MB or 2GB")]) from None


class _NumberedSignatures(Signatures):
    """Frequency signatures, with the line of the file that each stands in."""

    line: int = column("line", key=True)


def read(file: Path, options: TableOptions) -> pl.DataFrame:
    """Read a table of frequency signatures, the counts as whole numbers; say how on stderr.

    Parameters
    ----------
    file : Path
        The table; a file called CSV may have semicolons or tabs.
    options : TableOptions
        What the file calls our columns, and how it is read.

    Raises
    ------
    ConfigError
        If the file is absent or its ending stands for no format.
    SchemaViolation
        If a column is absent or holds what is not a whole number, a word is none, or counts
        contradict each other, with the lines.
    """
    raw = rename_columns(_scan(file, options), options.columns, file=str(file)).collect()
    held = {name: errors.no_plain_values(raw.schema[name]) for name in SIGNATURE}
    odd = [
        Violation(f"holds {what}, not whole numbers", name, 0)
        for name, what in held.items()
        if what
    ]
    if odd:
        raise SchemaViolation(str(file), odd)
    kinds: dict[str, Kind] = dict.fromkeys(SIGNATURE, "count")
    forms = number_formats(raw.lazy(), kinds, decimal=options.decimal)
    counts = raw.with_columns(
        numeric.whole_number(name, raw.schema[name], form) for name, form in forms.items()
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
            print(f"{file}: column {name}: {form} (--decimal says otherwise)", file=sys.stderr)
    return counts.drop(LINE)


def _scan(file: Path, options: TableOptions) -> pl.LazyFrame:
    """Return the query of a file in any format of tables."""
    if not file.is_file():
        raise ConfigError("score", [Problem(str(file), "there is no such file")])
    table = table_file(file, options.select())
    for note in table.notes:
        print(note, file=sys.stderr)
    table.file.format.check(file, table.file.options)
    return table.file.format.scan(file, table.file.options)


def _word_columns(schema: pl.Schema) -> list[str]:
    """Return the columns of words, by our names or those of other programs."""
    usual = {name for ours in ("l1", "l2") for name in (ours, *_USUAL[ours])}
    return [name for name in schema.names() if name.lower() in usual and name not in SIGNATURE]


def _word_violation(raw: pl.DataFrame, name: str) -> Violation | None:
    if errors.no_plain_values(raw.schema[name]):
        return None
    bad = raw.filter(numeric.text_or_null(name).is_null())
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
        remedy = " (write 1200: no marks between thousands, no decimals)"
    elif texts.str.contains(_DIGITS).any():
        remedy = " below 2^63"
    return Violation(f"is not a whole number{remedy}", name, bad.height, examples)
