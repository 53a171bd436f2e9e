"""Write docs/api.md from the docstrings of what ``import lexassay as lx`` hands out.

python docs/update_api.py
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import lexassay as lx

CHAPTER = Path(__file__).with_name("api.md")
HEAD = """# From Python

Made from the docstrings by docs/update_api.py. Tables go in as Polars, pyarrow, pandas, or anything
with the Arrow C stream interface; what `score` gives is of the kind that came in, tables of a run
are Polars. Arrays are lists, NumPy, pandas or Polars. `lx` is `import lexassay as lx`;
`lx.__version__` says the version.
"""
_UNDERLINE = "---"
_SHOWN = (FunctionType, property, cached_property)


def chapter() -> str:
    """Return the reference of all public names, and of the methods of classes."""
    return HEAD + "".join("\n" + "\n".join(_name(name)) + "\n" for name in lx.__all__)


def _name(name: str) -> Iterator[str]:
    thing = getattr(lx, name)
    yield f"## {name}\n"
    if inspect.isclass(thing):
        yield from _documented(thing)
        for method, own in vars(thing).items():
            if not method.startswith("_") and isinstance(own, _SHOWN):
                yield f"\n### {name}.{method}\n"
                yield from _function(_function_of(own))
    else:
        yield from _function(thing)


def _function_of(own: object) -> Callable[..., Any] | None:
    if isinstance(own, property):
        return own.fget
    return own.func if isinstance(own, cached_property) else cast("FunctionType", own)


def _function(function: Callable[..., Any] | None) -> Iterator[str]:
    if function is None:
        return
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    if isinstance(node, ast.FunctionDef):
        gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        said = f"{node.name}({ast.unparse(node.args)}){gives}"
        yield f"```\n{textwrap.fill(said, 96, subsequent_indent='    ')}\n```\n"
    yield from _documented(function)


def _documented(thing: object) -> Iterator[str]:
    """Yield a docstring in numpydoc's order as Markdown."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    heads = [number for number, line in enumerate(lines) if line[:3] == _UNDERLINE]
    starts = [number - 1 for number in heads]
    yield "\n".join(lines[: starts[0] if starts else None]).strip()
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        content = "\n".join(lines[start + 2 : end]).strip()
        yield f"\n**{lines[start]}**\n"
        yield _example(content) if lines[start] == "Examples" else _entries(content)


def _example(content: str) -> str:
    return f"```pycon\n{content}\n```" if ">>>" in content else content


def _entries(content: str) -> str:
    """Return `name : type` lines with the indented text below them as a list."""
    return "\n".join(
        f"  {line.strip()}" if line[:1] in {"", " "} else f"* *{line}*"
        for line in content.splitlines()
    )


if __name__ == "__main__":
    CHAPTER.write_text(chapter(), encoding="utf-8")
