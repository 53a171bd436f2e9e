"""Write docs/api.md from the docstrings of what ``import lexassay as lx`` hands out.

python docs/update_api.py
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from itertools import groupby
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import lexassay as lx
from pipeline.release import RENAMED

CHAPTER = Path(__file__).with_name("api.md")
HEAD = """# From Python

`lx` is `import lexassay as lx`; `lx.__version__` is the version. Functions accept tables from
Polars, pyarrow, pandas, or anything with the Arrow C stream interface, and arrays as lists, NumPy,
pandas or Polars. `score` returns the kind of table that it was given; tables of a run are Polars.

Unknown names and wrong options raise `lx.ConfigError`, wrong data `lx.DataError` or
`lx.SchemaViolation`; all are `lx.LexassayError`. `help(lx.score)` adds the errors of a function
and its references.

## Shared parameters

"""
_SHARED = 2
"""Functions that have a parameter before the head lists it."""
_MANY = 5
"""Functions that have another parameter of such a name before the head lists it, too."""
_POINTER = re.compile(r"As for `(\w+)`\.")
"""The text of parameters that another function explains."""
_OMITTED = {"Raises", "References"}
"""Sections that only `help` shows."""
_ANY = "Any"
"""What a signature says of results whose kind only the docstring tells."""
_UNDERLINE = "---"
Entry = tuple[str, str]
_SHOWN = (FunctionType, property, cached_property)


def chapter() -> str:
    """Return the reference of all public names, and of the methods of classes."""
    counts = Counter(each for name in lx.__all__ for each in _parameters(getattr(lx, name)))
    shared: dict[str, Entry] = {}
    for each, count in counts.most_common():
        if count >= _SHARED and not _POINTER.match(each[1]):
            shared.setdefault(each[0].partition(" : ")[0], each)
    common = list(shared.values())
    more = [each for each, count in counts.items() if count >= _MANY and each not in common]
    common += more
    head = HEAD + "\n".join(_entry(each, _users(each) * (each in more)) for each in common) + "\n"
    names = (name for name in lx.__all__ if not _is_error(getattr(lx, name)))
    return head + "".join("\n" + "\n".join(_name(name, common)) + "\n" for name in names)


def _is_error(thing: object) -> bool:
    """Return whether a thing is a class of errors, all of which the head lists."""
    return isinstance(thing, type) and issubclass(thing, Exception)


def _users(entry: Entry) -> str:
    """Return the functions with a parameter, for the head."""
    users = [name for name in lx.__all__ if entry in _parameters(getattr(lx, name))]
    return f" ({', '.join(f'`{name}`' for name in users)})"


def _parameters(thing: object) -> list[Entry]:
    """Return the parameters in a docstring, with those that another function explains."""
    return list(_resolve_entries(_entries(_sections(thing)[1].get("Parameters", ""))))


def _resolve_entries(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield parameters, each with its own text where that of another function is referred to."""
    for head, text in entries:
        pointer = _POINTER.fullmatch(text)
        known = dict(_parameters(getattr(lx, pointer[1]))) if pointer else {}
        by_name = {each.partition(" : ")[0]: (each, meaning) for each, meaning in known.items()}
        names = head.split(", ") if by_name else [head]
        yield from (by_name[name] for name in names if name in by_name)
        if rest := [name for name in names if name not in by_name]:
            yield ", ".join(rest), text


def _name(name: str, shared: Collection[Entry]) -> Iterator[str]:
    thing = getattr(lx, name)
    yield f"## {name}\n"
    if inspect.isclass(thing):
        yield from _docstring_lines(thing, shared)
        yield from _members(name, thing, shared)
    else:
        yield from _function(thing, shared)


