"""Readers of corpora in plain Python, written from the descriptions of the formats alone.

They read valid files, line by line, and share nothing with the readers that they check.
"""

from __future__ import annotations

import gzip
import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
PLACEHOLDERS = {"_", "<unknown>", "__UNDEF__", "@card@", "@ord@"}


def numbered_lines(path: Path, most: int | None = None) -> Iterator[tuple[int, str]]:
    """Yield line numbers and lines without their ends."""
    raw = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        raw = gzip.decompress(raw)
    text = raw.decode("utf-8")
    text = text[1:] if text[:1] == "\ufeff" else text
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines[:most], start=1):
        yield number, line[:-1] if line.endswith("\r") else line


def conllu(path: Path, most: int | None = None) -> list[Row]:
    """Read CoNLL-U: collect the lines of a sentence until a blank line, then its words."""
    rows: list[Row] = []
    state: Row = {"doc": "", "docs": 0, "paragraph": None, "pars": 0, "sentence": 0}
    state |= {"about": {}, "newdoc": None, "newpar": None, "keys": ["sent_id", "newdoc", "newpar"]}
    for _, line in numbered_lines(path, most):
        if match := re.match(r"#\s*([^=]*[^=\s])\s*=", line):
            state["keys"].append(_name(match[1]))
    state["keys"] = [name for name in dict.fromkeys(state["keys"]) if name not in _TAKEN]
    block: list[tuple[int, str]] = []
    for number, line in [*numbered_lines(path, most), (0, "")]:
        if line != "":
            block.append((number, line))
            continue
        rows += _sentence(block, state)
        block = []
    return rows


def _sentence(block: list[tuple[int, str]], state: Row) -> Iterator[Row]:
    words = [(number, line.split("\t")) for number, line in block if line[0] != "#"]
    own: Row = {}
    of_document = False
    for line in (line for _, line in block):
        if line[0] != "#":
            of_document = False
            continue
        kind, equals, name = line[1:].strip().partition("=")
        kinds, value = kind.split(), name.strip() if equals else None
        of_document = of_document and kinds[:1] not in (["newpar"], ["sent_id"], ["text"])
        if kinds[:1] == ["newdoc"]:
            state["docs"] += 1
            state["doc"] = (value if kinds[1:] == ["id"] else "") or f"#{state['docs']}"
            state["paragraph"], state["newpar"] = None, None
            state["about"], of_document = {}, True
            state["newdoc"] = value if kinds[1:] == ["id"] else None
        elif kinds[:1] == ["newpar"]:
            state["pars"] += 1
            state["paragraph"] = state["pars"]
            state["newpar"] = value if kinds[1:] == ["id"] else None
        elif value is not None and kind.strip():
            (state["about"] if of_document else own).setdefault(_name(kind), value)
    state["sentence"] += bool(words)
    metadata = {**state["about"], **own}
    texts = [line for _, line in block if re.match(r"#\s*text\s*=", line)]
    spelt = _spelling([cells for _, cells in words], texts[-1].partition("=")[2] if texts else "")
    for number, cells in words:
        if not cells[0].isdigit():
            continue
        form, lemma = cells[1], cells[2]
        both = form == lemma == "_"
        values = [None if cell in {"_", ""} else cell for cell in cells]
        values[2] = values[1] if lemma in PLACEHOLDERS else values[2]
        yield {
            "line": number,
            "doc": state["doc"],
            "paragraph": state["paragraph"],
            "sentence": state["sentence"],
            "position": int(cells[0]),
            "form": "_" if both else values[1],
            "lemma": "_" if both else values[2],
            "upos": values[3],
            "xpos": values[4],
            "feats": values[5],
            "head": None if values[6] is None else int(cells[6]),
            "deprel": values[7],
            "deps": values[8],
            "misc": values[9],
            **spelt[int(cells[0])],
            **{name: metadata.get(name) for name in state["keys"]},
            "newdoc": state["newdoc"],
            "newpar": state["newpar"],
        }


