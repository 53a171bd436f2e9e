"""What a further graph takes over from the view's own."""

from __future__ import annotations

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.report.charts.style import Window
from pipeline.report.views.collocations import graphs
from pipeline.report.views.collocations.graphs import Graph, resolve_graphs
from pipeline.report.views.collocations.precision import PrecisionView

VIEW = PrecisionView(
    measures=("a", "b"), bands=("a",), y_max=60.0, first_n=50, comparison="tests", marks=("a", "b"),
    subsets=("filter",), truth="full", name="own", category="TP",
)  # fmt: skip


def further(**options: object) -> Graph:
    graph = Graph.model_validate(options)
    return list(resolve_graphs(VIEW, (graph,)))[1][1]


def test_the_view_s_own_graph_comes_first() -> None:
    (place, own), (second, _) = resolve_graphs(VIEW, (Graph(),))
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
    (_, own), (_, graph) = resolve_graphs(view, (Graph(),))
    assert (own.kind, graph.kind) == ("recall", "precision")
    assert (graph.measures, graph.y_max) == (("a",), None)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError, match="graphs.0.kind"):
        PrecisionView.model_validate({"graphs": [{"kind": "histogram"}]})
    with pytest.raises(ValidationError, match="graphs.0.category"):
        PrecisionView.model_validate({"graphs": [{"category": "TP"}]})


# --- The rows of a table by n that a graph needs, of few lists and of many.


@pytest.mark.parametrize("size", [1, 2, 401, 1000, 3001])
@pytest.mark.parametrize("first", [1, 7])
def test_many_lists_are_thinned_as_few_are(
    size: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = pl.DataFrame({"n": [*range(1, first + size)] * 2, "measure": "mi"}).lazy()
    window, always = Window(first_n=first), [first + size // 3, 10_000]
    few = graphs.thin_rows(every, window, always=always).collect()
    monkeypatch.setattr(graphs, "MANY_LISTS", 800)
    many = graphs.thin_rows(every, window, always=always).collect()
    assert many.equals(few)
