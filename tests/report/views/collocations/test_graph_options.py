"""What a further graph takes over from the view's own."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pipeline.report.views.collocations.graphs import Graph, resolved
from pipeline.report.views.collocations.precision import PrecisionView

VIEW = PrecisionView(
    measures=("a", "b"), bands=("a",), y_max=60.0, first_n=50, comparison="tests", marks=("a", "b"),
    subsets=("filter",), truth="full", name="own", category="TP",
)  # fmt: skip


def further(**options: object) -> Graph:
    graph = Graph.model_validate(options)
    return list(resolved(VIEW, (graph,)))[1][1]


def test_the_view_s_own_graph_comes_first() -> None:
    (place, own), (second, _) = resolved(VIEW, (Graph(),))
    assert (place, second) == ("", "graphs.0.")
    assert own == Graph(
        measures=("a", "b"), bands=("a",), y_max=60.0, first_n=50, comparison="tests",
        marks=("a", "b"), subsets=("filter",), truth="full", name="own",
    )  # fmt: skip


def test_a_graph_of_the_same_kind_takes_over_all_but_the_name() -> None:
    graph = further(style="print", first_n=400)
    assert (graph.style, graph.first_n, graph.y_max, graph.marks) == (
        "print",
        400,
        60.0,
        ("a", "b"),
    )
    assert graph.name is None


def test_a_graph_of_another_kind_has_its_own_axes_and_no_marks() -> None:
    graph = further(kind="recall")
    assert (graph.measures, graph.bands, graph.truth) == (("a", "b"), ("a",), "full")
    assert (graph.y_max, graph.first_n, graph.name) == (None, None, None)
    assert (graph.marks, graph.comparison, graph.subsets) == (None, None, ())


def test_a_further_graph_of_precision_after_a_view_of_recall() -> None:
    view = PrecisionView(kind="recall", measures=("a",), y_max=90.0)
    (_, own), (_, graph) = resolved(view, (Graph(),))
    assert (own.kind, graph.kind) == ("recall", "precision")
    assert (graph.measures, graph.y_max) == (("a",), None)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError, match="graphs.0.kind"):
        PrecisionView.model_validate({"graphs": [{"kind": "histogram"}]})
    with pytest.raises(ValidationError, match="graphs.0.category"):
        PrecisionView.model_validate({"graphs": [{"category": "TP"}]})
