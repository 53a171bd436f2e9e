from __future__ import annotations

import polars as pl

from tests.remarks.listening import hear


def ids(number: int) -> pl.DataFrame:
    return pl.DataFrame({"id": [f"x{i}" for i in range(number)]}, schema={"id": pl.String})


def sample(number: int) -> pl.DataFrame:
    return ids(number).with_columns(multiplicity=pl.lit(1, pl.Int64))


def test_fewer_drawn_than_asked() -> None:
    inputs, outputs = {"candidates": ids(79)}, {"sample": sample(79)}
    (told,) = hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=100)
    assert told.level == "note"
    assert told.text == "79 of the 100 draws that were asked for: there are 79 candidates"


def test_as_many_as_asked_or_by_rate_is_nothing_to_tell() -> None:
    inputs, outputs = {"candidates": ids(79)}, {"sample": sample(79)}
    for size in (79, None):
        assert not hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=size)


def test_draws_count_as_often_as_they_were_drawn() -> None:
    outputs = {"sample": sample(50).with_columns(multiplicity=pl.lit(2, pl.Int64))}
    inputs = {"candidates": ids(50)}
    assert not hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=100)


def test_without_candidates_it_is_for_others_to_say() -> None:
    inputs, outputs = {"candidates": ids(0)}, {"sample": sample(0)}
    assert not hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=9)


def test_strata_that_are_smaller_than_their_samples() -> None:
    outputs = {"sample": sample(30), "strata": ids(60)}
    (told,) = hear("few_drawn", use="sample.stratified", outputs=outputs, sizes=(20, 20))
    assert "30 of the 40 draws" in told.text
    assert "60 candidates, in strata that are smaller" in told.text


def test_a_designed_sample_of_more_than_there_is() -> None:
    outputs = {"sample": sample(60), "inclusion": ids(60)}
    (told,) = hear("few_drawn", use="sample.design", inputs={}, outputs=outputs, size=100)
    assert told.text == "60 of the 100 draws that were asked for: there are 60 candidates"
    inputs = {"pilot": ids(10)}  # what was judged before is in the sample, too
    outputs = {"sample": sample(50), "inclusion": ids(60)}
    assert not hear("few_drawn", use="sample.design", inputs=inputs, outputs=outputs, size=40)


def test_a_pool_says_how_much_it_leaves_out() -> None:
    ranks = ids(200).with_columns(measure=pl.lit("mi"))
    inputs, outputs = {"ranks": ranks}, {"candidates": ids(150)}
    (told,) = hear("pool_leaves_out", inputs=inputs, outputs=outputs, depth=100)
    assert "150 of 200 candidates and leaves out 25%" in told.text
    assert "conditional" not in told.text
    assert not hear("pool_leaves_out", inputs=inputs, outputs={"candidates": ids(195)}, depth=190)


def questions(*widths: float) -> pl.DataFrame:
    """Return questions q0, q1, ... of these widths; from a simple sample all have .1."""
    return pl.DataFrame(
        {"question": [f"q{i}" for i in range(len(widths))], "half_width": widths}
    ).with_columns(simple_half_width=0.1, worse=pl.col("half_width") > 0.1001)


def test_questions_that_do_worse_are_named_the_worst_first() -> None:
    outputs = {"questions": questions(0.11, 0.05, 0.13)}
    (told,) = hear("does_worse", use="sample.design", outputs=outputs)
    assert told.text == (
        "2 of 3 questions will have wider intervals than from a simple sample of as many labels:"
        " q2 (1.30 times as wide), q0 (1.10 times as wide)"
    )
    assert told.level == "note"


def test_no_question_does_worse() -> None:
    for widths in ((0.1, 0.0), ()):
        assert not hear(
            "does_worse", use="sample.design", outputs={"questions": questions(*widths)}
        )
