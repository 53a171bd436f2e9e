"""Why something of the server failed, as those are told who need not know its folders."""

from __future__ import annotations

import sqlite3

from pipeline import causes


def reason(error: BaseException) -> str:
    """Return why a file could not be read or written, without its path.

    Parameters
    ----------
    error : BaseException
        Of the database or the machine, or with such a one as its cause.

    Examples
    --------
    >>> reason(sqlite3.OperationalError("database or disk is full"))
    'database or disk is full'
    >>> reason(FileNotFoundError(2, "No such file or directory", "sheets/annotate.key"))
    'it, or its folder, is not there'
    >>> reason(ValueError("sheets/decisions.sqlite is of another version"))
    'a file of the server is not as it must be; the server has written down why'
    """
    for each in (error, error.__cause__):
        if isinstance(each, sqlite3.Error):
            return str(each)
        if isinstance(each, OSError):
            return causes.machine(each)
    return "a file of the server is not as it must be; the server has written down why"
