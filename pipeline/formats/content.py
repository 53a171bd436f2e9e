"""What a file holds, by its first lines: a header, TreeTagger output, a lexicon, plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from pipeline.formats.base import reading
from pipeline.formats.lines import open_text

# The first lines of a file

LINES = 1_000
"""Lines that are looked at."""
_SIGNS = 1 << 20
"""Characters that are looked at, of a file with long lines."""
UNREADABLE = "\ufffd"
"""Stands for bytes that are not UTF-8."""


def first_lines(path: Path, most: int = LINES) -> list[str]:
    """Return the first lines of a text file, packed or not, without their ends.

    Parameters
    ----------
    path : Path
        The file. What is not UTF-8 is `UNREADABLE`.
    most : int
        How many lines.
    """
    found, left = list[str](), _SIGNS
    with reading(path), open_text(path, errors="replace") as text:
        while len(found) < most and left > 0 and (line := text.readline(left)):
            found.append(line.rstrip("\r\n"))
            left -= len(line)
    return found


# Headers

_WORDS = """
    form word token tok wordform type lemma lemmas base lem pos tag tags postag upos xpos cpos ppos
    feats features morph head deprel dep deps rel relation misc ner entity id index sentence sent
    sentenceid sentid paragraph par doc document docid text file line position spaceafter surface
    item count freq frequency gold class cluster
    wort wortform grundform wortart mot forme lemme etiquette étiquette catégorie categorie
    palabra forma lema etiqueta categoría categoria parola palavra
"""
HEADER_WORDS = frozenset(_WORDS.split())
"""What columns are called, in small letters."""

Reading: TypeAlias = Literal["header", "data", "unclear"]
"""What a first line is."""


def is_header_word(field: str) -> bool:
    """Return whether columns are called so; capital letters, figures and marks do not count.

    Examples
    --------
    >>> [is_header_word(field) for field in ("Form", "POS_tag", "sent-id", "house", "NN")]
    [True, True, True, False, False]
    """
    return re.sub(r"[\W\d_]+", "", field.casefold()) in HEADER_WORDS


def judge_header(rows: Sequence[Sequence[str]]) -> Reading:
    """Return whether the first row names the columns.

    It is a header if it has a header word, and data if something shows that: a field that comes
    again in its column, holds no letter, or is another one of the row. Where both are so, or
    neither, it is unclear.

    Parameters
    ----------
    rows : sequence of sequence of str
        The first rows, at least one, as fields.

    Examples
    --------
    >>> judge_header([["form", "tag"], ["the", "DT"]])
    'header'
    >>> judge_header([["The", "DT"], ["house", "NN"], ["the", "DT"]])
    'data'
    >>> judge_header([["The", "DT"], ["house", "NN"]]), judge_header([["Word", "NN", "word"]])
    ('unclear', 'unclear')
    """
    first, *others = rows
    named = any(map(is_header_word, first))
    shown = _is_data(first, others)
    if named == shown:
        return "unclear"
    return "header" if named else "data"


def _is_data(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return whether something shows that a row does not name the columns."""
    folded = [field.casefold() for field in first]
    if len({*folded}) < len(folded):
        return True
    own = {place: field for place, field in enumerate(first) if not is_header_word(field)}
    if not all(any(sign.isalpha() for sign in field) for field in own.values()):
        return True
    return any(
        row[place] == field for row in others for place, field in own.items() if place < len(row)
    )


def usual_names(width: int) -> list[str]:
    """Return what columns are called that nobody names.

    Examples
    --------
    >>> usual_names(3)
    ['word', 'attribute_2', 'attribute_3']
    """
    return ["word", *(f"attribute_{number}" for number in range(2, width + 1))]


# Output of taggers: a token a line, tags of structures and blank lines between

TREETAGGER = ("word", "pos", "lemma")
"""The columns that TreeTagger writes."""
SENTENCE_TAGS = ("SENT", "$.", "FS", "Fp")
"""Tags with which a sentence ends: of TreeTagger's parameter files for most languages, for German
and Dutch, for Spanish, for Galician."""
_TAG = re.compile(r"</?[A-Za-z!?][^\t]*>\s*$")
_UNKNOWN = {"<unknown>", "@card@", "@ord@"}
_SAME_LEMMA = 1 / 3
"""Share of the tokens whose lemma is their form; so it is of half of all words in any language."""
_SAME_TAG = 1 / 3
"""Share of the tokens that may have themselves as their tag, as a comma has."""


def token_lines(lines: Sequence[str]) -> list[list[str]]:
    r"""Return the lines that are no tag of a structure and not blank, as fields.

    Examples
    --------
    >>> token_lines(["<s>", "The\tDT", "", "</s>"])
    [['The', 'DT']]
    """
    return [line.split("\t") for line in lines if line.strip() and not _TAG.match(line)]