def _members(name: str, kind: type, shared: Collection[Entry]) -> Iterator[str]:
    """Yield a list of the methods and properties of a class, then those with parameters."""
    members = [
        _function_of(own)
        for member, own in vars(kind).items()
        if not member.startswith("_")
        and isinstance(own, _SHOWN)
        and f"{name}.{member}" not in RENAMED["attribute"]
    ]
    plain = [each for each in members if not _sections(each)[1]]
    if plain:
        yield ""
    yield from (f"* `{_signature(each)}`: {_sections(each)[0]}" for each in plain)
    for each in members:
        if each not in plain:
            yield f"\n### {name}.{each.__name__}\n"
            yield from _function(each, shared)


def _function_of(own: object) -> Callable[..., Any]:
    if isinstance(own, property) and own.fget:
        return own.fget
    return own.func if isinstance(own, cached_property) else cast("FunctionType", own)


def _function(function: Callable[..., Any], shared: Collection[Entry]) -> Iterator[str]:
    lines = textwrap.fill(_signature(function), 96, subsequent_indent="    ")
    yield f"```\n{lines}\n```\n"
    yield from _docstring_lines(function, shared)


def _signature(function: Callable[..., Any]) -> str:
    """Return the signature without the types of parameters, which the docstring has."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    node = cast("ast.FunctionDef", node)
    returns = ast.unparse(node.returns) if node.returns else ""
    if any("property" in ast.unparse(each) for each in node.decorator_list):
        return f"{node.name}: {returns}"
    for each in ast.walk(node.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    return f"{node.name}({arguments})" + f" -> {returns}" * bool(returns)


def _sections(thing: object) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring before its sections, and the sections by heading."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    starts = [number - 1 for number, line in enumerate(lines) if line[:3] == _UNDERLINE]
    ends = zip(starts, [*starts, len(lines)][1:], strict=True)
    sections = {lines[start]: "\n".join(lines[start + 2 : end]).strip() for start, end in ends}
    return "\n".join(lines[: starts[0] if starts else None]).strip(), sections


def _docstring_lines(thing: object, shared: Collection[Entry]) -> Iterator[str]:
    """Yield a docstring in numpydoc's order as Markdown."""
    text, sections = _sections(thing)
    yield text
    for heading, content in sections.items():
        if heading in _OMITTED:
            continue
        if heading == "Examples":
            for is_code, parts in groupby(content.split("\n\n"), lambda part: part[:3] == ">>>"):
                text = "\n\n".join(parts)
                yield f"\n```pycon\n{text}\n```" if is_code else "\n" + text.replace("::\n", ":\n")
            continue
        entries = list(_entries(content))
        if heading == "Returns" and _kind_in_signature(thing, entries):
            yield f"\n**Returns:** {entries[0][1]}"
            continue
        if inspect.isclass(thing):
            entries = [(head.partition(" : ")[0], text) for head, text in entries]
        elif heading == "Parameters":
            entries = [each for each in _parameters(thing) if each not in shared]
        if entries:
            yield "" if heading == "Parameters" else f"\n**{heading}**\n"
            yield from map(_entry, entries)


def _kind_in_signature(thing: object, entries: Collection[Entry]) -> bool:
    """Return whether there is one result, without a name, whose kind the signature tells."""
    returns = str(inspect.get_annotations(thing).get("return", _ANY))  # type: ignore[arg-type]
    return len(entries) == 1 and _ANY not in returns


def _entries(content: str) -> Iterator[Entry]:
    """Yield the `name : type` lines, each with the indented text below."""
    head, text = "", []
    for line in content.splitlines():
        if line[:1] in {"", " "}:
            text.append(line.strip())
            continue
        if head:
            yield head, "\n".join(text)
        head, text = line, []
    if head:
        yield head, "\n".join(text)


def _entry(entry: Entry, users: str = "") -> str:
    """Return a parameter as an item of a list; the signature has its default."""
    head = entry[0].replace(" : ", ": ", 1).removesuffix(": bool").removesuffix(", optional")
    text = entry[1].removesuffix(".") + f"{users}." if users else entry[1]
    return "\n".join([f"* *{head}*", *(f"  {line}" for line in text.splitlines())])


if __name__ == "__main__":
    CHAPTER.write_text(chapter(), encoding="utf-8")
