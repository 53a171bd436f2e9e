"""What options say of themselves, against what Pydantic reads as a class is defined."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

import pytest
from pydantic import BaseModel, Field, create_model

from pipeline.config_model import OptionModel, descriptions
from pipeline.formats.base import FORMATS
from pipeline.report.view import VIEWS
from pipeline.runner.config import Experiment
from pipeline.stages.base import STAGES


class Above(OptionModel):
    """A string that is no field's."""

    one: int = 1
    """The first,
    over two lines."""
    two: int = 2
    """The second."""
    three: int = 3

    class Within(OptionModel):
        """Nested."""

        four: int = 4
        """The fourth."""


class Below(Above):
    two: int = 22
    three: int = Field(default=33, description="The third.")
    """Not this."""
    five: int = 5
    """The fifth."""


def test_texts_below_fields_and_those_of_bases() -> None:
    assert descriptions(Above) == {"one": "The first,\nover two lines.", "two": "The second."}
    assert descriptions(Above.Within) == {"four": "The fourth."}
    assert descriptions(Below) == {
        "one": "The first,\nover two lines.",
        "three": "The third.",
        "five": "The fifth.",
    }


def test_of_a_class_in_a_function() -> None:
    class Here(OptionModel):
        six: int = 6
        """The sixth."""

    assert descriptions(Here) == {"six": "The sixth."}
    schema = Here.model_json_schema()
    assert schema["properties"]["six"]["description"] == "The sixth."


def test_of_a_class_without_source() -> None:
    assert descriptions(create_model("Made", __base__=OptionModel, seven=(int, 7))) == {}


def test_of_a_module_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("nowhere")
    monkeypatch.setitem(sys.modules, "nowhere", module)
    made = create_model("Made", __base__=OptionModel, __module__="nowhere", eight=(int, 8))
    assert descriptions(made) == {}
    assert "description" not in made.model_json_schema()["properties"]["eight"]


def _models() -> list[type[BaseModel]]:
    own: list[type[BaseModel]] = [
        Experiment,
        *(STAGES.get(name).config for name in STAGES),
        *(VIEWS.get(name).options for name in VIEWS),
        *(FORMATS.get(name).options for name in FORMATS),
    ]
    return [each for each in own if each.__module__.startswith("pipeline.")]


@pytest.mark.parametrize("model", _models(), ids=lambda each: each.__qualname__)
def test_as_pydantic_reads_them(model: type[BaseModel]) -> None:
    """The private function that Pydantic reads them by, for each class of fields."""
    internal = pytest.importorskip("pydantic._internal._docs_extraction")
    found: dict[str, str | None] = {}
    for each in reversed(model.__mro__):
        if each not in {object, BaseModel, OptionModel} and issubclass(each, BaseModel):
            said = internal.extract_docstrings_from_cls(each, use_inspect=True)
            found |= {name: said.get(name) for name in inspect.get_annotations(each)}
    own = {name: found[name] for name in model.model_fields}
    assert descriptions(model) == {name: text for name, text in own.items() if text}
