"""A corpus as somebody names it: files and folders, and what its tokens have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from pipeline.errors import ConfigError, Problem
from pipeline.formats.base import FORMATS, format_of
from pipeline.recipes.vertical_file import vertical_options
from pipeline.recipes.wrapped_text import is_wrapped
from pipeline.runner.config.sources import Places, SourceFile, find
from pipeline.stages.base import CorpusSource

TEXT = r"[\p{L}\p{N}]"
"""What a word has to hold, so that it is no punctuation mark."""
_WORDS = ("form", "word", "token")
"""What attributes with the word as it stands are called."""
_PLACES = ("file", "line", "doc", "paragraph", "sentence", "position")
_BLOCK = 1 << 18
"""Bytes of a file that are looked at."""


@dataclass(frozen=True)
class CorpusFiles:
    """Files of one format, and the attributes of their tokens.

    Parameters
    ----------
    source : mapping
        What an experiment says of them.
    files : tuple of SourceFile
        The files.
    head : DataFrame
        The tokens at the beginning of the first file.
    """

    source: Mapping[str, Any]
    files: tuple[SourceFile, ...]
    head: pl.DataFrame

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes that hold something at the beginning of the first file."""
        held = (name for name in self.head.columns if name not in _PLACES)
        return frozenset(name for name in held if self.head[name].null_count() < self.head.height)

    @property
    def word(self) -> str:
        """The attribute that has the words as they stand."""
        named = [name for name in _WORDS if name in self.attributes]
        own = [name for name in self.files[0].schema() if name in self.attributes]
        return (named or own or ["form"])[0]

    @property
    def lemma(self) -> str:
        """The attribute with the lemmas; that with the words if there are none."""
        return "lemma" if "lemma" in self.attributes else self.word

    @property
    def parsed(self) -> bool:
        """Whether its tokens have heads and the names of relations."""
        return {"head", "deprel"} <= self.attributes

    def lacks(self, attribute: str, *, heads: bool) -> list[Problem]:
        """Return what is asked for and not there: an attribute, or heads.

        Parameters
        ----------
        attribute : str
            What words are called by.
        heads : bool
            Whether syntactic relations are needed.
        """
        problems = []
        if attribute not in self.attributes:
            have = ", ".join(sorted(self.attributes)) or "none"
            what = f"no token has {attribute!r} at the beginning of the corpus"
            problems.append(Problem("--attribute", what, f"there are {have}"))
        if heads and not self.parsed:
            what = "the corpus has no heads and names of relations"
            problems.append(Problem("--relation", what, "use span, adjacent or sentence"))
        return problems

    def values(self, attribute: str, where: pl.Expr | None = None) -> list[str]:
        """Return the values of an attribute at the beginning, the most frequent first."""
        tokens = self.head if where is None else self.head.filter(where)
        counted = tokens.drop_nulls(attribute).group_by(attribute).len()
        return counted.sort("len", attribute, descending=[True, False])[attribute].to_list()


def corpus_files(
    paths: Sequence[str | Path],
    *,
    read_as: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> CorpusFiles:
    """Find the files of a corpus and look at the beginning of the first.

    Parameters
    ----------
    paths : sequence of path
        Files, patterns, and folders, which stand for all files in them that a reader knows.
    read_as : str, optional
        The format, where the endings do not tell.
    options : mapping, optional
        Options of the reader.

    Raises
    ------
    ConfigError
        If there is no such file, no format for it, or files are of several formats.
    DataError
        If the first file cannot be read.
    """
    if not paths:
        raise ConfigError("corpus", [Problem("PATH", "no file is named", "name one, or a folder")])
    found = [each for path in paths for each in _expanded(Path(path), read_as)]
    kinds = sorted({_format(path, read_as) for path in found} - {""})
    if len(kinds) > 1:
        what = f"the files are of several formats: {', '.join(kinds)}"
        raise ConfigError("corpus", [Problem("PATH", what, "name those of one format")])
    own = {"format": read_as, **_usual(found[0], read_as), **(options or {})}
    source = {"path": found, **{key: value for key, value in own.items() if value is not None}}
    files = _files(source)
    return CorpusFiles(source, tuple(files), _head(files[0]))


def _expanded(path: Path, read_as: str | None) -> list[Path]:
    """Return a path itself, or of a folder a pattern or a list of the files to be read."""
    if not path.is_dir():
        return [path]
    inside = [
        each for each in sorted(path.rglob("*")) if each.is_file() and not _hidden(each, path)
    ]
    files = [each for each in inside if _format(each, read_as)]
    if not files:
        endings = sorted(end for name in FORMATS for end in FORMATS.get(name).suffixes
                         if FORMATS.get(name).kind == "corpus")  # fmt: skip
        what = (
            f"the folder has no files that end in {', '.join(endings)}, with or without .gz or .zst"
        )
        remedy = "name other files, or say what they are: --read-as text"
        raise ConfigError("corpus", [Problem(str(path), what, remedy)])
    for pattern in (path / f"*{files[0].suffix}", path / f"**/*{files[0].suffix}"):
        if sorted(path.glob(pattern.relative_to(path).as_posix())) == files:
            return [pattern]
    return files


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def _format(file: Path, read_as: str | None) -> str:
    """Return the name of the format of a file; nothing if no reader of corpora knows it."""
    try:
        return format_of(file.name, name=read_as, kind="corpus").name
    except ValueError:
        return ""


def _usual(path: Path, read_as: str | None) -> dict[str, Any]:
    """Return how a file of this format is read if nothing else is said."""
    name = _format(path, read_as)
    if name == "vertical" and path.is_file():
        return vertical_options(path)
    if name == "text":
        return {"sentences": "wrapped" if path.is_file() and is_wrapped(path) else "split"}
    return {}


def _files(source: Mapping[str, Any]) -> list[SourceFile]:
    written = {**source, "path": [each.absolute().as_posix() for each in source["path"]]}
    try:
        return find(CorpusSource.model_validate(written), Places(Path()), where="PATH")
    except ValidationError as error:
        problems = [Problem("PATH", each["msg"]) for each in error.errors()]
        raise ConfigError("corpus", problems) from error


def _head(file: SourceFile) -> pl.DataFrame:
    """Return the tokens at the beginning of a file."""
    names = [name for name in file.schema() if name != "file"]
    first = next(iter(file.batches(names, _BLOCK)), None)
    return pl.DataFrame(schema=names) if first is None else first.tokens


def unit(attribute: str, *, case: bool, punctuation: bool) -> dict[str, Any]:
    """Return what an experiment says of the words that count, by the attribute they are called by.

    Parameters
    ----------
    attribute : str
        What words are called by.
    case, punctuation : bool
        Whether capital and small letters differ; whether punctuation marks are words.
    """
    options: dict[str, Any] = {"label": f"{{{attribute}}}", "fold": not case}
    return options if punctuation else {**options, "matches": TEXT}
