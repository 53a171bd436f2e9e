"""Options that describe tuples: units that follow each other, or pairs taken apart."""

from __future__ import annotations

from pydantic import Field, model_validator

from pipeline.kernels.cooccurrence.tuples import elements
from pipeline.kernels.cooccurrence.units import Unit
from pipeline.stages.collocations.relations import RelationOptions
from pipeline.stages.collocations.units import UnitOptions
from schemas.tuples import MOST


class ElementsOptions(UnitOptions):
    """Which tokens are units, and which elements of a tuple they contribute."""

    labels: tuple[str, ...] = ()
    """Templates, an element of the tuple each; label alone if not given."""

    @model_validator(mode="after")
    def _one_of_two(self) -> ElementsOptions:
        if self.labels and "label" in self.model_fields_set:
            raise ValueError("give either label or labels")
        return self

    @property
    def templates(self) -> tuple[str, ...]:
        """The templates of all elements."""
        return self.labels or (self.label,)


class TupleOptions(RelationOptions):
    """What makes a tuple."""

    length: int | None = Field(default=None, ge=2, le=MOST)
    """Units that follow each other in a sentence, so many of them; relation = "adjacent"."""
    unit: UnitOptions | None = None
    """What may stand at each of these positions; any token's lemma if not given."""
    positions: tuple[UnitOptions, ...] | None = Field(default=None, min_length=2, max_length=MOST)
    """In place of length and unit: what may stand at each position, one by one."""
    left: ElementsOptions | None = None
    """In place of length: the left units of pairs, by any relation; their elements come first."""
    right: ElementsOptions | None = None
    """The right units of the pairs."""

    @model_validator(mode="after")
    def _one_way(self) -> TupleOptions:
        ways = [self.length, self.positions, self.left or self.right]
        if sum(way is not None for way in ways) != 1:
            raise ValueError("give one of length, positions, or left and right")
        if self.unit and not self.length:
            raise ValueError("unit = {...} goes with length")
        if (self.left is None) != (self.right is None):
            raise ValueError("left and right go together")
        if not self.left and self.relation != "adjacent":
            raise ValueError('length and positions go with relation = "adjacent"')
        if not self.relational:
            raise ValueError(
                f'relation = "{self.relation}" has marginals of its own, which tuples have not;'
                ' surface = { count = "windows" } would do'
            )
        if self.size > MOST:
            raise ValueError(f"{self.size} elements; at most {MOST} are possible")
        return self

    @property
    def sides(self) -> dict[str, UnitOptions]:
        """The units by the option that describes them."""
        if self.left and self.right:
            return {"left": self.left, "right": self.right}
        if self.positions:
            return {f"positions.{i}": each for i, each in enumerate(self.positions)}
        return {"unit": self.unit or UnitOptions()}

    @property
    def size(self) -> int:
        """How many elements a tuple has."""
        if self.left and self.right:
            return len(self.left.templates) + len(self.right.templates)
        return len(self.positions) if self.positions else self.length or 0

    @property
    def elements(self) -> list[str]:
        """The columns of the elements."""
        return elements(self.size)

    def kernels(self, stop_words: list[str]) -> list[Unit]:
        """Return the units of all positions, or of the two sides, for the kernels."""
        units = [each.kernel(stop_words) for each in self.sides.values()]
        return units * (self.length or 1)

    def attributes(self) -> dict[str, set[str]]:
        """Return the attributes that each option uses."""
        used = {
            f"{side}.{option}": names
            for side, each in self.sides.items()
            for option, names in each.columns().items()
        }
        if self.dependency:
            ours = self.dependency.columns().items()
            used |= {f"dependency.{option}": names for option, names in ours}
        return used
