"""The HTML page: one file that needs no network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from markupsafe import Markup

from pipeline.report.charts.spec import Spec
from pipeline.report.charts.style import DARK
from pipeline.report.page.model import (
    Grid,
    Link,
    Page,
    Picture,
    Record,
    Searchable,
    SweepControls,
    flatten,
)
from pipeline.report.view import format_cell

# Assets: styles, scripts, and bytes as text of a page

_FOLDER = "assets"
_FOLDERS = (_FOLDER, "templates")
EXPLORER_STYLES = ("vendor/slickgrid.css", "explorer/explorer.css")
EXPLORER_SCRIPTS = (
    "vendor/slickgrid.js",
    "explorer/unpack.js",
    "explorer/values.js",
    "explorer/rows.js",
    "explorer/saving.js",
    "explorer/concordance.js",
    "explorer/details.js",
    "explorer/filters.js",
    "explorer/grid.js",
    "explorer/explorer.js",
)
"""What a table of all rows runs on, in the order of their use."""
SWEEP_STYLES = ("sweep/sweep.css",)
SWEEP_SCRIPTS = (
    "explorer/unpack.js",
    "explorer/values.js",
    "explorer/saving.js",
    "sweep/cube.js",
    "sweep/graph.js",
    "sweep/tables.js",
    "sweep/sweep.js",
)
"""What the controls of a sweep run on."""


@cache
def asset(name: str) -> str:
    """Return a style or a script of the page as text.

    Parameters
    ----------
    name : str
        A file of ``pipeline/report/assets``, "page.css", "vendor/slickgrid.js".

    Raises
    ------
    FileNotFoundError
        If there is none of this name.
    ValueError
        If a script could not stand in a ``script`` element, or a style in a ``style`` element.
    """
    text = files("pipeline.report").joinpath(_FOLDER, name).read_text(encoding="utf-8")
    if any(end in text.lower() for end in ("</script", "</style", "<!--")):
        raise ValueError(f"{name} holds an end tag and cannot be put into a page")
    return text


def bundle(names: Sequence[str]) -> str:
    """Return several styles or scripts as one text, in this order."""
    return "".join(asset(name) for name in names)


def pack(content: bytes, *, level: int = 9) -> str:
    """Return bytes as text that can stand in a page: gzip, then base64; the page unpacks it.

    Equal bytes give equal text. A lower level takes less time and a little more room.

    Examples
    --------
    >>> import base64, gzip
    >>> gzip.decompress(base64.b64decode(pack(b"n = 500")))
    b'n = 500'
    """
    return base64.b64encode(gzip.compress(content, level, mtime=0)).decode("ascii")


@cache
def digest() -> str:
    """Return a digest of all styles, scripts and templates: what a page was made with."""
    checksum = hashlib.sha256()
    for folder in _FOLDERS:
        for name, content in _below(files("pipeline.report").joinpath(folder), folder):
            checksum.update(f"{name}\0".encode() + content)
    return checksum.hexdigest()


def _below(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder and of those in it, by name."""
    for each in sorted(folder.iterdir(), key=lambda file: file.name):
        if each.is_dir():
            yield from _below(each, f"{name}/{each.name}")
        else:
            yield f"{name}/{each.name}", each.read_bytes()


# The charting library, bundled beside this package

VEGA_LITE = "6.4"
"""The version of Vega-Lite that draws, in the page and in the pictures."""
OFFERED = "window.vegaEmbed = vegaEmbed;"
"""What the library offers to the page."""
LIBRARY, VERSIONS, LICENCES = "vega.js.gz", "vega.json", "vega-licences.txt"
"""Files of ``pipeline/report/assets/vendor``, made by ``docs/update_vendor.py``."""


def folder() -> Traversable:
    """Return the folder of what others have made."""
    return files("pipeline.report").joinpath("assets", "vendor")


@cache
def packed_library() -> str:
    """Return the library as it stands in a page: gzip, then base64."""
    return base64.b64encode(folder().joinpath(LIBRARY).read_bytes()).decode("ascii")


def library() -> str:
    """Return the library as a script."""
    return gzip.decompress(folder().joinpath(LIBRARY).read_bytes()).decode("utf-8")


def versions() -> dict[str, str]:
    """Return what the library was bundled from, and in which versions."""
    table: dict[str, str] = json.loads(folder().joinpath(VERSIONS).read_text(encoding="utf-8"))
    return table


# The script with all figures of a page


def script(figures: Mapping[str, Iterable[Spec | None]]) -> str:
    """Return the script that holds all figures of a page; empty if there are none.

    Parameters
    ----------
    figures : mapping of str to sequence of specifications
        Name -> the wide one, and the narrow one or None.
    """
    if not figures:
        return ""
    packs = {"library": packed_library(), "figures": pack(content(figures).encode())}
    texts = json.dumps(packs | {"dark": DARK}, separators=(",", ":"))
    libraries = ", ".join(f"{name} {version}" for name, version in versions().items())
    notice = f"/* Drawn by {libraries}: BSD-3-Clause, with parts under ISC. */"
    return f"{notice}\nwindow.lexassayFigures={texts};"


