from __future__ import annotations

import polars as pl
import pytest

from pipeline.remarks.base import Remark
from tests.remarks.run_check import run_check

ENTRIES = {"system": pl.String, "run": pl.String, "item": pl.String, "f": pl.Int64}


def gold(**f: int) -> pl.DataFrame:
    return pl.DataFrame({"item": list(f), "f": list(f.values())})


def entries(run: str, **f: int | None) -> pl.DataFrame:
    rows = [("brown", run, item, number) for item, number in f.items()]
    return pl.DataFrame(rows, schema=ENTRIES, orient="row")


def remarks_on(name: str, known: pl.DataFrame, *systems: pl.DataFrame) -> list[Remark]:
    inputs = {"gold": known} | {f"systems.{i}": each for i, each in enumerate(systems)}
    return run_check(name, inputs=inputs)


def test_types_without_a_cluster_are_reported_by_frequency() -> None:
    known = gold(**{f"w{i}": i + 1 for i in range(10)})
    (remark,) = remarks_on("without_cluster", known, entries("1", **{f"w{i}": 1 for i in range(8)}))
    assert "2 of 10 gold types (20%) have no cluster in brown" in remark.text
    assert remark.such_as == ("'w9'", "'w8'")
    assert remark.level == "note"
    assert not remarks_on("without_cluster", known, entries("1", **{f"w{i}": 1 for i in range(10)}))


def test_each_run_is_reported_by_its_name() -> None:
    both = pl.concat([entries("1", a=1, b=1), entries("2", a=1)])
    (remark,) = remarks_on("without_cluster", gold(a=1, b=1), both)
    assert "brown (2)" in remark.text


def test_most_types_without_a_cluster_is_a_warning() -> None:
    (remark,) = remarks_on("without_cluster", gold(a=1, b=1), entries("1", a=1))
    assert remark.level == "warning"


def test_clusters_counted_on_another_text_are_reported() -> None:
    known = gold(**{f"w{i}": i + 2 for i in range(30)})
    other = entries("1", **{f"w{i}": 2 * i + 1 for i in range(30)})
    (remark,) = remarks_on("other_text", known, other)
    # The counts i + 2 and 2 i + 1 are equal for i = 1 alone.
    assert remark.numbers == {"equal": 1, "types": 30}
    assert remark.such_as[0] == "'w29': 31 and 59"


def test_equal_or_missing_counts_cause_no_remark() -> None:
    counts = {f"w{i}": i + 2 for i in range(30)}
    assert not remarks_on("other_text", gold(**counts), entries("1", **counts))
    assert not remarks_on("other_text", gold(**counts), entries("1", **dict.fromkeys(counts)))
    assert not remarks_on("other_text", gold(**dict.fromkeys(counts, 1)), entries("1", **counts))


def test_a_gold_with_one_class_per_type_is_reported() -> None:
    one = pl.DataFrame({"item": [f"w{i}" for i in range(60)]})
    (remark,) = run_check("one_class_each", use="extract.gold_table", outputs={"entries": one})
    assert "each of the 60 gold types" in remark.text
    several = pl.concat([one, one.head(1)])
    assert not run_check("one_class_each", use="extract.gold_table", outputs={"entries": several})
    assert not run_check(
        "one_class_each", use="extract.gold_table", outputs={"entries": one.head(9)}
    )


def test_the_gold_of_a_tagging_is_read_from_its_gold_table() -> None:
    one = pl.DataFrame({"item": [f"w{i}" for i in range(60)]})
    outputs = {"gold": pl.concat([one, one]), "entries": one}
    assert not run_check("one_class_each", use="extract.tagging", outputs=outputs)


def test_types_that_differ_only_in_case_are_reported() -> None:
    items = pl.DataFrame({"item": ["The", "the", "Der", "der", "Anna", "is"]})
    (remark,) = run_check("upper_case_twins", outputs={"entries": items}, fold=False)
    assert remark.numbers == {"twins": 2, "types": 6}
    assert remark.such_as == ("'Der' and 'der'", "'The' and 'the'")
    assert not run_check("upper_case_twins", outputs={"entries": items}, fold=True)
    names = pl.DataFrame({"item": ["Anna", "Ben", "is"]})
    assert not run_check("upper_case_twins", outputs={"entries": names}, fold=False)


def labels(*clusters: str, column: str = "cluster") -> list[Remark]:
    rows = [("d", "r", f"w{n}", each) for n, each in enumerate(clusters)]
    result = pl.DataFrame(rows, schema=["system", "run", "item", "cluster"], orient="row")
    columns = {} if column == "cluster" else {"cluster": column}
    return run_check("continuous_labels", outputs={"entries": result}, columns=columns)


def test_measurements_as_cluster_labels_have_a_warning() -> None:
    (remark,) = labels(*(f"{n / 7:.6f}" for n in range(1, 501)), column="score")
    assert remark.text.startswith(
        "column 'score' of d has 429 distinct numbers with decimals among"
    )
    assert remark.level == "warning"
    assert len(remark.such_as) == 3


def test_whole_numbers_and_few_labels_are_not_measurements() -> None:
    assert not labels(*(f"{n}.0" for n in range(500)))
    assert not labels(*map(str, range(500)))
    assert not labels(*(f"0.{n % 9}" for n in range(500)))
    assert not labels(*(f"{n}.5" for n in range(10)))


def test_a_noise_label_that_does_not_occur_is_reported() -> None:
    def remarks_on_noise(*noisy: int) -> list[Remark]:
        rows = [("d", f"r{n}", "noise items, excluded", count) for n, count in enumerate(noisy)]
        sizes = pl.DataFrame(rows, schema=["system", "run", "what", "count"], orient="row")
        return run_check("absent_noise", outputs={"sizes": sizes}, noise=("-1",))

    (remark,) = remarks_on_noise(0, 0)
    assert remark.text == "no item has the noise label '-1'"
    assert not remarks_on_noise(0, 3)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (["0", "1", "-1", "-1"], "2 items of d have the label -1 beside clusters"),
        (["-1", "2", "7"], "1 item of d has the label -1 beside clusters"),
        (["-1", "1"], ""),
        (["-1", "-2", "0", "1"], ""),
        (["-1", "a", "0", "1"], ""),
        (["0", "1", "2"], ""),
    ],
)
def test_undeclared_noise_labels_are_reported(clusters: list[str], message: str) -> None:
    rows = [("d", "1", f"w{number}", label) for number, label in enumerate(clusters)]
    entries = pl.DataFrame(rows, schema=["system", "run", "item", "cluster"], orient="row")
    remarks = run_check("undeclared_noise", outputs={"entries": entries})
    assert [each.text[: len(message)] for each in remarks] == ([message] if message else [])
