"""The options of a graph of n-best lists, and how further graphs take over those of the view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from pipeline.report.view import Styled

Kind: TypeAlias = Literal["precision", "recall", "precision_by_recall", "local", "cut"]
"""What is drawn."""


class Curves(Styled):
    """Curves against n."""

    measures: tuple[str, ...] = ()
    """The lines, in this order; all measures if empty, the twelve best if there are more."""
    bands: tuple[str, ...] = ()
    """Measures whose confidence limits are shaded."""
    cuts: tuple[int, ...] | None = None
    """Values of n for the vertical lines and the table; the stage's own by default."""
    first_n: int | None = None
    """Smallest n of the graph; 100 by default, a twentieth of a list shorter than 2,000, all of
    the local precision."""
    last_n: int | None = None
    """Largest n of the graph; all by default."""
    y_min: float | None = None
    """Lower end of the y axis in per cent; 0 by default."""
    y_max: float | None = None
    """Upper end of the y axis in per cent."""
    truth: str | None = None
    """Another stage of kind evaluate.precision, whose curves are drawn thin."""


class Graph(Curves):
    """One graph of n-best lists."""

    kind: Kind = "precision"
    """``precision`` or ``recall`` against n, ``precision_by_recall``, ``local`` precision in a
    window of ranks, or ``cut``: precision by recall within the lists of the stage's ``cut``."""
    name: str | None = None
    """Name of the picture's files; the kind by default."""
    subsets: tuple[str, ...] = ()
    """Stages of kind evaluate.subset, whose sets are drawn as dots with intervals."""
    comparison: str | None = None
    """A stage of kind evaluate.comparison that holds the pair of ``marks``."""
    marks: tuple[str, str] | None = None
    """Two measures: triangles show where they differ significantly at that n."""


OF_PRECISION = ("comparison", "marks", "subsets")
"""What only a graph of precision has."""
OF_AXES = ("y_min", "y_max", "first_n", "name")
"""What fits one kind of graph and not another."""


def resolved(view: Graph, further: tuple[Graph, ...]) -> Iterator[tuple[str, Graph]]:
    """Yield each graph with its place among the options: the view's own, then the further ones.

    What a further graph does not give is as in the view; a graph of another kind takes over no
    range of its axes, and only one of precision has subsets and marks.
    """
    own = Graph.model_validate({k: getattr(view, k) for k in view.model_fields_set & _NAMES})
    slots = view.look.slots
    yield "", own.coloured(slots)
    for index, graph in enumerate(further):
        left = {"name"}
        if graph.kind != own.kind:
            left |= {*OF_AXES, *(() if graph.kind == "precision" else OF_PRECISION)}
        taken = {name: getattr(own, name) for name in own.model_fields_set - left}
        set_here = {name: getattr(graph, name) for name in graph.model_fields_set}
        # A graph says its kind, or is one of precision: it never takes over the view's.
        whole = Graph.model_validate({**taken, "kind": graph.kind, **set_here})
        yield f"graphs.{index}.", whole.coloured(slots)


_NAMES = set(Graph.model_fields)