def content(figures: Mapping[str, Iterable[Spec | None]]) -> str:
    r"""Return the specifications as JSON; data that several have stand once.

    Examples
    --------
    >>> chart = {"layer": [{"data": {"values": "n\n1\n", "format": {"type": "csv"}}}]}
    >>> content({"a": [chart, None], "b": [chart, chart]}).count("csv")
    1
    """
    pool: dict[str, int] = {}
    drawn = {
        name: [None if spec is None else pool_data(spec, pool) for spec in specs]
        for name, specs in figures.items()
    }
    data = [json.loads(text) for text in pool]
    return _json({"data": data, "figures": drawn})


def pool_data(value: Any, pool: dict[str, int]) -> Any:
    """Return a specification whose inline data are numbers of the pool, which grows by them."""
    if isinstance(value, Mapping):
        return {
            name: pool.setdefault(_json(part), len(pool))
            if name == "data" and isinstance(part, Mapping) and "values" in part
            else pool_data(part, pool)
            for name, part in value.items()
        }  # fmt: skip
    if isinstance(value, list | tuple):
        return [pool_data(each, pool) for each in value]
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# The page


def render(page: Page) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page : Page
        Its content. Every text is escaped. Charting scripts and what tables of all rows run on
        are put in once, if it has figures and such tables.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  takes long

    environment = Environment(
        loader=PackageLoader("pipeline.report"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"unbroken": unbroken, "breakable": breakable}
    records = [(heading, record_part(record)) for heading, record in page.provenance.items()]
    opening = page.overview.parts if page.overview else ()
    parts = [*opening, *(part for section in page.sections for part in flatten(section.parts))]
    figures = {part.name: part.specs for part in parts if isinstance(part, Picture)}
    explored = any(isinstance(part, Searchable) for part in parts)
    swept = any(isinstance(part, SweepControls) for part in page.opening)
    styles = [
        "page.css",
        "figures.css",
        *(EXPLORER_STYLES if explored else ()),
        *(SWEEP_STYLES if swept else ()),
    ]
    widgets = (*(EXPLORER_SCRIPTS if explored else ()), *(SWEEP_SCRIPTS if swept else ()))
    return environment.get_template("report.html.j2").render(
        page=page, records=records, javascript=Markup(script(figures)),
        style=Markup(bundle(styles)), scripts=Markup(asset("figures.js")),
        widgets=Markup(bundle(tuple(dict.fromkeys(widgets)))),
        behaviour=Markup(asset("page.js")), downloads=downloads(page),
    )  # fmt: skip


def unbroken(text: str) -> str:
    r"""Return a text in which no line ends between a number and its unit.

    Examples
    --------
    >>> unbroken("a: 30.4 % (p = .003)").replace("\xa0", "~")
    'a: 30.4~% (p~=~.003)'
    """
    return re.sub(r"(?<=\d) (?=%|points?\b)|(?<=\b[np]) (?=[=<])|(?<=[=<]) (?=[\d.])", "\xa0", text)


def breakable(text: str) -> Markup:
    """Return a text in HTML whose lines may end after an underscore, as in names of files.

    Examples
    --------
    >>> breakable("clark_45 & <b>")
    Markup('clark_<wbr>45 &amp; &lt;b&gt;')
    """
    return Markup("_<wbr>").join(text.split("_"))


def downloads(page: Page) -> dict[str, list[tuple[str, tuple[Link, ...]]]]:
    """Return the files of each section's figures and tables, under the numbers that they have."""
    count = Counter[str]()
    links: dict[str, list[tuple[str, tuple[Link, ...]]]] = {}
    opening = page.overview
    sections = [(each.name, each.parts) for each in page.sections]
    if opening:
        (name,) = (each.name for each in page.sections if each.anchor == opening.anchor)
        sections.insert(0, (name, opening.parts))
    for name, parts in sections:
        mine = links.setdefault(name, [])
        for part in flatten(parts):
            if isinstance(part, Picture | Grid | Searchable):
                kind = "Figure" if isinstance(part, Picture) else "Table"
                count[kind] += 1
                mine.append((f"{kind} {count[kind]}", part.links))
    return {name: [each for each in mine if each[1]] for name, mine in links.items()}


def inline_json(value: Any) -> Markup:
    r"""Return JSON that can stand in a ``script`` element, whatever its strings hold.

    Examples
    --------
    >>> inline_json({"l1": "</script>"})
    Markup('{"l1":"\\u003c/script\\u003e"}')
    """
    text = _json(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def record_part(record: Record) -> str | Grid:
    """Return a piece of provenance as text or as a table."""
    if isinstance(record, str):
        return record
    if isinstance(record, Mapping):
        rows = tuple((name, format_cell(value)) for name, value in record.items())
        return Grid(("", ""), (False, False), rows)
    head = tuple(dict.fromkeys(name for each in record for name in each))
    cells = tuple(tuple(format_cell(each.get(name)) for name in head) for each in record)
    columns = [[each[name] for each in record if name in each] for name in head]
    right = tuple(all(isinstance(value, int | float) for value in column) for column in columns)
    return Grid(head, right, cells)
