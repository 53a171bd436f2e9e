"""Lexicons and paradigms: their sets of lemmas and forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pipeline as lx
from tests.mutation import oracles
from tests.mutation.mutations import MutationByteMutations, table_mutation
from tests.mutation.subject import Subject

_FORMS = {
    lemma: [lemma, f"{lemma}s", f"{lemma}ed", f"{lemma}ing"]
    for lemma in ("walk", "talk", "jump", "look")
}
_PAIRS = [(lemma, form) for lemma, forms in _FORMS.items() for form in forms]
_EXPERIMENT = """
name = "x"
[stages.gold]
use = "extract.lexicon"
path = "gold.tsv"
[stages.lexicon]
use = "extract.lexicon"
path = "PATH"
unicode = "as_it_is"
[stages.overlaps]
use = "score.lexicon"
gold = "gold"
lexicon = "lexicon"
"""
_PARADIGMS = """
name = "x"
[stages.lexicon]
use = "extract.paradigms"
entries = "entries.tsv"
paradigms = "paradigms.tsv"
unicode = "as_it_is"
"""
_TABLE = "lemma\tform\n" + "".join(f"{lemma}\t{form}\n" for lemma, form in _PAIRS)
_UNIMORPH = "".join(f"{lemma}\t{form}\tV;X\n" for lemma, form in _PAIRS)
_BLOCKS = "\n\n".join("\n".join(forms) for forms in _FORMS.values()) + "\n"
_ENTRIES = "lemma\tstem\tparadigm\n" + "".join(f"{lemma}\t{lemma}\tverb\n" for lemma in _FORMS)
_ENDINGS = "paradigm\tending\nverb\t~\nverb\t~s\nverb\t~ed\nverb\tun~\n"


def _pairs(rows: list[tuple[str, str]]) -> object:
    """Return the set of pairs; None if blanks or missing texts make it ambiguous."""
    if not rows or any(not text.strip() or text != text.strip() for row in rows for text in row):
        return None
    return frozenset(rows)


def _text(row: Mapping[str, object], name: str) -> str:
    return str(row.get(name, ""))


def _table(folder: Path) -> object:
    rows = oracles.records(folder / "lexicon.tsv", "\t")
    return (
        None
        if rows is None
        else _pairs([(_text(row, "lemma"), _text(row, "form")) for row in rows])
    )


def _unimorph(folder: Path) -> object:
    rows = [
        line.split("\t") for line in oracles.lines_of(folder / "lexicon.unimorph") or [] if line
    ]
    return None if any(len(row) < 2 for row in rows) else _pairs([(row[0], row[1]) for row in rows])


def _blocks(folder: Path) -> object:
    lines = oracles.lines_of(folder / "lexicon.wordforms")
    if lines is None or any(line != line.strip() for line in lines):
        return None
    blocks = [block.split("\n") for block in "\n".join(lines).split("\n\n")]
    forms = [[line for line in block if line] for block in blocks]
    return _pairs([(block[0], form) for block in forms if block for form in block])


def _expected_forms(folder: Path) -> object:
    entries = oracles.records(folder / "entries.tsv", "\t")
    endings = oracles.records(folder / "paradigms.tsv", "\t")
    if entries is None or endings is None:
        return None
    rows = []
    for entry in entries:
        for each in endings:
            if entry.get("paradigm") == each.get("paradigm"):
                ending, stem = _text(each, "ending"), _text(entry, "stem")
                if "~" not in ending:
                    return None
                rows.append((_text(entry, "lemma"), ending.replace("~", stem)))
    return _pairs(rows)


def _observed_forms(folder: Path) -> object:
    lexicon = lx.show(folder / "x.toml", runs=folder / "runs").table("lexicon")
    return frozenset(lexicon.select("lemma", "form").iter_rows())


def _subject(
    name: str, content: str, mutation: MutationByteMutations, expected: Callable[[Path], object]
) -> Subject:
    experiment = _EXPERIMENT.replace("PATH", name).encode()
    return Subject(
        name=name,
        kind="lexicons",
        files={"x.toml": experiment, "gold.tsv": _TABLE.encode(), name: content.encode()},
        targets={name: mutation},
        expected=expected,
        observed=_observed_forms,
    )


SUBJECTS = (
    _subject("lexicon.tsv", _TABLE, table_mutation("\t"), _table),
    _subject("lexicon.unimorph", _UNIMORPH, table_mutation("\t"), _unimorph),
    _subject("lexicon.wordforms", _BLOCKS, table_mutation(" "), _blocks),
    Subject(
        name="paradigms",
        kind="lexicons",
        files={
            "x.toml": _PARADIGMS.encode(),
            "entries.tsv": _ENTRIES.encode(),
            "paradigms.tsv": _ENDINGS.encode(),
        },
        targets={"entries.tsv": table_mutation("\t"), "paradigms.tsv": table_mutation("\t")},
        expected=_expected_forms,
        observed=_observed_forms,
    ),
)
"""Lexicons in each format, and one from paradigms."""
