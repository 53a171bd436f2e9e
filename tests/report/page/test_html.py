"""Figures in a page: packed, their data stored once, their stills readable."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import vl_convert
from markupsafe import Markup

from pipeline.report.charts import Extras, Look, precision_chart
from pipeline.report.charts.style import DARK
from pipeline.report.page import html
from pipeline.report.page.html import content, script
from pipeline.report.page.images import address, short, size, spec, svg
from tests.docs.scripts import script as of_docs
from tests.report import report_frames as frames

NASTY = "</script><!-- & \"quoted\" 'שלום' 100 % #1"
CURVES = {name: [i % (k + 2) == 0 for i in range(300)] for k, name in enumerate(("mi", NASTY))}


def chart(look: Look = Look()) -> Any:  # noqa: B008  frozen
    extras = Extras(cuts=(100, 200), bands=("mi",))
    return precision_chart(
        frames.precision(CURVES), frames.baseline(60, 300), extras=extras, look=look
    )


def fill_data(value: Any, data: list[Any]) -> Any:
    """Insert the data, as the page does."""
    if isinstance(value, list):
        return [fill_data(each, data) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: data[part] if name == "data" and isinstance(part, int) else fill_data(part, data)
        for name, part in value.items()
    }


def test_the_page_unpacks_the_specifications_that_were_packed() -> None:
    wide, narrow = chart(), chart(Look().on_phone)
    result = json.loads(content({"a": [wide, narrow], "b": [wide, None]}))
    back = {name: fill_data(specs, result["data"]) for name, specs in result["figures"].items()}
    assert back == json.loads(json.dumps({"a": [wide, narrow], "b": [wide, None]}))


def test_data_of_both_layouts_are_stored_once() -> None:
    one = content({"a": [chart(), None]})
    both = content({"a": [chart(), chart(Look().on_phone)]})
    texts = [json.dumps(data) for data in json.loads(both)["data"]]
    assert len(set(texts)) == len(texts)
    assert len(both) < 1.5 * len(one)


def test_no_name_can_end_the_script_of_a_page() -> None:
    result = script({NASTY.replace("/", ""): [chart(), None], "b": [chart(), None]})
    assert result == script({NASTY.replace("/", ""): [chart(), None], "b": [chart(), None]})
    assert "</script" not in result
    packs = json.loads(result.partition("window.lexassayFigures=")[2].rstrip(";"))
    assert packs["dark"] == DARK
    data = json.loads(gzip.decompress(base64.b64decode(packs["figures"])))
    assert fill_data(data["figures"]["b"], data["data"])[0] == json.loads(json.dumps(spec(chart())))
    assert gzip.decompress(base64.b64decode(packs["library"])).decode() == html.library()
    assert script({}) == ""


def test_a_still_is_an_image_with_the_same_texts() -> None:
    picture = svg(chart())
    result = address(picture)
    assert isinstance(result, Markup)
    assert '"' not in result
    head, _, body = result.unescape().partition(",")
    assert head == "data:image/svg+xml"
    assert "#" not in body
    root = ElementTree.fromstring(unquote(body))
    assert root.tag.endswith("svg")
    texts = [each.text for each in root.iter() if each.tag.endswith("text")]
    assert NASTY in texts
    assert (int(root.attrib["width"]), int(root.attrib["height"])) == size(picture)


def test_coordinates_in_a_still_are_rounded_to_a_tenth_of_a_pixel() -> None:
    picture = svg(chart())
    numbers = [
        [float(each) for path in re.findall(r' d="([^"]*)"', text) for each in re.findall(r"-?\d+\.?\d*", path)]
        for text in (picture, short(picture))
    ]  # fmt: skip
    assert len(numbers[0]) == len(numbers[1]) > 1000
    assert max(abs(a - b) for a, b in zip(*numbers, strict=True)) <= 0.0501
    assert len(short(picture)) < len(picture)


def test_the_library_has_the_version_that_draws_the_stills() -> None:
    assert html.versions() == of_docs("update_vendor").versions()
    assert html.VEGA_LITE in vl_convert.get_vegalite_versions()
    text = html.library()
    assert "</script" not in text.lower()
    assert "<!--" not in text
    assert text.rstrip().endswith(html.OFFERED.replace(" ", "").rpartition("=")[2]) or (
        "window.vegaEmbed" in text
    )


def test_the_licences_of_the_library_are_included() -> None:
    text = html.folder().joinpath(html.LICENCES).read_text(encoding="utf-8")
    assert all(f"{name} " in text for name in ("vega", "vega-lite", "vega-embed", "d3-scale"))
    assert "University of Washington" in text
    assert "GPL" not in text


@pytest.mark.long
def test_the_library_equals_that_of_the_drawing_package() -> None:
    """If not: python docs/update_vendor.py."""
    assert of_docs("update_vendor").bundle() == html.folder().joinpath(html.LIBRARY).read_bytes()
