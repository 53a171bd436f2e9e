"""An experiment as people like to find it: every stage and every option with what it is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w
from pydantic_core import PydanticUndefined

from pipeline.described import descriptions
from pipeline.stages.base import STAGES

_HEAD = """\
{name}: {title}

    lexassay run {file}        what runs, runs again where something has changed
    lexassay plan {file}       what would run, and why
    lexassay status {file}     how far it is

An option that stands behind a # is at its default: take the # away and change it.
"""
_WIDE = 98


def commented(
    content: Mapping[str, Any],
    *,
    file: str = "experiment.toml",
    notes: Mapping[str, str] | None = None,
) -> str:
    """Return an experiment as TOML with comments; those of its options are their descriptions.

    Parameters
    ----------
    content : mapping
        The experiment as plain data.
    file : str
        What its file is called.
    notes : mapping of str to str, optional
        "stage.option" to what else is to be said of it.

    Returns
    -------
    str
        The same experiment: what stands behind ``#`` does not count.
    """
    stages: Mapping[str, Mapping[str, Any]] = content["stages"]
    named = {key: value for key, value in content.items() if key != "stages"}
    head = _HEAD.format(name=content["name"], title=content["title"], file=file)
    parts = [_comment(head), tomli_w.dumps(named).strip()]
    said = notes or {}
    parts += ["\n".join(_stage(name, options, said)) for name, options in stages.items()]
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.strip().splitlines())


def _stage(name: str, options: Mapping[str, Any], notes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a stage: what is set, then what could be."""
    stage = STAGES.get(options["use"])
    yield _comment(stage.doc)
    yield f"[stages.{name}]"
    yield f'use = "{options["use"]}"'
    fields, said = stage.config.model_fields, descriptions(stage.config)
    for option in (each for each in options if each != "use"):
        note = notes.get(f"{name}.{option}", "")
        text = f"{said.get(option, '')} {note}"
        yield from _described(option, text, _value(options[option]))
    for option in (each for each in fields if each not in options):
        default = fields[option].get_default(call_default_factory=True)
        shown = "" if default in (None, PydanticUndefined) else _value(_plain(default))
        yield from _described(option, said.get(option, ""), shown, mark="#")


def _described(option: str, said: str, value: str, *, mark: str = "") -> Iterator[str]:
    """Yield an option, behind what it is."""
    text = " ".join(said.split())
    yield from textwrap.wrap(text, _WIDE, initial_indent="# ", subsequent_indent="# ")
    yield f"{mark}{option} = {value}".rstrip()


def _plain(value: Any) -> Any:
    """Return a default as plain data."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    return list(value) if isinstance(value, tuple) else value


def _value(value: Any) -> str:
    """Return a value as TOML, in one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(each) for each in value)}]"
    return tomli_w.dumps({"x": value}).partition(" = ")[2].strip()


def _key(key: str) -> str:
    return tomli_w.dumps({key: 1}).partition(" = ")[0]
