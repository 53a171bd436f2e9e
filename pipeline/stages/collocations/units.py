"""Options that describe units and syntactic relations, for the stages that read corpora."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import polars as pl
from pydantic import (
    Field,
    GetJsonSchemaHandler,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema

from pipeline.config_model import Described
from pipeline.errors import did_you_mean
from pipeline.expressions import expression, regular_expression
from pipeline.kernels.cooccurrence import tokens
from pipeline.kernels.cooccurrence.pairs import Dependency
from pipeline.kernels.cooccurrence.tokens import Related, Unit, fold_case


class RelatedOptions(Described):
    """A token related to the unit's token by a dependency."""

    where: str
    """Condition on the related token, in Polars SQL: deprel = 'case'."""
    side: Literal["dependents", "head"] = "dependents"
    """Whether it depends on the unit's token or the other way round."""
    optional: bool = False
    """Whether a unit without it is kept; its attributes are then empty in the label."""
    each: bool = False
    """Whether every such token makes a unit, or the first alone."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, handler.resolve_ref_schema(handler(core))]}

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: object) -> object:
        return {"where": value} if isinstance(value, str) else value

    @field_validator("where")
    @classmethod
    def _parses(cls, where: str) -> str:
        expression(where)
        return where


class UnitOptions(Described):
    """Which tokens are units, and what they are called."""

    where: str = "true"
    """Condition on the token, in Polars SQL: upos = 'NOUN'; every token if not given."""
    label: str = "{lemma}"
    """Template: {attribute} of the token, {name.attribute} of a related one."""
    attach: dict[str, RelatedOptions] = Field(default_factory=dict)
    """Related tokens by the name that the label calls them."""
    fold: bool | str = False
    """Whether labels are put into lower case; a language code, such as "tr": by its rules; "full":
    Unicode's full case folding, in which ß is ss."""
    matches: str = ""
    """Regular expression that a label has to match, e.g. "^\\p{L}+$"; any label if empty."""
    followed_by: tuple[str, ...] = ()
    """Regular expressions that the labels of the tokens after it have to match: the unit is a
    phrase, and stands on its first token."""
    name: str = ""
    """What all units are called in place of their labels."""
    exclude: tuple[str, ...] = ()
    """Labels that are no units, as they are after folding."""

    @field_validator("where")
    @classmethod
    def _parses(cls, where: str) -> str:
        expression(where)
        return where

    @field_validator("matches")
    @classmethod
    def _pattern(cls, matches: str) -> str:
        return regular_expression(matches)

    @field_validator("followed_by")
    @classmethod
    def _patterns(cls, followed_by: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(regular_expression(each) for each in followed_by)

    @field_validator("label")
    @classmethod
    def _template(cls, label: str) -> str:
        tokens.fields(label)
        return label

    @model_validator(mode="after")
    def _attached(self) -> UnitOptions:
        asked = {each.partition(".")[0] for each in self._fields() if "." in each}
        for name in sorted(asked - set(self.attach)):
            raise ValueError(f"label: {name!r} is not attached; {did_you_mean(name, self.attach)}")
        return self

    @property
    def templates(self) -> tuple[str, ...]:
        """The templates of what the unit contributes."""
        return (self.label,)

    def _fields(self) -> list[str]:
        return [field for template in self.templates for field in tokens.fields(template)]

    def kernel(self, stop_words: Iterable[str] = ()) -> Unit:
        """Return the same for the kernels; stop words are labels that are no units, too."""
        attach = {
            name: Related(expression(each.where), each.side, each.optional, each.each)
            for name, each in self.attach.items()
        }
        words = [*stop_words]
        if self.fold and words:
            words = pl.select(fold_case(pl.lit(pl.Series(words)), self.fold)).to_series().to_list()
        excluded = tuple(dict.fromkeys([*self.exclude, *words]))
        first, *further = self.templates
        return Unit(
            expression(self.where), first, attach, self.fold, self.matches, excluded, further,
            self.followed_by, self.name,
        )  # fmt: skip

    def conditions(self) -> dict[str, pl.Expr]:
        """Return the condition of each option that has one."""
        related = {f"attach.{name}.where": each.where for name, each in self.attach.items()}
        return {name: expression(each) for name, each in {"where": self.where, **related}.items()}

    def columns(self) -> dict[str, set[str]]:
        """Return the attributes that each option uses."""
        used = {name: set(each.meta.root_names()) for name, each in self.conditions().items()}
        of_heads = {name: names | {"head"} for name, names in used.items() if name != "where"}
        return used | of_heads | {"label": {each.rpartition(".")[2] for each in self._fields()}}


class DependencyOptions(Described):
    """The syntactic relation between the units."""

    label: str | tuple[str, ...] = ()
    """Relation of the dependent, such as obj, or several; or give where."""
    where: str = ""
    """Condition on the dependent token, in Polars SQL; or give label."""
    governor: Literal["left", "right", "either"] = "left"
    """Which unit governs the other."""
    through: str | None = None
    """Condition on a token between the two: the governor governs it, it governs the dependent."""
    named: bool = False
    """Whether l1 says in which relation it is, "obj(take, *)" where it governs and "obj(*, place)"
    where it depends, as in a word sketch: f1 counts it in that relation, f2 counts l2 in all."""

    @model_validator(mode="after")
    def _one_of_two(self) -> DependencyOptions:
        if bool(self.label) == bool(self.where):
            raise ValueError("give either label or where")
        for each in filter(None, (self.where, self.through)):
            expression(each)
        return self

    def kernel(self) -> Dependency:
        """Return the same for the kernels."""
        labels = [self.label] if isinstance(self.label, str) else list(self.label)
        where = expression(self.where) if self.where else pl.col("deprel").is_in(labels)
        through = expression(self.through) if self.through else None
        return Dependency(where, self.governor, through, self.named)

    def conditions(self) -> dict[str, pl.Expr]:
        """Return the condition of each option that has one."""
        unit = self.kernel()
        through = {} if unit.through is None else {"through": unit.through}
        return {"where" if self.where else "label": unit.where, **through}

    def columns(self) -> dict[str, set[str]]:
        """Return the attributes that each option uses."""
        used = {name: set(each.meta.root_names()) for name, each in self.conditions().items()}
        first = next(iter(used))
        used[first].add("head")
        if self.named:
            used["named"] = {"deprel"}
        return used
