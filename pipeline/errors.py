"""Error types, and the messages of errors of the machine and of libraries."""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from schemas.errors import LexassayError, SchemaViolation, Violation

__all__ = [
    "ConfigError",
    "DataError",
    "Interrupted",
    "LexassayError",
    "NotMadeYet",
    "Problem",
    "SchemaViolation",
    "StageFailed",
    "StoreError",
    "TaskFailed",
    "UnknownName",
    "Violation",
    "WaitsForPerson",
    "Warned",
    "WorkerLost",
    "did_you_mean",
]

_MACHINE = {
    errno.ENOENT: "it, or its folder, is not there",
    errno.EEXIST: "there is a file of that name",
    errno.EACCES: "this user may not do that there",
    errno.EPERM: "this user may not do that there",
    errno.EROFS: "the disk can only be read",
    errno.EISDIR: "it is a folder, and no file",
    errno.ENOTDIR: "what should be a folder on the way to it is a file",
    errno.ENAMETOOLONG: "the path, or a name in it, is longer than the system allows",
    errno.ELOOP: "its links lead round in a circle",
    errno.EIO: "the disk fails",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the share of the disk is used up",
    errno.EFBIG: "it would be larger than files may be",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ENOMEM: "the memory is used up",
    errno.ETXTBSY: "another program has it",
    errno.EBUSY: "another program has it",
    errno.ESTALE: "the disk of the network has lost it",
}
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
    "str": "text", "string": "text", "bool": "truth values", "boolean": "truth values",
    "numeric": "numbers", "date": "dates", "datetime": "times",
    **dict.fromkeys(("i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64"),
                    "whole numbers"),
    **dict.fromkeys(("f32", "f64"), "numbers"),
}  # fmt: skip
MEMORY = (
    "the memory is used up; close other programs, or give less of it to one task: memory ="
    ' "2GB" under [run]'
)
_DEFECT = "this is a defect: report it, with the experiment and what --debug shows."


# Errors of the machine, of Polars and of Python in plain words, without their advice,
# which is for programmers


def machine(error: OSError) -> str:
    """Return why the machine could not open, read or write something.

    Parameters
    ----------
    error : OSError
        Of Python, or as Polars makes it, with the number in its text.

    Examples
    --------
    >>> machine(FileNotFoundError(2, "No such file or directory"))
    'it, or its folder, is not there'
    >>> machine(OSError("File name too long (os error 36): x"))
    'the path, or a name in it, is longer than the system allows'
    """
    return _MACHINE.get(number(error), error.strerror or str(error).partition("\n")[0])


def number(error: OSError) -> int:
    """Return the system's number of an error of Python or Polars; 0 if it has none."""
    found = _OF_RUST.search(str(error))
    return error.errno or (int(found[1]) if found else 0)


def query(error: BaseException) -> str:
    """Return why Polars cannot compute something, without its plans and its advice.

    Examples
    --------
    >>> try:
    ...     pl.DataFrame({"f": ["a"]}).cast(pl.Int64)
    ... except pl.exceptions.PolarsError as error:
    ...     query(error)
    "column 'f' has values that are no whole numbers, such as 'a'"
    >>> try:
    ...     pl.select(pl.lit("a").alias("f")).lazy().filter(pl.col("f") > 3).collect()
    ... except pl.exceptions.PolarsError as error:
    ...     query(error)
    'text cannot be compared with numbers (column f)'
    """
    text = str(error)
    if found := _CONVERSION.search(text):
        kind, column, values = found.groups()
        quoted = re.findall(r'"(.*?)"', values) or values.split(", ")
        some = ", ".join(map(repr, quoted[:3]))
        place = "a column" if column.startswith("_") else f"column {column!r}"
        return f"{place} has values that are no {_kind(kind)}, such as {some}"
    if found := _NO_COLUMN.search(text):
        return f"there is no column {found[1]!r}; there are: {found[2].replace(chr(34), '')}"
    if found := _COMPARISON.search(text):
        what = f"{_kind(found[1])} cannot be compared with {_kind(found[2])}"
        return what + _columns(text)
    if "regex" in text and (lines := _REGEX.findall(text)):
        return f"no regular expression: {lines[-1]}"
    return _ADVICE.split(text, maxsplit=1)[0].strip() + _columns(text)


