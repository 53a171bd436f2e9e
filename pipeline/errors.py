"""Error types, and messages for errors of the system and of libraries."""

from __future__ import annotations

import difflib
import errno
import os
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.release import REPORT_AT
from schemas.errors import LexassayError, SchemaViolation, Violation, count_text

__all__ = [
    "ConfigError",
    "DataError",
    "Interruption",
    "LexassayError",
    "NotMadeYet",
    "PointsFailed",
    "Problem",
    "SchemaViolation",
    "StageFailed",
    "StageWarnings",
    "StoreError",
    "TaskFailed",
    "UnknownName",
    "Violation",
    "WaitsForPerson",
    "WorkerLost",
    "did_you_mean",
]

_MACHINE = {
    errno.ENOENT: "the file or its folder does not exist",
    errno.EEXIST: "a file of this name already exists",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the disk is read-only",
    errno.EISDIR: "it is a folder, not a file",
    errno.ENOTDIR: "a parent folder in the path is a file",
    errno.ENAMETOOLONG: "the path or a name in it is too long",
    errno.ELOOP: "its symbolic links form a loop",
    errno.EIO: "input or output error of the disk",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be too large",
    errno.EMFILE: "too many open files",
    errno.ENFILE: "too many open files",
    errno.ENOMEM: "out of memory",
    errno.EAGAIN: "out of memory or of processes",
    errno.ETXTBSY: "another program is using it",
    errno.EBUSY: "another program is using it",
    errno.ESTALE: "the network drive has lost it",
}
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of errors of a full disk."""
_LISTED = 10
"""Points that failed for the same reason and are named."""
_OF_RUST = re.compile(r"\(os error (\d+)\)")
_CONVERSION = re.compile(
    r"conversion from `.+?` to `(.+?)` failed in column '(.*?)' for \d+ out of \d+ values: "
    r"\[(.*?)\]", re.DOTALL
)  # fmt: skip
_NO_COLUMN = re.compile(r"unable to find column \"(.*?)\"; valid columns: \[(.*?)\]", re.DOTALL)
_COMPARISON = re.compile(r"cannot compare (\w+) with (\w+)")
_REGEX = re.compile(r"^error: (.*)$", re.MULTILINE)
_COLUMN = re.compile(r'col\("(.*?)"\)')
_ADVICE = re.compile(r"\n|; try |\. Hint:| \(consider ")
_KINDS = {
    "str": "text", "string": "text", "bool": "Booleans", "boolean": "Booleans",
    "numeric": "numbers", "date": "dates", "datetime": "times",
    **dict.fromkeys(("i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64"),
                    "whole numbers"),
    **dict.fromkeys(("f32", "f64"), "numbers"),
}  # fmt: skip
_PLAIN = (
    pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null,
)  # fmt: skip
MEMORY = (
    'out of memory; close other programs, or limit the memory of a task: memory = "2GB" under [run]'
)
_MEMORY = re.compile(
    "can't start new thread|failed to map segment|ThreadPoolBuildError|failed to spawn"
    "|Resource temporarily unavailable|[Cc]annot allocate memory|[Oo]ut of memory"
)
"""Errors of Python, of the loader and of Rust when memory, addresses or threads run out."""
CHECK = "check the path"
"""The remedy where a path leads to no file, or to the wrong one."""
_DEFECT = (
    f"this is a bug: please report it {REPORT_AT},"
    " with the experiment, the output of --debug and that of `lexassay doctor`."
)


# Errors of the system, of Polars and of Python in plain words, without their advice to
# programmers


def machine(error: OSError) -> str:
    """Return why the system could not open, read or write a file.

    Parameters
    ----------
    error : OSError
        From Python, or from Polars with the number in its text.

    Examples
    --------
    >>> machine(FileNotFoundError(2, "No such file or directory"))
    'the file or its folder does not exist'
    >>> machine(OSError("File name too long (os error 36): x"))
    'the path or a name in it is too long'
    """
    return _MACHINE.get(number(error), error.strerror or str(error).partition("\n")[0])


def is_present(path: Path) -> bool:
    """Return whether there is a file or folder.

    Parameters
    ----------
    path : Path
        The place.

    Raises
    ------
    OSError
        If it cannot be determined, for example as permission is denied or a network drive is gone.
        Python's own test says then, from 3.14 on, that there is none.

    Examples
    --------
    >>> is_present(Path("nowhere")), is_present(Path("/"))
    (False, True)
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP}:
            return False
        raise
    return True