_TAKEN = {
    *("line", "doc", "paragraph", "sentence", "position", "file", "form", "lemma", "upos", "xpos"),
    *("feats", "head", "deprel", "deps", "misc", "surface", "space_after", "newdoc_id", "newpar_id"),
    "newdoc", "newpar", "global_columns", "",
}  # fmt: skip


def _name(key: str) -> str:
    """Return the name of the attribute for a key of a comment."""
    return re.sub(r"\W+", "_", key.strip().lower()).strip("_")


def _spelling(lines: list[list[str]], text: str) -> dict[int, Row]:
    """Return surface and space of each word: build the sentence, and compare it with its text."""
    words = {int(cells[0]): cells for cells in lines if cells[0].isdigit()}
    spelt: dict[int, Row] = {
        at: {"surface": None, "space_after": _space(words[at])} for at in words
    }
    pieces = {at: (at, at, words[at][1] or "_") for at in words}
    for cells in lines:
        if "-" not in cells[0]:
            continue
        first, last = map(int, cells[0].split("-"))
        for at in range(first, last + 1):
            spelt[at]["space_after"] = _space(cells) if at == last else None
            if cells[1] not in {"_", ""}:
                spelt[at]["surface"] = cells[1] if at == first else ""
                pieces.pop(at)
        if cells[1] not in {"_", ""}:
            pieces[first] = (first, last, cells[1])
    ordered = [pieces[at] for at in sorted(pieces)]
    spaces = [spelt[last]["space_after"] for _, last, _ in ordered]
    spaces = [" " if space is None else space for space in spaces]
    sentence = "".join(word + space for (_, _, word), space in zip(ordered, spaces, strict=True))
    if text.strip() not in {"", sentence.rstrip()}:
        for (first, last, word), (part, space) in zip(ordered, _fit(ordered, text), strict=False):
            spelt[first]["surface"] = part if part != word else spelt[first]["surface"]
            spelt[last]["space_after"] = space
    return spelt


def _fit(ordered: list[tuple[int, int, str]], text: str) -> list[tuple[str, str]]:
    """Find each piece in the text, ignoring spaces; return nothing if one is missing."""
    spaces, rest = [], text.strip()
    for _, _, word in ordered:
        signs = r"\s*".join(map(re.escape, re.sub(r"\s", "", word)))
        match = re.match(rf"({signs})(\s*)", rest) if signs else None
        if match is None:
            return []
        rest = rest[match.end() :]
        spaces.append((match[1], match[2]))
    return [] if rest else spaces


def _space(cells: list[str]) -> str | None:
    return (
        ""
        if {"SpaceAfter=No", "SpacesAfter=", "SpacesAfter=No"} & set(cells[9].split("|"))
        else None
    )


def vertical(
    path: Path,
    attributes: Sequence[str],
    *,
    sentence: str = "s",
    paragraph: str = "p",
    document: str = "text",
    document_id: str = "id",
) -> list[Row]:
    """Read vertical text, with the names of open structures; empty sentences have no number."""
    rows: list[Row] = []
    doc, docs, pars = "", 0, 0
    par: int | None = None
    number_of_sentence, fresh, position = 0, True, 0
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        if line == "":
            continue
        if line.rstrip() in {"<g/>", "<g />"} and rows and not fresh:
            rows[-1]["space_after"] = ""
        if len(cells) == 1 and _is_tag(line.rstrip()):
            name = re.split(r"[\s/>]", line.lstrip("</"))[0]
            closes = line.startswith("</")
            if line.rstrip().endswith("/>") or name not in {sentence, paragraph, document}:
                continue
            fresh = fresh or name == sentence or not sentence
            if name == document:
                match = re.search(rf"\s{document_id}\s*=\s*(\"[^\"]*\"|'[^']*')", line)
                docs += not closes
                doc = "" if closes else html.unescape(match[1][1:-1]) if match else f"#{docs}"
                par = None
            if name == paragraph:
                pars += not closes
                par = None if closes else pars
            continue
        number_of_sentence += fresh
        position = 1 if fresh else position + 1
        fresh = False
        values = [html.unescape(cell) if cell else None for cell in cells]
        place = {"line": number, "doc": doc, "paragraph": par}
        place |= {"sentence": number_of_sentence, "position": position}
        values_by_name = _lemma(dict(zip(attributes, values, strict=True)))
        rows.append(place | values_by_name | {"space_after": None})
    return rows


