"""Detection of content by first lines: header, TreeTagger output, lexicon, plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from pipeline.formats.base import reading
from pipeline.formats.lines import open_text

# The first lines of a file

LINES = 1_000
"""Number of lines examined."""
_SIGNS = 1 << 20
"""Number of characters examined in a file with long lines."""
UNREADABLE = "\ufffd"
"""Replaces bytes that are not UTF-8."""


def first_lines(path: Path, most: int = LINES) -> list[str]:
    """Return the first lines of a (compressed) text file, without line ends.

    Parameters
    ----------
    path : Path
        The file. Bytes that are not UTF-8 become `UNREADABLE`.
    most : int
        Maximum number of lines.
    """
    lines, rest = list[str](), _SIGNS
    with reading(path), open_text(path, errors="replace") as text:
        while len(lines) < most and rest > 0 and (line := text.readline(rest)):
            lines.append(line.rstrip("\r\n"))
            rest -= len(line)
    return lines


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
"""Common column names, in lower case."""

Reading: TypeAlias = Literal["header", "data", "unclear"]
"""Interpretation of a first line."""


def is_header_word(field: str) -> bool:
    """Return true for common column names; case, digits and punctuation are ignored.

    Examples
    --------
    >>> [is_header_word(field) for field in ("Form", "POS_tag", "sent-id", "house", "NN")]
    [True, True, True, False, False]
    """
    return re.sub(r"[\W\d_]+", "", field.casefold()) in HEADER_WORDS


def judge_header(rows: Sequence[Sequence[str]]) -> Reading:
    """Classify the first row as header, data or unclear.

    Evidence for a header is a header word. Evidence for data is a field that is repeated in its
    column or row, or has no letter. With both or neither, the row is unclear.

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
    has_names = any(map(is_header_word, first))
    has_data = _is_data(first, others)
    if has_names == has_data:
        return "unclear"
    return "header" if has_names else "data"


def _is_data(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return true if there is evidence that a row is not a header."""
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
    """Return default names of unnamed columns.

    Examples
    --------
    >>> usual_names(3)
    ['word', 'attribute_2', 'attribute_3']
    """
    return ["word", *(f"attribute_{number}" for number in range(2, width + 1))]


# Output of taggers: one token per line, with structure tags and blank lines

TREETAGGER = ("word", "pos", "lemma")
"""The columns of TreeTagger output."""
SENTENCE_TAGS = ("SENT", "$.", "FS", "Fp")
"""End-of-sentence tags of TreeTagger's parameter files for most languages, German and Dutch,
Spanish, and Galician.
"""
_TAG = re.compile(r"</?[A-Za-z!?][^\t]*>\s*$")
_UNKNOWN = {"<unknown>", "@card@", "@ord@"}
_SAME_LEMMA = 1 / 3
"""Minimum share of tokens whose lemma equals the form, as for half of all words in any language."""
_SAME_TAG = 1 / 3
"""Maximum share of tokens that equal their tag, like commas."""


def token_lines(lines: Sequence[str]) -> list[list[str]]:
    r"""Return lines other than structure tags and blank lines, as fields.

    Examples
    --------
    >>> token_lines(["<s>", "The\tDT", "", "</s>"])
    [['The', 'DT']]
    """
    return [line.split("\t") for line in lines if line.strip() and not _TAG.match(line)]


def width_of(rows: Sequence[Sequence[str]]) -> int:
    """Return the common number of fields; 0 if it varies."""
    widths = {len(row) for row in rows}
    return widths.pop() if len(widths) == 1 else 0


def is_treetagger(rows: Sequence[Sequence[str]]) -> bool:
    """Return true if rows are word, tag and lemma, as written by TreeTagger.

    They have three fields; the third, unlike the second, often equals the first or marks an unknown
    word; and there are fewer tags than words.

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


# Lexicons and clusters without a known extension

_LEMMAS = ("lemma", "lemmas", "headword", "base", "citation")
_FORMS = ("form", "forms", "wordform", "inflected", "inflection", "inflectedform", "word")
_FEATURES = ("features", "feats", "feature", "tags", "tag", "msd", "morphology", "analysis", "pos")
_BUNDLE = re.compile(r"[A-Z0-9][^;\s]*(;[^;\s]+)*")
"""UniMorph features: V;IND;PRS;3;SG, also with arguments, e.g. V;NOM(3,SG)."""
_PATH = re.compile(r"[01]+")
_MOST = 0.9
"""Minimum share of matching lines."""
_FEW = 20
"""Number of lines searched for binary content."""


def unimorph_header(line: str) -> list[str]:
    r"""Return lemma, form and features in header order; [] if the line is not a header.

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
    r"""Return true if lines are lemma, form and features, as in UniMorph.

    Fields are separated by tabs; the header and the features are optional, and a fourth field with
    segments may follow.

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


_CONLLU_FIELDS = 10


def is_conllu(lines: Sequence[str]) -> bool:
    r"""Return true for lines of ten fields, comments and blank lines: CoNLL-U.

    Examples
    --------
    >>> is_conllu(["# sent_id = 1", "\t".join(["1", "dogs", "dog", "NOUN", *"______"]), ""])
    True
    >>> is_conllu(["dogs\tNOUN"])
    False
    """
    tokens = [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
    return width_of(tokens) == _CONLLU_FIELDS and all(row[0][:1].isdecimal() for row in tokens)


_JSON = re.compile(r"\s*(\[\s*$|\[\s*\{|\{\s*[\"}])")


def table_format(path: Path) -> str | None:
    """Return the format of a table without a known extension, from its lines; None if unclear.

    UniMorph, Brown paths, JSON lines, or text separated by tabs, commas or semicolons.

    Parameters
    ----------
    path : Path
        The (compressed) file.
    """
    lines = [line for line in first_lines(path) if line.strip()]
    if any("\0" in line or UNREADABLE in line for line in lines[:_FEW]):
        return None
    if lines and _JSON.match(lines[0]):  # an array is no table
        return "jsonl" if all(line.rstrip().endswith("}") for line in lines) else None
    if is_unimorph(lines):
        return "unimorph"
    rows = [line.split("\t") for line in lines]
    if width_of(rows) == len(("path", "word", "f")) and all(
        _PATH.fullmatch(row[0]) and row[2].strip().isdecimal() for row in rows
    ):
        return "brown"
    if width_of(rows) > 1:
        return "tsv"
    widths = (width_of([line.split(separator) for line in lines]) for separator in ",;")
    return "csv" if max(widths) > 1 else None