def is_conversion(error: BaseException) -> bool:
    """Return whether values of a column could not be made numbers, dates or the like."""
    return bool(_CONVERSION.search(str(error)))


def _columns(text: str) -> str:
    """Return the columns of the expression that an error quotes."""
    names = _COLUMN.findall(text.partition("in the following expression:")[2])
    return f" (column {', '.join(dict.fromkeys(names))})" if names else ""


def _kind(name: str) -> str:
    return _KINDS.get(name.lower(), f"values of the type {name}")


def no_plain_values(dtype: pl.DataType) -> str:
    """Return what a column holds that is neither text, numbers, truth values nor dates; or "".

    Examples
    --------
    >>> no_plain_values(pl.List(pl.Int64())), no_plain_values(pl.String())
    ('lists', '')
    """
    kinds = {pl.List: "lists", pl.Array: "lists", pl.Struct: "structures", pl.Binary: "bytes",
             pl.Duration: "spans of time", pl.Object: "objects"}  # fmt: skip
    return kinds.get(dtype.base_type(), "")


def value_text(value: object) -> str:
    """Return a value of a table as a message shows it: text in quotation marks.

    Examples
    --------
    >>> from decimal import Decimal
    >>> value_text("3,5"), value_text(Decimal("3.50"))
    ("'3,5'", '3.50')
    """
    return repr(value) if isinstance(value, str) else str(value)


def is_panic(error: BaseException) -> bool:
    """Return whether it is a panic of a library in Rust."""
    return type(error).__name__ == "PanicException"


def explain(error: BaseException) -> str:
    """Return what to say of an error that nothing more particular could be said of.

    Examples
    --------
    >>> print(explain(PermissionError(13, "Permission denied", "pairs.tsv")))
    pairs.tsv: this user may not do that there
    >>> print(explain(ZeroDivisionError("division by zero")))
    ZeroDivisionError: division by zero
    This is a defect: report it, with the experiment and what --debug shows.
    """
    if isinstance(error, MemoryError):
        return MEMORY
    if isinstance(error, RecursionError):
        return "something is nested, or refers to others, more deeply than can be followed"
    if isinstance(error, OSError):
        return ": ".join(filter(None, [str(error.filename or ""), machine(error)]))
    if isinstance(error, pl.exceptions.PolarsError):
        return f"{query(error)}\nIf no condition or formula of its options explains it, {_DEFECT}"
    return f"{type(error).__name__}: {error}\nT{_DEFECT[1:]}"


# The errors of the project


@dataclass(frozen=True)
class Problem:
    """One mistake: where it is, what is wrong, and what to do.

    Parameters
    ----------
    where : str
        A dotted path of the configuration, or a file with its line.
    what : str
        What is wrong, with the offending value.
    remedy : str
        What to do about it; may be empty.
    """

    where: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")

    def within(self, path: str) -> Problem:
        """Return the same mistake, with the path of what it is a part of.

        Examples
        --------
        >>> str(Problem("rate", "2 is too large").within("stages.sample"))
        'stages.sample.rate: 2 is too large'
        """
        return Problem(f"{path}.{self.where}", self.what, self.remedy)


class ConfigError(LexassayError):
    """The experiment or the command is wrong: all its mistakes at once.

    Parameters
    ----------
    source : str
        The file (or command) that has the mistakes.
    problems : sequence of Problem
        Every mistake that was found.
    """

    exit_code = 2

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(f"{source}: {count} mistake{'s' if count != 1 else ''}{lines}")


class DataError(LexassayError):
    """The input data are wrong: what, where, how many, examples, what to do."""