def no_file(path: Path) -> tuple[str, str]:
    """Return why a path is not a file that can be read, and what to do.

    Examples
    --------
    >>> no_file(Path("nowhere")), no_file(Path("/dev/null"))
    (('file not found', 'check the path'), ('it is a device, not a file', 'give a file'))
    """
    if not is_present(path):
        return "file not found", CHECK
    if path.is_fifo():
        return "it is a pipe, which can be read only once", "write its content to a file first"
    devices = path.is_char_device() or path.is_block_device()
    kinds = {"device": devices, "socket": path.is_socket(), "folder": path.is_dir()}
    kind = next((name for name, true in kinds.items() if true), "")
    return (f"it is a {kind}, not a file", "give a file") if kind else ("file not found", CHECK)


def number(error: BaseException) -> int:
    """Return the system's number of an error from Python or Polars; 0 if it has none.

    Examples
    --------
    >>> text = "parquet: File out of specification: No space left on device (os error 28)"
    >>> number(pl.exceptions.ComputeError(text)) in FULL
    True
    """
    match = _OF_RUST.search(str(error))
    return getattr(error, "errno", None) or (int(match[1]) if match else 0)


def find_system_error(error: BaseException) -> OSError | None:
    """Return an error of the system, also one that Polars reports as its own; else None."""
    if isinstance(error, OSError):
        return error
    code = number(error) if isinstance(error, pl.exceptions.PolarsError) else 0
    return OSError(code, os.strerror(code)) if code else None


@contextmanager
def translate_write_errors() -> Iterator[None]:
    """Raise errors of Polars while it writes a Parquet file as those of the system.

    Where it writes the head of a page, Polars does not say why it fails.

    Raises
    ------
    OSError
        For a full disk and the like.
    """
    try:
        yield
    except pl.exceptions.PolarsError as error:
        unnamed = "transport error" in str(error)
        own = (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if unnamed
            else find_system_error(error)
        )
        if own is None:
            raise
        raise own from error


def query(error: BaseException) -> str:
    """Return why Polars cannot compute something, without its plan and advice.

    Examples
    --------
    >>> try:
    ...     pl.DataFrame({"f": ["a"]}).cast(pl.Int64)
    ... except pl.exceptions.PolarsError as error:
    ...     query(error)
    "column 'f' has values that are not whole numbers, for example 'a'"
    >>> try:
    ...     pl.select(pl.lit("a").alias("f")).lazy().filter(pl.col("f") > 3).collect()
    ... except pl.exceptions.PolarsError as error:
    ...     query(error)
    'text cannot be compared with numbers (column f)'
    """
    text = str(error)
    if match := _CONVERSION.search(text):
        kind, column, values = match.groups()
        quoted = re.findall(r'"(.*?)"', values) or values.split(", ")
        some = ", ".join(map(repr, quoted[:3]))
        place = "a column" if column.startswith("_") else f"column {column!r}"
        return f"{place} has values that are not {_kind(kind)}, for example {some}"
    if match := _NO_COLUMN.search(text):
        return f"no column {match[1]!r}; columns: {match[2].replace(chr(34), '')}"
    if match := _COMPARISON.search(text):
        what = f"{_kind(match[1])} cannot be compared with {_kind(match[2])}"
        return what + _columns(text)
    if "regex" in text and (lines := _REGEX.findall(text)):
        return f"not a regular expression: {lines[-1]}"
    return _ADVICE.split(text, maxsplit=1)[0].strip() + _columns(text)


def is_conversion(error: BaseException) -> bool:
    """Return whether values of a column could not be converted."""
    return bool(_CONVERSION.search(str(error)))


def _columns(text: str) -> str:
    """Return the columns of the expression in an error."""
    names = _COLUMN.findall(text.partition("in the following expression:")[2])
    return f" (column {', '.join(dict.fromkeys(names))})" if names else ""


def _kind(name: str) -> str:
    return _KINDS.get(name.lower(), f"values of the type {name}")


def no_plain_values(dtype: pl.DataType) -> str:
    """Return the kind of values that are not text, numbers, Booleans or dates; else "".

    Examples
    --------
    >>> no_plain_values(pl.List(pl.Int64())), no_plain_values(pl.String())
    ('lists', '')
    """
    kinds = {pl.List: "lists", pl.Array: "lists", pl.Struct: "structures", pl.Binary: "bytes",
             pl.Duration: "time spans", pl.Object: "objects"}  # fmt: skip
    plain = dtype.is_numeric() or dtype.base_type() in _PLAIN
    return "" if plain else kinds.get(dtype.base_type(), f"values of the type {dtype}")


def value_text(value: object) -> str:
    """Return a value for a message, text in quotation marks.

    Examples
    --------
    >>> from decimal import Decimal
    >>> value_text("3,5"), value_text(Decimal("3.50"))
    ("'3,5'", '3.50')
    """
    if isinstance(value, pl.Series):  # a list in a column
        value = value.to_list()
    return repr(value) if isinstance(value, str) else str(value)


def is_panic(error: BaseException) -> bool:
    """Return whether it is a panic of a Rust library."""
    return type(error).__name__ == "PanicException"


