"""What the machine and other libraries say when something goes wrong, in our words.

The one place that knows their errors. What they advise is for programmers, and left out.
"""

from __future__ import annotations

import errno
import re

import polars as pl

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


def is_panic(error: BaseException) -> bool:
    """Return whether it is what a library in Rust raises when it has lost its footing."""
    return type(error).__name__ == "PanicException"


def in_words(error: BaseException) -> str:
    """Return what to say of an error that nothing more particular could be said of.

    Examples
    --------
    >>> print(in_words(PermissionError(13, "Permission denied", "pairs.tsv")))
    pairs.tsv: this user may not do that there
    >>> print(in_words(ZeroDivisionError("division by zero")))
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
