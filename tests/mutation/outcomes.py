"""The outcome of a case: right, clearly refused, or one of the bad endings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

GOOD = ("right", "accepted", "refused")
"""Good outcomes: confirmed by an independent count, without a count, and clearly refused."""
BAD = ("unclear", "library message", "traceback", "memory", "died", "too long", "silent loss")
"""Bad outcomes."""
MEMORY = 1_500_000_000
"""Bytes of memory that a process may use, libraries included."""
SECONDS = 60
"""Seconds that a case may take."""

_DONE = (0, 3)
"""Exit codes of runs that are done or wait for people."""
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|This is a bug|panicked at|unexpected \w+:"
)
_LIBRARY = re.compile(
    r"ComputeError|PolarsError|\bpolars\.|pyarrow|Arrow error|pydantic|infer_schema|ignore_errors|"
    r"Resolved plan|DataFrame|LazyFrame|\[Errno|openpyxl|pandera|numpy|fastexcel|calamine|sqlglot|"
    r"stage \S+ failed:|try_parse_hive|truncate_ragged|\bxml\.|codec can't|Expecting value|NoneType|"
    r"BadZipFile|BadGzipFile|object has no attribute|Input should be|valid \w+, unable to|std::|rust",
    re.IGNORECASE,
)
_REMEDY = re.compile(
    r"did you mean|valid:|known:|[;:.\n] ?(?:Mend|Save|Convert|Give|Name|Write|Choose|Check|Correct|Remove|Keep|Put|Use|"
    r"Read|Copy|Make|Move|Rename|Run|Raise|Double|Delete|Type|Take|Set|Leave|Take|Fetch|Ask|Add|Cut|Divide|Try|See|"
    r"Restore|Unpack|Close|Open|Download|Replace|Retype|Omit|Extract|Lower|Increase|Draw|Judge|Reduce|Split|Shorten|lexassay)\b|\bor\b|such as|e\.g\.|--help|has to|may be|is required|unknown key|"
    r"there is no|does not exist|not TOML|at least|at most|has \d|should|requires|is empty|up to|Look at|\(column|regular expression",
    re.IGNORECASE,
)
_LINE = re.compile(
    r"\b(?:line|lines|row|rows|line\(s\)|record|records|pair|pairs)\b[^\n]{0,60}?\d|:\d+\b|\bin \d+ row"
)


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended.

    Parameters
    ----------
    code : int
        Its exit code; negative if a signal killed it.
    output : str
        Its complete output.
    peak : int
        The largest number of bytes that the process used.
    expected, observed : object
        Counts of rows, independent and by the program; None if they are not compared.
    """

    code: int
    output: str
    peak: int = 0
    expected: object = None
    observed: object = None


def outcome(ended: CommandEnd, words: Sequence[str]) -> str:
    """Return the outcome of a case.

    Parameters
    ----------
    ended : CommandEnd
        How the command ended.
    words : sequence of str
        Words of which a clear refusal contains one: the file, a key, a word of the command.

    Examples
    --------
    >>> outcome(CommandEnd(0, "", expected=3, observed=3), []), outcome(CommandEnd(0, "", expected=3, observed=2), [])
    ('right', 'silent loss')
    >>> outcome(CommandEnd(1, "lexassay: a.tsv: line 3: 2 fields; mend it"), ["a.tsv"])
    'refused'
    >>> outcome(CommandEnd(1, "lexassay: unexpected KeyError: 3"), ["a.tsv"]), outcome(CommandEnd(-9, ""), [])
    ('traceback', 'died')
    """
    if ended.peak > MEMORY or "MemoryError" in ended.output:
        return "memory"
    if ended.code < 0 or _TRACEBACK.search(ended.output):
        return "died" if ended.code < 0 else "traceback"
    if ended.code in _DONE:
        same = ended.expected == ended.observed
        return "accepted" if ended.expected is None else "right" if same else "silent loss"
    if _LIBRARY.search(ended.output):
        return "library message"
    clear = any(word in ended.output for word in words) and _REMEDY.search(ended.output)
    return "refused" if clear else "unclear"


def reached_rows(ended: CommandEnd) -> bool:
    """Return whether rows were read: all of them, or those up to a refused one.

    Examples
    --------
    >>> reached_rows(CommandEnd(1, "a.tsv: 2 line(s) do not have 3 fields: line 5")), reached_rows(CommandEnd(2, "no such file"))
    (True, False)
    """
    return ended.code in _DONE or bool(_LINE.search(ended.output))