def _is_tag(line: str) -> bool:
    inner = line[1:2]
    return line[0] == "<" and line[-1] == ">" and (inner in "/_?!" or inner.isalpha())


def tokens(path: Path, columns: Sequence[str], most: int | None = None) -> list[Row]:
    """Read a token table whose documents begin with ``# doc``; ``# `` is a comment."""
    rows: list[Row] = []
    doc, sentence, position, fresh = "", 0, 0, True
    for number, line in numbered_lines(path, most):
        if line == "":
            fresh = True
        elif line.startswith("# doc ") and "\t" not in line:
            doc, fresh = line[len("# doc ") :].strip(" "), True
        elif not line.startswith("# "):
            sentence += fresh
            position = 1 if fresh else position + 1
            fresh = False
            place = {"line": number, "doc": doc, "paragraph": None}
            place |= {"sentence": sentence, "position": position}
            values = [cell or None for cell in line.split("\t")]
            rows.append(place | _lemma(dict(zip(columns, values, strict=True))))
    return rows


def _lemma(cells: Row) -> Row:
    """Replace a placeholder lemma by the form, which is the first cell."""
    first, *_ = cells
    return cells | {"lemma": cells[first]} if cells.get("lemma") in PLACEHOLDERS else cells


def text(path: Path, most: int | None = None, mark: str = "### ") -> list[Row]:
    """Read plain text, one sentence per line; lines that begin with `mark` name documents."""
    rows: list[Row] = []
    doc, sentence = "", 0
    for number, line in numbered_lines(path, most):
        if mark and line.startswith(mark):
            doc = line[len(mark) :]
            continue
        forms, at = words(line), 0
        sentence += bool(forms)
        for position, form in enumerate(forms, start=1):
            after = line.index(form, at) + len(form)
            at = len(line) if position == len(forms) else line.index(forms[position], after)
            place = {"line": number, "doc": doc, "paragraph": None}
            place |= {"sentence": sentence, "position": position}
            rows.append(place | {"form": form, "space_after": line[after:at]})
    return rows


def words(line: str) -> list[str]:
    """Cut a line into numbers, words and single marks, character by character."""
    forms: list[str] = []
    at = 0
    while at < len(line):
        end = _number(line, at) or _word(line, at)
        if end:
            forms.append(line[at:end])
        elif not line[at].isspace() and unicodedata.category(line[at])[0] != "C":
            forms.append(line[at])
        at = end or at + 1
    return forms


def _kind(line: str, at: int) -> str:
    return unicodedata.category(line[at])[0] if at < len(line) else ""


def _number(line: str, at: int) -> int:
    """Return the end of a number with inner points or commas that begins here, or 0."""
    end = at
    while _kind(line, end) == "N":
        end += 1
    inner = end
    while inner > at and line[inner : inner + 1] in {".", ","} and _kind(line, inner + 1) == "N":
        inner += 1
        while _kind(line, inner) == "N":
            inner += 1
    return inner if inner > end else 0


def _word(line: str, at: int) -> int:
    """Return the end of a word that begins here, or 0."""
    end = at
    while _kind(line, end) in {"L", "M", "N"}:
        end += 1
        while _kind(line, end) in {"L", "M", "N"} or line[end : end + 1] in set(
            "\u00ad\u200c\u200d"
        ):
            end += 1
        if line[end : end + 1] in set("'’‐‑-") and _kind(line, end + 1) in {"L", "M", "N"}:
            end += 1
    return end if end > at else 0