def is_for_memory(error: BaseException) -> bool:
    """Return whether memory, or its addresses, ran out: for data, a thread or a library.

    Examples
    --------
    >>> is_for_memory(RuntimeError("can't start new thread")), is_for_memory(ValueError("thread"))
    (True, False)
    """
    if isinstance(error, MemoryError):
        return True
    kinds = isinstance(error, RuntimeError | OSError | ImportError | pl.exceptions.PolarsError)
    return (kinds or is_panic(error)) and bool(_MEMORY.search(str(error)))


def explain(error: BaseException) -> str:
    """Return the message of an error that has no more specific one.

    Examples
    --------
    >>> print(explain(PermissionError(13, "Permission denied", "pairs.tsv")))
    pairs.tsv: permission denied
    >>> print(explain(ZeroDivisionError("division by zero")))  # doctest: +NORMALIZE_WHITESPACE
    ZeroDivisionError: division by zero
    This is a bug: please report it where you got lexassay, with the experiment, the output of
    --debug and that of `lexassay doctor`.
    """
    if is_for_memory(error):
        return MEMORY
    if isinstance(error, SystemExit):
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"exit({error.code!r}) in {last.filename}, line {last.lineno},"
        return f"{place} would end the command; raise an error there instead"
    if isinstance(error, RecursionError):
        return "nesting or references are too deep"
    if own := find_system_error(error):
        return ": ".join(filter(None, [str(own.filename or ""), machine(own)]))
    if isinstance(error, pl.exceptions.PolarsError):
        return (
            f"{query(error)}\nCheck the conditions and formulas in its options; otherwise {_DEFECT}"
        )
    return f"{type(error).__name__}: {error}\nT{_DEFECT[1:]}"


# The errors of the project


@dataclass(frozen=True)
class Problem:
    """An error: place, description, and remedy.

    Parameters
    ----------
    where : str
        Dotted path in the configuration, or file and line.
    what : str
        What is wrong, with the offending value.
    remedy : str
        What to do; may be empty.
    """

    where: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")

    def within(self, path: str) -> Problem:
        """Return the same error with a longer path.

        Examples
        --------
        >>> str(Problem("rate", "2 is too large").within("stages.sample"))
        'stages.sample.rate: 2 is too large'
        """
        return Problem(f"{path}.{self.where}", self.what, self.remedy)


class ConfigError(LexassayError):
    """All errors in an experiment or a command.

    Parameters
    ----------
    source : str
        The file or command with the errors.
    problems : sequence of Problem
        The errors.
    """

    exit_code = 2

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(f"{source}: {count} error{'s' if count != 1 else ''}{lines}")


class DataError(LexassayError):
    """Wrong input data: what, where, how many, examples, remedy."""


class InputChanged(DataError):
    """A file changed while a stage read it; nothing was written."""


class StageFailed(LexassayError):
    """A stage raised an unexpected error.

    Parameters
    ----------
    stage : str
        Name of the stage in the experiment.
    cause : BaseException
        The error.
    why : str
        The message; that of the error if empty.
    """

    def __init__(self, stage: str, cause: BaseException, why: str = "") -> None:
        self.stage = stage
        super().__init__(f"stage {stage} failed: {why or f'{type(cause).__name__}: {cause}'}")


class StageWarnings(LexassayError):
    """Warnings about a stage in a strict run.

    Parameters
    ----------
    stage : str
        Name of the stage in the experiment.
    warnings : sequence
        The warnings.
    """

    def __init__(self, stage: str, warnings: Sequence[object]) -> None:
        self.stage = stage
        lines = "".join(f"\n  - {each}" for each in warnings)
        count = f"{len(warnings)} warning{'s' if len(warnings) != 1 else ''}"
        super().__init__(f"stage {stage}: {count} in a strict run{lines}")


class StoreError(LexassayError):
    """Results cannot be written or read: full disk, read-only folder, damage."""


class TaskFailed(LexassayError):
    """A task or its result cannot be sent between processes, or memory is exhausted."""


class WorkerLost(LexassayError):
    """Worker processes died repeatedly on a task."""


class Interruption(LexassayError):
    """The user pressed Ctrl-C, or the process got a signal to stop."""

    exit_code = 130


class NotMadeYet(ConfigError):
    """A table was requested whose stage has not run, or waits for people.

    Parameters
    ----------
    table : str
        "stage" or "stage.table".
    """

    def __init__(self, table: str) -> None:
        self.table = table
        problem = Problem(
            table,
            "does not exist yet",
            "lexassay run creates it, or says which labels are missing",
        )
        super().__init__("show", [problem])

    @property
    def stage(self) -> str:
        """The stage that makes the table."""
        return self.table.partition(".")[0]


