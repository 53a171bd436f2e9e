"""Cards that measure quality are mixed with the others and never count as results."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.annotate.people import excuse, progress_of, progress_of_all
from pipeline.annotate.quality import (
    GoldItem,
    add_gold,
    add_training,
    alerts,
    assign_checks,
    quality_of_all,
    read_gold,
    repeat_cards,
    set_pass_mark,
    training_of,
)
from pipeline.annotate.records import standing_answers
from pipeline.annotate.sync import answers as exported
from pipeline.annotate.sync import sheet_rows
from pipeline.annotate.tasks import SheetWork
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import (
    Decision,
    append,
    open_log,
    upcoming,
)
from pipeline.formats.annotation_rows import (
    DecisionOptions,
    digest,
    scan_annotation,
)
from tests.annotate.served import ServedWork, ask, items, label, say, work_in

GOLD = [GoldItem({"l1": f"gold{n}", "l2": "x"}, "SVC", f"why {n}", ("ex",)) for n in range(3)]


@pytest.fixture
def work(tmp_path: Path) -> SheetWork:
    work = work_in(tmp_path)
    ask(work, "ana", "ben", contents=items(40))
    return work


def cards(work: SheetWork, who: str = "ana") -> list[str]:
    with open_log(work.database) as log:
        return [each.id for each in upcoming(log, who, most=100)]


def test_gold_items_and_repeats_do_not_change_results(work: SheetWork) -> None:
    sample = set(cards(work))
    for who in ("ana", "ben"):
        for item in sample:
            say(work, who, item, "free")
    before = digest(work.database, DecisionOptions())
    assert add_gold(work, GOLD) == (3, 0)
    repeats = repeat_cards(work, 0.2)
    assert repeats > 4
    for who in ("ana", "ben"):
        for item in cards(work, who):
            assert item not in sample
            assert len(item) == 17
            say(work, who, item, "SVC")
    assert digest(work.database, DecisionOptions()) == before
    rows = scan_annotation(work.database, DecisionOptions()).collect()
    assert set(rows["label"]) == {"free"}
    assert set(sheet_rows(work)["label"]) == {"free"}
    assert set(sheet_rows(work, history=True)["label"]) == {"free"}
    assert {each["label"] for each in exported(work)} == {"free"}
    with open_log(work.database) as log:
        assert {each.label for each in standing_answers(log)} == {"free"}
        ana, ben = quality_of_all(log)
        progress, (everybody, _) = progress_of(log, "ana"), progress_of_all(log)
        (mine,) = log.execute(
            "SELECT count(*) FROM tasks WHERE round = 'check' AND annotator = 'ana'"
        ).fetchone()
    assert (progress["asked"], progress["done"]) == (40 + mine, 40 + mine)
    assert (everybody.asked, everybody.done, everybody.open) == (40 + mine, 40 + mine, 0)
    assert (ana.gold and (ana.gold.hits, ana.gold.cases)) == (3, 3)
    assert ana.repeats is not None
    assert ben.repeats is not None
    assert (ana.repeats.hits, ana.repeats.cases + ben.repeats.cases) == (0, repeats)


def test_checks_are_spread_and_repeats_follow_their_originals(work: SheetWork) -> None:
    add_gold(work, GOLD)
    repeat_cards(work, 0.5)
    order = cards(work)
    with open_log(work.database) as log:
        rows = log.execute("SELECT id, kind, original FROM checks").fetchall()
    gold = [order.index(row["id"]) for row in rows if row["kind"] == "gold"]
    assert max(gold) - min(gold) > 1
    pairs = [
        (order.index(row["original"]), order.index(row["id"]))
        for row in rows
        if row["kind"] == "repeat" and row["id"] in order
    ]
    assert len(pairs) > 5
    assert all(later - first >= 10 for first, later in pairs)


def test_adding_checks_again_changes_nothing(work: SheetWork) -> None:
    add_gold(work, GOLD)
    count = repeat_cards(work, 0.3)
    before = cards(work)
    assert add_gold(work, GOLD) == (0, 0)
    assert repeat_cards(work, 0.3) == count
    with open_log(work.database) as log:
        assign_checks(log)
    assert cards(work) == before
    ask(work, "ana", "ben", "carla", contents=items(40))
    with open_log(work.database) as log:
        assign_checks(log)
    assert len(set(cards(work, "carla")) - set(items(40))) >= 3


def test_a_gold_pair_in_the_sample_gets_no_extra_card(work: SheetWork) -> None:
    ((item, contents),) = items(1).items()
    inside = GoldItem(contents["units"], "figurative")
    many = len(cards(work))
    assert add_gold(work, [inside]) == (1, 1)
    assert len(cards(work)) == many
    say(work, "ana", item, "figurative")
    say(work, "ben", item, "free")
    with open_log(work.database) as log:
        ana, ben = quality_of_all(log)
    assert (ana.gold and ana.gold.hits, ben.gold and ben.gold.hits) == (1, 0)
    with pytest.raises(ConfigError, match="1 of 1 pairs are in the sample"):
        add_training(work, [inside])


def test_gold_items_are_read_from_a_table(work: SheetWork, tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("l1,l2,label,explanation,example_1\nin:Rede,stehen,svc,why,Es [[steht]]\n")
    (item,) = read_gold(path, work, option="--gold")
    assert item == GoldItem({"l1": "in:Rede", "l2": "stehen"}, "SVC", "why", ("Es [[steht]]",))


def test_messages_give_the_row_number_of_the_file(work: SheetWork, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"  # without a header
    path.write_text('{"l1": "a", "l2": "b", "label": "SCV"}\n')
    with pytest.raises(ConfigError, match="row 1: label 'SCV'"):
        read_gold(path, work, option="--gold")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l1,label\na,SVC\n", "no column l2; the table has l1, label; name"),
        ("l1,l2,label\na,b,SCV\n", "row 2: label 'SCV'"),
        ("l1,l2,label\na,b,SVC\na,b,free\n", "row 3: a b occurs twice"),
        ("l1,l2,label\n,b,SVC\n", "row 2: an empty unit"),
        ("l1,l2,label\n", "has no rows"),
    ],
)
def test_invalid_tables_of_gold_items_are_refused(
    work: SheetWork, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_gold(path, work, option="--gold")


def test_training_is_repeated_until_it_is_passed(work: SheetWork) -> None:
    add_training(work, [*GOLD, GoldItem({"l1": "last", "l2": "x"}, "free")])
    set_pass_mark(work, 0.75)
    with ServedWork(work) as served:
        assert '"round":"training"' in served.get("ana").text
        refused = served.post("ana", label(cards(work)[0]))
        assert refused.status_code == 409
        query = "?round=training"
        ids = [each["id"] for each in served.get("ana", f"/cards{query}").json()["cards"]]
        assert len(ids) == 4
        reply = served.post("ana", label(ids[0], "free"), query=query).json()
        (feedback,) = reply["feedback"].values()
        assert feedback == {"correct": False, "answer": "SVC", "explanation": "why 0"}
        served.post(
            "ana", label(ids[0], "SVC", replaces=reply["outcomes"][0]["entry"]), query=query
        )
        for each in ids[1:3]:
            served.post("ana", label(each, "SVC"), query=query)
        served.post("ana", label(ids[3], "SVC"), query=query)
        state = served.get("ana", f"/training{query}").json()
        assert (state["correct"], state["asked"], state["passed"]) == (2, 4, False)
        assert '"round":"training"' in served.get("ana").text
        assert served.post_to("ana", f"/training{query}").status_code == 200
        again = [each["id"] for each in served.get("ana", f"/cards{query}").json()["cards"]]
        assert again == ids
        cards_now = served.get("ana", f"/cards{query}").json()["cards"]
        for each in cards_now:
            answer = "free" if each["id"] == ids[3] else "SVC"
            served.post("ana", label(each["id"], answer, replaces=each["version"]), query=query)
        assert served.get("ana", f"/training{query}").json()["passed"]
        assert '"round":"annotation"' in served.get("ana").text
        assert served.post("ana", label(cards(work)[0])).status_code == 200
        assert '"round":"training"' in served.get("ben").text
    with open_log(work.database) as log:
        found_ana = training_of(log, "ana")
        assert found_ana is not None
        assert (found_ana.correct, found_ana.attempts) == (4, 2)
        assert len(standing_answers(log)) == 1


def test_a_passed_training_stays_passed(work: SheetWork) -> None:
    add_training(work, GOLD)
    set_pass_mark(work, 0.6)
    with open_log(work.database) as log:
        ids = [each.id for each in upcoming(log, "ana", most=9, round_name="training")]
        append(log, [
            Decision(each, "ana", each, answer=answer, round_name="training")
            for each, answer in zip(ids, ("SVC", "SVC", "free"), strict=True)
        ])  # fmt: skip
    for change in (lambda: set_pass_mark(work, 0.9), lambda: add_training(work, GOLD[:2])):
        change()
        with open_log(work.database) as log:
            states = [training_of(log, who) for who in ("ana", "ben")]
        assert [state and state.passed for state in states] == [True, False]


def test_only_the_first_answer_counts_in_training(work: SheetWork) -> None:
    add_training(work, GOLD)
    with open_log(work.database) as log:
        ids = [each.id for each in upcoming(log, "ana", most=9, round_name="training")]
        append(log, [
            Decision("a", "ana", ids[0], answer="free", round_name="training"),
            Decision("b", "ana", ids[0], answer="SVC", round_name="training"),
        ])  # fmt: skip
        training = training_of(log, "ana")
    assert training is not None
    assert (training.done, training.correct, training.passed) == (1, 0, False)


def test_the_coordinator_can_excuse_a_person_from_training(work: SheetWork) -> None:
    add_training(work, GOLD)
    with open_log(work.database) as log:
        excuse(log, work, "ana")
        trainings = [training_of(log, who) for who in ("ana", "ben")]
    assert [each and each.passed for each in trainings] == [True, False]
    with ServedWork(work) as served:
        assert served.post("ana", label(cards(work)[0])).status_code == 200
        assert served.post("ben", label(cards(work)[0])).status_code == 409


def alert_texts(*values: object, **more: object) -> list[str]:
    return [str(each) for each in alerts(*values, **more)]  # type: ignore[arg-type]


def test_alerts_report_runs_of_one_label_and_fast_decisions() -> None:
    steady = [("a", 2.0), ("b", 3.0), ("c", 2.5)] * 20
    assert alert_texts(steady) == []
    assert alert_texts([("a", 2.0)] * 30) == []  # without expected shares this is not unusual
    assert alert_texts([("a", 2.0)] * 30, {"a": 0.3, "b": 0.7}) == [
        "the last 30 answers are all a."
    ]
    assert alert_texts([("a", 2.0)] * 30, {"a": 0.95, "b": 0.05}) == []
    assert alert_texts([("a", 0.5), ("b", 5.0)] * 10) == [
        "10 of the last 20 decisions took less than 1 second."
    ]
    assert alert_texts([]) == []
