"""Write docs/api.md from the docstrings of what ``import lexassay as lx`` hands out.

python docs/update_api.py
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import lexassay as lx

CHAPTER = Path(__file__).with_name("api.md")
HEAD = """# From Python

docs/update_api.py makes this page from the docstrings. `lx` is `import lexassay as lx`;
`lx.__version__` is the version. Functions accept tables from Polars, pyarrow, pandas, or anything
with the Arrow C stream interface, and arrays as lists, NumPy, pandas or Polars. `score` returns the
kind of table that it was given; tables of a run are Polars.

Unknown names and wrong options raise `ConfigError`, wrong data `DataError` or `SchemaViolation`;
all are `LexassayError`. `help(lx.score)` adds the errors of a function and its references.

## Shared parameters

Parameters that a function lists as shared.

"""
_SHARED = 2
"""Functions that have a parameter before the head lists it."""
_POINTERS = ("As for ", "As of ")
_OMITTED = {"Raises", "References"}
"""Sections that only `help` shows."""
_UNDERLINE = "---"
Entry = tuple[str, str]
_SHOWN = (FunctionType, property, cached_property)


def chapter() -> str:
    """Return the reference of all public names, and of the methods of classes."""
    counts = Counter(each for name in lx.__all__ for each in _parameters(getattr(lx, name)))
    shared: dict[str, Entry] = {}
    for each, count in counts.most_common():
        if count >= _SHARED and not each[1].startswith(_POINTERS):
            shared.setdefault(each[0].partition(" : ")[0], each)
    common = list(shared.values())
    head = HEAD + "\n".join(map(_entry, common)) + "\n"
    return head + "".join("\n" + "\n".join(_name(name, common)) + "\n" for name in lx.__all__)


def _parameters(thing: object) -> list[Entry]:
    """Return the parameters in a docstring."""
    return list(_entries(_sections(thing)[1].get("Parameters", "")))


def _name(name: str, shared: Collection[Entry]) -> Iterator[str]:
    thing = getattr(lx, name)
    yield f"## {name}\n"
    if inspect.isclass(thing):
        yield from _documented(thing, shared)
        for method, own in vars(thing).items():
            if not method.startswith("_") and isinstance(own, _SHOWN):
                yield f"\n### {name}.{method}\n"
                yield from _function(_function_of(own), shared)
    else:
        yield from _function(thing, shared)


def _function_of(own: object) -> Callable[..., Any] | None:
    if isinstance(own, property):
        return own.fget
    return own.func if isinstance(own, cached_property) else cast("FunctionType", own)


def _function(function: Callable[..., Any] | None, shared: Collection[Entry]) -> Iterator[str]:
    if function is None:
        return
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    if isinstance(node, ast.FunctionDef):
        for each in ast.walk(node.args):  # the types are those of the parameters below
            if isinstance(each, ast.arg):
                each.annotation = None
        returns = ast.unparse(node.returns) if node.returns else ""
        arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
        gives = f" -> {returns}" if returns else ""
        said = f"{node.name}({arguments}){gives}"
        if any("property" in ast.unparse(each) for each in node.decorator_list):
            said = f"{node.name}: {returns}"
        yield f"```\n{textwrap.fill(said, 96, subsequent_indent='    ')}\n```\n"
    yield from _documented(function, shared)


def _sections(thing: object) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring before its sections, and the sections by heading."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    starts = [number - 1 for number, line in enumerate(lines) if line[:3] == _UNDERLINE]
    ends = zip(starts, [*starts, len(lines)][1:], strict=True)
    sections = {lines[start]: "\n".join(lines[start + 2 : end]).strip() for start, end in ends}
    return "\n".join(lines[: starts[0] if starts else None]).strip(), sections


def _documented(thing: object, shared: Collection[Entry]) -> Iterator[str]:
    """Yield a docstring in numpydoc's order as Markdown."""
    text, sections = _sections(thing)
    yield text
    for heading, content in sections.items():
        if heading in _OMITTED:
            continue
        yield f"\n**{heading}**\n"
        if heading == "Examples":
            yield f"```pycon\n{content}\n```" if ">>>" in content else content
            continue
        entries = list(_entries(content))
        own = [each for each in entries if each not in shared or heading != "Parameters"]
        yield from map(_entry, own)
        if common := [each[0].partition(" : ")[0] for each in entries if each not in own]:
            yield f"* shared: {', '.join(f'`{name}`' for name in common)}"


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


def _entry(entry: Entry) -> str:
    head, text = entry[0].replace(" : ", ": ", 1), entry[1]
    return "\n".join([f"* *{head}*", *(f"  {line}" for line in text.splitlines())])


if __name__ == "__main__":
    CHAPTER.write_text(chapter(), encoding="utf-8")