class StageFailed(LexassayError):
    """A stage raised an error that is nobody's known mistake.

    Parameters
    ----------
    stage : str
        Name of the stage in the experiment.
    cause : BaseException
        What it raised.
    why : str
        The same in our words; its own if empty.
    """

    def __init__(self, stage: str, cause: BaseException, why: str = "") -> None:
        self.stage = stage
        super().__init__(f"stage {stage} failed: {why or f'{type(cause).__name__}: {cause}'}")


class Warned(LexassayError):
    """A check warns of what a stage made, and the run is strict.

    Parameters
    ----------
    stage : str
        Name of the stage in the experiment.
    warnings : sequence
        What the checks say.
    """

    def __init__(self, stage: str, warnings: Sequence[object]) -> None:
        self.stage = stage
        lines = "".join(f"\n  - {each}" for each in warnings)
        count = f"{len(warnings)} warning{'s' if len(warnings) != 1 else ''}"
        super().__init__(f"stage {stage}: {count}, and the run is strict{lines}")


class StoreError(LexassayError):
    """The results cannot be written or read: disk full, read-only folder, damage."""


class TaskFailed(LexassayError):
    """A task or its result cannot be sent between processes, or the memory is used up."""


class WorkerLost(LexassayError):
    """Processes that worked on a task died, again and again."""


class Interrupted(LexassayError):
    """Somebody pressed Ctrl-C, or asked the process to stop."""

    exit_code = 130


class NotMadeYet(ConfigError):
    """A table is asked for whose stage has not been run, or waits.

    Parameters
    ----------
    table : str
        As it was asked for: "stage" or "stage.table".
    """

    def __init__(self, table: str) -> None:
        self.table = table
        problem = Problem(
            table, "has not been made yet", "lexassay run makes it, or says what it waits for"
        )
        super().__init__("show", [problem])

    @property
    def stage(self) -> str:
        """The stage that makes the table."""
        return self.table.partition(".")[0]


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
    ) -> None:
        self.file = file
        self.missing = missing
        self.what = what
        self.whose = dict(whose or {})
        self.such_as = tuple(such_as)
        self.remedy = remedy
        super().__init__(f"{file}: {self.text}")

    @property
    def text(self) -> str:
        """The message without the place."""
        count = f"waiting for {self.missing:,} {self.what}{'s' if self.missing != 1 else ''}"
        if list(self.whose.values()) == [self.missing]:
            people = f' from "{next(iter(self.whose))}"'
        else:
            each = ", ".join(f'{number:,} from "{name}"' for name, number in self.whose.items())
            people = f" ({each})" if each else ""
        some = f", for example {', '.join(self.such_as)}" if self.such_as else ""
        return f"{count}{people}{some}" + (f"; {self.remedy}" if self.remedy else "")

    def at(self, place: str) -> WaitsForPerson:
        """Return the same error with the path on this machine."""
        known = (self.missing, self.what, self.whose, self.such_as)
        return WaitsForPerson(place, *known, remedy=self.remedy)


class UnknownName(KeyError, ValueError):
    """Nothing is registered by a name; an option with such a name has a wrong value."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError shows its message in quotes


def did_you_mean(
    name: str, known: Iterable[str], *, spellings: Mapping[str, str] | None = None, most: int = 3
) -> str:
    """Return the remedy for an unknown name: the nearest valid ones, or all of a few.

    Parameters
    ----------
    name : str
        What was typed.
    known : iterable of str
        The valid names.
    spellings : mapping of str to str, optional
        What else may be typed, and the name that it stands for.
    most : int
        How many suggestions at the most.

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
    meant = {each: each for each in names} | dict(spellings or {})
    folded = {typed.casefold(): meant[typed] for typed in sorted(meant, reverse=True)}
    near = difflib.get_close_matches(name.casefold(), folded, n=max(len(folded), 1), cutoff=0.6)
    if found := list(dict.fromkeys(folded[match] for match in near))[:most]:
        return f"did you mean {', '.join(found)}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"valid: {shown}" if names else "none is known"