def width_of(rows: Sequence[Sequence[str]]) -> int:
    """Return how many fields all rows have; 0 where they have not the same number."""
    widths = {len(row) for row in rows}
    return widths.pop() if len(widths) == 1 else 0


def is_treetagger(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows are word, tag and lemma, as TreeTagger writes them.

    They have three fields, of which the third often is the first one, or says that TreeTagger does
    not know the word, and the second is not; and there are no more tags than words.

    Parameters
    ----------
    rows : sequence of sequence of str
        Rows as fields.

    Examples
    --------
    >>> is_treetagger([["Le", "DET:ART", "le"], ["chat", "NOM", "chat"], ["dort", "VER", "dormir"]])
    True
    >>> is_treetagger([["take", "care", "12"], ["have", "fun", "7"]])
    False
    """
    if width_of(rows) != len(TREETAGGER) or not all(all(row) for row in rows):
        return False
    words, tags, lemmas = zip(*([field.casefold() for field in row] for row in rows), strict=True)
    known = list(zip(words, tags, lemmas, strict=True))
    same = sum(word == lemma or lemma in _UNKNOWN for word, _, lemma in known)
    alike = sum(word == tag for word, tag, _ in known)
    few = len({*tags}) <= len({*words}) and alike <= _SAME_TAG * len(rows)
    return few and same >= _SAME_LEMMA * len(rows)


# Lexicons and clusters without an ending that tells

_LEMMAS = ("lemma", "lemmas", "headword", "base", "citation")
_FORMS = ("form", "forms", "wordform", "inflected", "inflection", "inflectedform", "word")
_FEATURES = ("features", "feats", "feature", "tags", "tag", "msd", "morphology", "analysis", "pos")
_BUNDLE = re.compile(r"[A-Z0-9][^;\s]*(;[^;\s]+)*")
"""Features of UniMorph: V;IND;PRS;3;SG, also with arguments, as V;NOM(3,SG)."""
_PATH = re.compile(r"[01]+")
_MOST = 0.9
"""Share of the lines that have to be so, or more."""
_FEW = 20
"""Lines in which what is no text is looked for."""


def unimorph_header(line: str) -> list[str]:
    r"""Return lemma, form and features in the order of a header; [] if the line is none.

    Examples
    --------
    >>> unimorph_header("Lemma\tForm\tFeats"), unimorph_header("form\tlemma")
    (['lemma', 'form', 'features'], ['form', 'lemma'])
    >>> unimorph_header("Haus\tHauses\tN;GEN;SG")
    []
    """
    kinds = {"lemma": _LEMMAS, "form": _FORMS, "features": _FEATURES}
    plain = [re.sub(r"[\W\d_]+", "", field.casefold()) for field in line.split("\t")]
    names = [next((kind for kind, usual in kinds.items() if name in usual), "") for name in plain]
    complete = {"lemma", "form"} <= {*names} and len({*names}) == len(names)
    return names[:3] if complete and "" not in names[:3] else []


def is_unimorph(lines: Sequence[str]) -> bool:
    r"""Return whether lines are lemma, form and features, as UniMorph writes them.

    With tabs between, and perhaps a header; the features may be absent, and a fourth field, the
    segments of the form, may follow them.

    Examples
    --------
    >>> is_unimorph(["Haus\tHauses\tN;GEN;SG", "gehen\tging\tV;PST;3;SG"])
    True
    >>> is_unimorph(["dog\tN\t3", "cat\tN\t2"])
    False
    """
    rows = [line.split("\t") for line in lines if line.strip()]
    header = bool(rows) and bool(unimorph_header("\t".join(rows[0])))
    rows = rows[header:]
    if header and not rows:
        return True
    if not rows or not all(2 <= len(row) <= 4 for row in rows):
        return False
    if max(map(len, rows)) == 2:
        return header
    bundles = sum(len(row) > 2 and bool(_BUNDLE.fullmatch(row[2].strip())) for row in rows)
    semicolons = any(len(row) > 2 and ";" in row[2] for row in rows)
    return bundles >= _MOST * len(rows) and (semicolons or header)


def table_format(path: Path) -> str | None:
    """Return the format of a table whose ending tells none; None if its lines do not tell, either.

    UniMorph, Brown's paths, or text with tabs, commas or semicolons between its columns.

    Parameters
    ----------
    path : Path
        The file, packed or not.
    """
    lines = [line for line in first_lines(path) if line.strip()]
    if any("\0" in line or UNREADABLE in line for line in lines[:_FEW]):
        return None
    if is_unimorph(lines):
        return "unimorph"
    rows = [line.split("\t") for line in lines]
    if width_of(rows) == len(("path", "word", "f")) and all(
        _PATH.fullmatch(row[0]) and row[2].strip().isdecimal() for row in rows
    ):
        return "brown"
    if width_of(rows) > 1:
        return "tsv"
    cut = (width_of([line.split(separator) for line in lines]) for separator in ",;")
    return "csv" if max(cut) > 1 else None
