"""The registry: decorators, names and spellings, and options that name something."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

import jsonschema
import pytest
from pydantic import BaseModel, ValidationError

from pipeline import registry
from pipeline.errors import ConfigError, UnknownName
from pipeline.registry import NameIn, NumberRange, Registry, Template, identity
from pipeline.stages.base import STAGES

HOLDER: list[Registry[int]] = []
"""The place where modules of a generated package find the registry."""


@dataclass(frozen=True)
class Shape:
    name: str
    draw: Callable[..., object]
    _: KW_ONLY
    corners: int
    title: str = ""
    aliases: Sequence[str] = ()


def shapes() -> Registry[Shape]:
    return Registry("shape", "pipeline.engine", spellings=lambda each: each.aliases)


def two_shapes() -> Registry[Shape]:
    registry = shapes()
    registry.named_decorator(Shape)("square", corners=4, aliases=["box"])(shapes)
    registry.named_decorator(Shape)("triangle", corners=3)(shapes)
    return registry


def test_decorators_return_the_function_and_store_its_facts() -> None:
    registry = shapes()
    assert registry.decorator(Shape)(corners=4)(two_shapes) is two_shapes
    assert registry.get("two_shapes") == Shape("two_shapes", two_shapes, corners=4)
    assert registry.place("two_shapes") == f"{__name__}:two_shapes"
    with pytest.raises(TypeError, match="sides"):
        registry.decorator(Shape)(sides=4)(two_shapes)  # type: ignore[call-arg]  # the mistake
    things: Registry[object] = Registry("thing", "pipeline.engine")
    things.decorator(identity)()(shapes)
    assert things.get("shapes") is shapes


def test_the_title_of_an_entry_may_differ_from_its_name() -> None:
    registry = shapes()
    registry.named_decorator(Shape)("round_square", corners=0)(shapes)
    registry.named_decorator(Shape)("square", corners=4, title="Square, exactly")(shapes)
    messages = [registry.title(name) for name in ("square", "round_square", "not_there_any_more")]
    assert messages == ["Square, exactly", "round square", "not there any more"]


def test_a_name_is_registered_only_once() -> None:
    registry = two_shapes()
    registry.named_decorator(Shape)("square", corners=5)(shapes)  # the same module may replace it
    assert registry.get("square").corners == 5
    with pytest.raises(ConfigError, match="shape 'square' is registered by .* and by elsewhere"):
        registry.add("square", registry.get("triangle"), "elsewhere")


def test_other_spellings_are_resolved() -> None:
    registry = two_shapes()
    assert registry.resolve(["box", "square", "triangle"]) == ["square", "triangle"]
    assert registry.resolve(["triangle", "all"]) == ["triangle", "square"]
    with pytest.raises(UnknownName) as error:
        registry.resolve(["squar", "box", "x"])
    message = (
        "unknown shape 'squar'; did you mean square?; unknown shape 'x'; valid: square, triangle"
    )
    assert str(error.value) == message
    registry.named_decorator(Shape)("crate", corners=8, aliases=["box"])(shapes)
    with pytest.raises(ConfigError, match="box: is a spelling of both crate and square"):
        registry.resolve(["triangle"])


def test_unknown_spellings_have_suggestions() -> None:
    registry = two_shapes()
    with pytest.raises(UnknownName, match=r"unknown shape 'bix'; did you mean square\?$"):
        registry.get("bix")
    with pytest.raises(UnknownName, match=r"unknown shape 'BOX'; did you mean square\?$"):
        registry.resolve(["BOX"])


def test_former_names_name_their_replacement() -> None:
    message = "stage 'evaluate.stratified' was replaced: use evaluate.designed with inclusion = "
    with pytest.raises(UnknownName, match=message):
        STAGES.get("evaluate.stratified")


def test_options_are_checked_against_the_registry() -> None:
    registry = two_shapes()

    class ShapeOptions(BaseModel):
        one: Annotated[str, NameIn(registry)] = "square"
        several: Annotated[tuple[str, ...], NameIn(registry)] = ()

    ShapeOptions.model_rebuild(_types_namespace={"registry": registry})
    shape_options = ShapeOptions(one="box", several=("all", "box"))
    assert (shape_options.one, shape_options.several) == ("square", ("square", "triangle"))
    with pytest.raises(
        ValidationError, match="unknown shape 'squar'; did you mean square"
    ) as error:
        ShapeOptions(one="squar", several=("circle",))
    assert [each["loc"] for each in error.value.errors()] == [("one",), ("several",)]
    options = ShapeOptions.model_json_schema()["properties"]
    assert options["one"]["enum"] == ["square", "triangle", "box"]
    assert options["several"]["items"]["enum"] == ["square", "triangle", "box", "all"]


def polygons() -> Registry[Shape]:
    registry = two_shapes()
    ngon = Shape("ngon(n)", shapes, corners=0)
    registry.add_template(
        Template(
            "ngon", NumberRange(above=2), lambda name, n: Shape(name, shapes, corners=int(n)), ngon,
            ["Polygon.{n}"],
        ),
        __name__,
    )  # fmt: skip
    return registry


def test_a_template_registers_a_family_of_names() -> None:
    registry = polygons()
    assert registry.get("ngon_5") == Shape("ngon_5", shapes, corners=5)
    assert registry.resolve(["Polygon.7", "box", "ngon(5)", "all"]) == [
        "ngon_7", "square", "ngon_5", "triangle",
    ]  # fmt: skip
    assert (registry.place("ngon_5"), list(registry)) == (__name__, ["square", "triangle"])
    assert [each.label for each in registry.templates()] == ["ngon(n)"]
    assert ("ngon_5" in registry, "ngon_2" in registry, "ngon(5)" in registry) == (
        True, False, False,
    )  # fmt: skip
    with pytest.raises(UnknownName) as error:
        registry.resolve(["ngon_2", "ngan(5)", "ngon(five)", "ngon"])
    message = "in ngon(n), n is a whole number from 3 to 1,000,000"
    assert str(error.value) == (
        f"unknown shape 'ngon_2'; {message}; unknown shape 'ngan(5)'; did you mean ngon(n)?; "
        f"unknown shape 'ngon(five)'; {message}; unknown shape 'ngon'; type {message[3:]}"
    )


def test_a_name_of_a_family_is_registered_only_once() -> None:
    registry = polygons()
    registry.add("ngon_6", registry.get("ngon_6"), __name__)
    assert registry.resolve(["all"]) == ["ngon_6", "square", "triangle"]
    with pytest.raises(ConfigError, match="'ngon_8' is registered by .* and by elsewhere"):
        registry.add("ngon_8", registry.get("ngon_8"), "elsewhere")
    (template,) = registry.templates()
    for other, name in ((polygons(), "ngon(n)"), (two_shapes(), "ngon_9")):
        other.add("ngon_9", registry.get("ngon_9"), __name__)
        with pytest.raises(ConfigError, match=f"{re.escape(repr(name))} is registered by"):
            other.add_template(template, "elsewhere")


def test_options_may_name_a_member_of_a_family() -> None:
    registry = polygons()

    class ShapeOptions(BaseModel):
        one: Annotated[str, NameIn(registry)] = "square"
        several: Annotated[tuple[str, ...], NameIn(registry)] = ()

    ShapeOptions.model_rebuild(_types_namespace={"registry": registry})
    options = ShapeOptions(one="Polygon.5", several=("ngon(6)", "box"))
    assert (options.one, options.several) == ("ngon_5", ("ngon_6", "square"))
    assert NameIn(registry).places(options.several) == {__name__, f"{__name__}:shapes"}
    validator = jsonschema.Draft202012Validator(ShapeOptions.model_json_schema())
    assert validator.is_valid({"one": "ngon(5)", "several": ["all", "ngon_5", "Polygon.5", "box"]})
    for wrong in ({"one": "all"}, {"one": "ngon"}, {"several": ["ngon(x)"]}, {"one": "a ngon_5"}):
        assert not validator.is_valid(wrong)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of three modules that register shapes, in folders of families."""
    name = f"drawn_{tmp_path.name}"
    family = tmp_path / name / "flat"
    family.mkdir(parents=True)
    for folder in (family.parent, family):
        (folder / "__init__.py").touch()
    for module, shape in {"flat_square": "flat.square", "circle": "flat.circle"}.items():
        register = (
            f"from tests.test_registry import HOLDER\nHOLDER[0].add('{shape}', 0, __name__)\n"
        )
        (family / f"{module}.py").write_text(register)
    (family / "others.py").write_text(
        "from tests.test_registry import HOLDER\nHOLDER[0].add('flat.' + 'arc', 0, __name__)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("flat.square", {"flat_square"}),
        ("flat.circle", {"circle"}),
        ("flat.arc", {"flat_square", "circle", "others"}),
        ("flat.x", {"flat_square", "circle", "others"}),
    ],
)
def test_a_name_is_looked_up_in_the_modules_that_define_it(
    package: str, name: str, imported: set[str]
) -> None:
    registry: Registry[int] = Registry("shape", package)
    HOLDER[:] = [registry]
    assert (name in registry) == (name != "flat.x")
    names = {each.rpartition(".")[2] for each in sys.modules if each.startswith(f"{package}.flat.")}
    assert names == imported
    assert list(registry) == ["flat.arc", "flat.circle", "flat.square"]


@pytest.mark.parametrize("name", ["flat.square", "flat.arc"])
def test_a_name_registered_before_by_an_extension_is_refused(package: str, name: str) -> None:
    registry: Registry[int] = Registry("shape", package)
    HOLDER[:] = [registry]
    registry.add(name, 1, "thief")
    with pytest.raises(ConfigError, match=f"is registered by thief and by {package}.flat"):
        registry.get(name)


def test_the_code_of_a_stage_includes_the_entries_it_names() -> None:
    stage = STAGES.get("evaluate.subset")
    inputs = {"ranks": "r", "judgements": "j", "subset": "s", "interval": "hypergeometric"}
    assert stage.places(stage.config.model_validate(inputs)) == {
        "pipeline.kernels.statistics.exact_tests:fisher",
        "pipeline.kernels.statistics.finite_population:hypergeometric",
        "pipeline.kernels.statistics.exact_tests:holm",
    }
