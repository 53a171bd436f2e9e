"""Descriptions of options, compared with those that Pydantic reads from a class."""

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


class BaseOptions(OptionModel):
    """A string that belongs to no field."""

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


class DerivedOptions(BaseOptions):
    two: int = 22
    three: int = Field(default=33, description="The third.")
    """Not this."""
    five: int = 5
    """The fifth."""


def test_descriptions_include_those_of_base_classes() -> None:
    assert descriptions(BaseOptions) == {"one": "The first,\nover two lines.", "two": "The second."}
    assert descriptions(BaseOptions.Within) == {"four": "The fourth."}
    assert descriptions(DerivedOptions) == {
        "one": "The first,\nover two lines.",
        "three": "The third.",
        "five": "The fifth.",
    }


def test_a_class_in_a_function_has_descriptions() -> None:
    class Here(OptionModel):
        six: int = 6
        """The sixth."""

    assert descriptions(Here) == {"six": "The sixth."}
    schema = Here.model_json_schema()
    assert schema["properties"]["six"]["description"] == "The sixth."


def test_a_class_without_source_has_no_descriptions() -> None:
    assert descriptions(create_model("Made", __base__=OptionModel, seven=(int, 7))) == {}


def test_a_missing_module_has_no_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("nowhere")
    monkeypatch.setitem(sys.modules, "nowhere", module)
    result = create_model("Made", __base__=OptionModel, __module__="nowhere", eight=(int, 8))
    assert descriptions(result) == {}
    assert "description" not in result.model_json_schema()["properties"]["eight"]


def _models() -> list[type[BaseModel]]:
    own: list[type[BaseModel]] = [
        Experiment,
        *(STAGES.get(name).config for name in STAGES),
        *(VIEWS.get(name).options for name in VIEWS),
        *(FORMATS.get(name).options for name in FORMATS),
    ]
    return [each for each in own if each.__module__.startswith("pipeline.")]


@pytest.mark.parametrize("model", _models(), ids=lambda each: each.__qualname__)
def test_descriptions_equal_those_of_pydantic(model: type[BaseModel]) -> None:
    """Compared with Pydantic's private function, for each class of fields."""
    internal = pytest.importorskip("pydantic._internal._docs_extraction")
    result: dict[str, str | None] = {}
    for each in reversed(model.__mro__):
        if each not in {object, BaseModel, OptionModel} and issubclass(each, BaseModel):
            message = internal.extract_docstrings_from_cls(each, use_inspect=True)
            result |= {name: message.get(name) for name in inspect.get_annotations(each)}
    own = {name: result[name] for name in model.model_fields}
    assert descriptions(model) == {name: text for name, text in own.items() if text}
