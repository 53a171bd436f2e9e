"""Options that describe which units belong together, shared by the stages that pair units."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from pipeline.described import Described
from pipeline.kernels.cooccurrence.pairs import Dependency
from pipeline.kernels.cooccurrence.windows import Span
from pipeline.stages.collocations.units import DependencyOptions


class AdjacentOptions(Described):
    """Units that follow each other."""

    gap: int = Field(default=0, ge=0)
    """Tokens that may stand between the two; 0: neighbours alone."""


class SurfaceOptions(Described):
    """Units in the span of a node, which is the left unit."""

    left: int = Field(default=5, ge=0)
    """Tokens of the span before the node."""
    right: int = Field(default=5, ge=0)
    """Tokens of the span after the node."""
    count: Literal["positions", "windows", "nodes"] = "positions"
    """"positions": spans of the same node type laid over each other, f1 the positions in them,
    f2 the corpus frequency, N the tokens. "windows": each span by itself, and the marginals
    over all pairs of a node and a unit in its span. "nodes": f nodes with the unit in their
    span, f1 and f2 corpus frequencies, N the tokens, as corpus tools print; f is f2 at the most,
    and the column nodes has it as counted."""

    @model_validator(mode="after")
    def _wide(self) -> SurfaceOptions:
        if not self.left + self.right:
            raise ValueError("left and right are both 0: no token is in the span")
        return self

    def kernel(self) -> Span:
        """Return the same for the kernels."""
        return Span(self.left, self.right, self.count)


class TextualOptions(Described):
    """Units that occur in the same part of a text."""

    within: Literal["sentence", "paragraph", "document"] = "sentence"
    """The part: f counts those that hold both, f1 and f2 those that hold one, N all of them."""


Relation = Literal["sentence", "dependency", "adjacent", "surface", "textual"]


class RelationOptions(Described):
    """How units are paired: the name of the relation, and what describes it."""

    relation: Relation = "sentence"
    """"sentence": every left with every right unit of a sentence. "dependency": those in a
    syntactic relation. "adjacent": a right unit that follows a left one. "surface": a right
    unit in the span of a left one. "textual": both in one sentence, paragraph or document."""
    dependency: DependencyOptions | None = None
    """The syntactic relation, if relation = "dependency"."""
    adjacent: AdjacentOptions | None = None
    """The distance, if relation = "adjacent"."""
    surface: SurfaceOptions | None = None
    """The span, if relation = "surface"."""
    textual: TextualOptions | None = None
    """The part of a text, if relation = "textual"."""

    @model_validator(mode="after")
    def _described(self) -> RelationOptions:
        for name in ("dependency", "adjacent", "surface", "textual"):
            if getattr(self, name) is not None and self.relation != name:
                raise ValueError(f'{name} = {{...}} goes with relation = "{name}"')
        if self.relation == "dependency" and self.dependency is None:
            raise ValueError('relation = "dependency" needs dependency = {...}')
        return self

    @property
    def syntactic(self) -> Dependency | None:
        """The syntactic relation, if there is one."""
        return self.dependency.kernel() if self.dependency else None

    @property
    def span(self) -> Span:
        """The span of surface co-occurrence."""
        return (self.surface or SurfaceOptions()).kernel()

    @property
    def gap(self) -> int:
        """Tokens that may stand between adjacent units."""
        return (self.adjacent or AdjacentOptions()).gap

    @property
    def text_unit(self) -> Literal["sentence", "paragraph", "document"]:
        """The part of a text that has to be looked at whole."""
        return (
            (self.textual or TextualOptions()).within if self.relation == "textual" else "sentence"
        )

    @property
    def relational(self) -> bool:
        """Whether the marginals are taken over the pair tokens."""
        own = self.relation == "surface" and self.span.count != "windows"
        return not own and self.relation != "textual"

    @property
    def by_node(self) -> bool:
        """Whether f counts nodes, and so can exceed f2."""
        return self.relation == "surface" and self.span.count == "nodes"