class PointsFailed(LexassayError):
    """Points of a sweep failed, grouped by their messages.

    Parameters
    ----------
    failed : sequence of tuple
        Number and name of each point, and its message.
    total : int
        Number of points of the sweep.

    Examples
    --------
    >>> print(PointsFailed([("point 1 (seed=1)", "no rows"), ("point 3 (seed=3)", "no rows")], 5))
    2 of 5 points failed
      - point 1 (seed=1), point 3 (seed=3): no rows
    """

    def __init__(self, failed: Sequence[tuple[str, str]], total: int) -> None:
        groups: dict[str, list[str]] = {}
        for point, message in failed:
            groups.setdefault(message, []).append(point)
        lines = ""
        for message, points in groups.items():
            more = f" and {len(points) - _LISTED:,} more" if len(points) > _LISTED else ""
            text = message.replace("\n", "\n    ")
            lines += f"\n  - {', '.join(points[:_LISTED])}{more}: {text}"
        count = "all" if len(failed) == total > 1 else f"{len(failed):,} of"
        super().__init__(f"{count} {count_text(total, 'point')} failed{lines}")


class WaitsForPerson(LexassayError):
    """A stage needs answers that people have not given yet.

    Parameters
    ----------
    file : str
        The incomplete sheet or folder of sheets.
    missing : int
        Number of missing answers.
    what : str
        What an answer is, in the singular.
    whose : mapping of str to int, optional
        Annotator to the number of empty rows.
    such_as : sequence of str, optional
        The first items without an answer.
    remedy : str
        How to continue without them.
    places : str
        Where these items are: files and their lines.

    Examples
    --------
    >>> print(WaitsForPerson("sheets/x", 3, whose={"anna": 2, "ben": 1}, such_as=["take care"]))
    sheets/x: waiting for 3 labels (2 from "anna", 1 from "ben"), for example take care
    """

    exit_code = 3

    def __init__(
        self,
        file: str,
        missing: int,
        what: str = "label",
        whose: Mapping[str, int] | None = None,
        such_as: Sequence[str] = (),
        *,
        remedy: str = "",
        places: str = "",
    ) -> None:
        self.file = file
        self.places = places
        self.missing = missing
        self.what = what
        self.whose = dict(whose or {})
        self.such_as = tuple(such_as)
        self.remedy = remedy
        super().__init__(f"{file}: {self.text}")

    @property
    def count(self) -> str:
        """The number of missing answers, for example "waiting for 3 labels"."""
        return f"waiting for {count_text(self.missing, self.what)}"

    @property
    def text(self) -> str:
        """The message without the place."""
        if list(self.whose.values()) == [self.missing]:
            people = f' from "{next(iter(self.whose))}"'
        else:
            each = ", ".join(f'{number:,} from "{name}"' for name, number in self.whose.items())
            people = f" ({each})" if each else ""
        some = f", for example {', '.join(self.such_as)}" if self.such_as else ""
        some += f" ({self.places})" if self.places else ""
        return f"{self.count}{people}{some}" + (f"; {self.remedy}" if self.remedy else "")

    def at(self, place: str) -> WaitsForPerson:
        """Return the same error with the path on this machine."""
        known = (self.missing, self.what, self.whose, self.such_as)
        return WaitsForPerson(place, *known, remedy=self.remedy, places=self.places)


class UnknownName(KeyError, ValueError):
    """A name is not registered, or is the wrong value of an option."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError shows its message in quotes


def did_you_mean(
    name: str,
    known: Iterable[str],
    *,
    spellings: Mapping[str, str] | None = None,
    most: int = 3,
    instead: str = "valid:",
) -> str:
    """Return the remedy for an unknown name: the nearest valid ones, or all of a few.

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str
        The valid names.
    spellings : mapping of str to str, optional
        Other spellings, and the names that they mean.
    most : int
        Maximum number of suggestions.
    instead : str
        Words before all names, if none is near.

    Examples
    --------
    >>> did_you_mean("t_scor", ["t_score", "z_score", "dice"])
    'did you mean t_score, z_score?'
    >>> did_you_mean("pure", ["many_to_one"], spellings={"purity": "many_to_one"})
    'did you mean many_to_one?'
    >>> did_you_mean("xyz", ["left", "right"])
    'valid: left, right'
    """
    names = sorted(set(known))
    names_of = {each: each for each in names} | dict(spellings or {})
    folded = {
        spelling.casefold(): names_of[spelling] for spelling in sorted(names_of, reverse=True)
    }
    near = difflib.get_close_matches(name.casefold(), folded, n=max(len(folded), 1), cutoff=0.6)
    if best := list(dict.fromkeys(folded[match] for match in near))[:most]:
        return f"did you mean {', '.join(best)}?"
    some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"{instead} {some}" if names else "no names are known"
