"""Options for units and syntactic relations, for stages that read corpora."""

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

from pipeline.config_model import OptionModel
from pipeline.errors import did_you_mean
from pipeline.expressions import expression, regular_expression
from pipeline.kernels.cooccurrence import tokens
from pipeline.kernels.cooccurrence.pairs import Dependency
from pipeline.kernels.cooccurrence.tokens import RelatedToken, Unit, fold_case


class RelatedOptions(OptionModel):
    """A token related to the unit's token by a dependency."""

    where: str
    """SQL condition on the related token: deprel = 'case'."""
    side: Literal["dependents", "head"] = "dependents"
    """Direction of the dependency, seen from the unit's token."""
    optional: bool = False
    """Keep units without it; its attributes are then empty in the label."""
    each: bool = False
    """Make a unit of every such token, not only of the first."""

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


class UnitOptions(OptionModel):
    """Selection and labels of units."""

    where: str = "true"
    """SQL condition on the token: upos = 'NOUN' (default: all tokens)."""
    label: str = "{lemma}"
    """Template of the label: {attribute} of the token, {name.attribute} of a related token."""
    attach: dict[str, RelatedOptions] = Field(default_factory=dict)
    """Related tokens, by their name in the label."""
    fold: bool | str = False
    """Convert labels to lower case: true, a language code ("tr"), or "full" case folding (ß to
    ss).
    """
    matches: str = ""
    """Regular expression that labels must match, e.g. "^\\p{L}+$"; any label if empty."""
    followed_by: tuple[str, ...] = ()
    """Regular expressions for the labels of the following tokens of a phrase."""
    name: str = ""
    """One name for all units, instead of their labels."""
    exclude: tuple[str, ...] = ()
    """Labels to exclude, after folding."""

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
    def _check_attached(self) -> UnitOptions:
        names = {each.partition(".")[0] for each in self._fields() if "." in each}
        for name in sorted(names - set(self.attach)):
            raise ValueError(f"label: {name!r} is not attached; {did_you_mean(name, self.attach)}")
        return self

    @property
    def templates(self) -> tuple[str, ...]:
        """Templates of the unit's elements."""
        return (self.label,)

    def _fields(self) -> list[str]:
        return [field for template in self.templates for field in tokens.fields(template)]

    def fold_words(self, words: Iterable[str]) -> list[str]:
        """Return words in the case of the labels."""
        series = pl.Series([*words], dtype=pl.String)
        if not (self.fold and len(series)):
            return series.to_list()
        return pl.select(fold_case(pl.lit(series), self.fold)).to_series().to_list()

    def kernel(self, stop_words: Iterable[str] = ()) -> Unit:
        """Return the unit for the kernels, excluding stop words."""
        attach = {
            name: RelatedToken(expression(each.where), each.side, each.optional, each.each)
            for name, each in self.attach.items()
        }
        excluded = tuple(dict.fromkeys([*self.exclude, *self.fold_words(stop_words)]))
        first, *further = self.templates
        return Unit(
            expression(self.where), first, attach, self.fold, self.matches, excluded, further,
            self.followed_by, self.name,
        )  # fmt: skip

    def conditions(self) -> dict[str, pl.Expr]:
        """Return the conditions by option."""
        related = {f"attach.{name}.where": each.where for name, each in self.attach.items()}
        return {name: expression(each) for name, each in {"where": self.where, **related}.items()}

    def columns(self) -> dict[str, set[str]]:
        """Return the attributes used by each option."""
        used = {name: set(each.meta.root_names()) for name, each in self.conditions().items()}
        of_heads = {name: names | {"head"} for name, names in used.items() if name != "where"}
        return used | of_heads | {"label": {each.rpartition(".")[2] for each in self._fields()}}


class DependencyOptions(OptionModel):
    """The syntactic relation between units."""

    label: str | tuple[str, ...] = ()
    """Relation (or several) of the dependent, e.g. obj. Alternative: where."""
    where: str = ""
    """SQL condition on the dependent token. Alternative: label."""
    governor: Literal["left", "right", "either"] = "left"
    """The governing unit."""
    through: str | None = None
    """SQL condition on an intermediate token between governor and dependent."""
    named: bool = False
    """Include the relation in l1: ``obj(take, *)`` for a governor, ``obj(*, place)`` for a
    dependent.
    """

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
        """Return the conditions by option."""
        unit = self.kernel()
        through = {} if unit.through is None else {"through": unit.through}
        return {"where" if self.where else "label": unit.where, **through}

    def columns(self) -> dict[str, set[str]]:
        """Return the attributes used by each option."""
        used = {name: set(each.meta.root_names()) for name, each in self.conditions().items()}
        first = next(iter(used))
        used[first].add("head")
        if self.named:
            used["named"] = {"deprel"}
        return used
