"""People are added, stopped and get cards of others, without loss of answers or annotators."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.annotate import people
from pipeline.annotate.estimates import count_items
from pipeline.annotate.exchange.transfer import export_tasks
from pipeline.annotate.people import (
    Reassignment,
    add,
    find_member,
    members,
    reassign,
    resume,
    revoke,
    stop,
)
from pipeline.annotate.records import FinishedPart, add_decisions, asked_tasks
from pipeline.annotate.sync import counted_answers, import_sheets
from pipeline.annotate.tasks import SheetWork, refresh
from pipeline.api.results import open_run
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import (
    NAME,
    Decision,
    Outcome,
    TaskRequest,
    append,
    given_cards,
    open_log,
    update_tasks,
)
from pipeline.formats.annotation_rows import (
    DecisionOptions,
    current_options,
    digest,
    scan_annotation,
    transfer_rows,
)
from pipeline.kernels.annotation.sheets import reassign as reassign_rows
from pipeline.runner.delivery import progress
from pipeline.stages.collocations.sheets import JoinSheets, join_sheets
from tests.annotate.office import Office, build_office
from tests.annotate.served import ask, say, work_in

ITEMS = [f"x{n}" for n in range(6)]
LABELS = ("SVC", "free")


@pytest.fixture
def work(tmp_path: Path) -> SheetWork:
    work = work_in(tmp_path)
    ask(work, "ana", "ben", ids=["x0", "x1", "x2"])
    return work


@pytest.fixture
def log(work: SheetWork) -> Iterator[sqlite3.Connection]:
    with open_log(work.database) as connection:
        yield connection


def cards(log: sqlite3.Connection, who: str) -> list[str]:
    return sorted(item for item, whose in asked_tasks(log) if whose == who)


def test_members_are_annotators_then_added_people_then_third_persons(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    add(log, work, " Dora  Eck ")
    ask(work, "carla", "ana", ids=["x0"], round_name="adjudication")
    names = [(each.name, each.role, each.stopped) for each in members(log, work)]
    assert names == [
        ("ana", "annotator", False), ("ben", "annotator", False),
        ("Dora Eck", "annotator", False), ("carla", "adjudicator", False),
    ]  # fmt: skip
    assert find_member(log, work, "DORA eck").person.name == "Dora Eck"


def test_links_can_be_revoked_repeatedly_and_stopping_keeps_them(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    assert [revoke(log, work, "ana").generation for _ in range(2)] == [1, 2]
    assert stop(log, work, "ana").person.generation == 2
    assert resume(log, work, "ana").stopped is False
    assert [each.generation for each in members(log, work)] == [2, 0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ANA", "ana is an annotator of this work already"),
        ("Carla", "carla is an adjudicator of this work already"),
        ("a\tb\x07", "contains a control character"),
        ("x" * 201, "a name of 201 characters is too long"),
    ],
)
def test_people_that_cannot_be_added_are_refused(
    work: SheetWork, log: sqlite3.Connection, name: str, message: str
) -> None:
    ask(work, "carla", ids=["x0"], round_name="adjudication")
    with pytest.raises(ConfigError, match=message):
        add(log, work, name)
    assert log.execute("SELECT count(*) FROM people").fetchone()[0] == 0


def test_decisions_of_a_person_who_has_stopped_are_refused(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    say(work, "ana", "x0", "SVC")
    stop(log, work, "ana")
    for kind in ("label", "skip", "undo"):
        decision = Decision(f"late-{kind}", "ana", "x1", kind, answer=None)
        assert add_decisions(log, [decision]) == [FinishedPart("x1")]
    assert "You are finished: thank you" in FinishedPart("x1").message
    sheet = Decision("of-a-sheet", "ana", "x1", "import", answer="free", source="001-ana.csv")
    (outcome,) = add_decisions(log, [sheet])
    assert isinstance(outcome, Outcome)
    assert outcome.status == "saved"
    resume(log, work, "ana")
    assert add_decisions(log, [Decision("again-ana", "ana", "x2", answer="free")])[
        0
    ] != FinishedPart("x2")


def test_open_cards_are_spread_evenly_over_eligible_people(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    say(work, "ana", "x0", "SVC")
    say(work, "ana", "x1", "", kind="skip")
    for name in ("carla", "dan"):
        add(log, work, name)
    outcome = reassign(log, work, "ana", ["ben", "carla", "dan"])
    assert outcome == Reassignment("ana", {"ben": 0, "carla": 1, "dan": 1}, {})
    assert str(outcome) == "1 open card of ana is now carla's. 1 open card of ana is now dan's."
    assert cards(log, "ana") == ["x0"]
    assert cards(log, "carla") + cards(log, "dan") == ["x2", "x1"]
    assert sorted(each.annotator for each in given_cards(log).values()) == ["ana", "ana"]


def test_a_number_of_cards_is_taken_from_the_end(work: SheetWork, log: sqlite3.Connection) -> None:
    add(log, work, "carla")
    assert reassign(log, work, "ana", ["carla"], cards=1).recipients == {"carla": 1}
    assert (cards(log, "ana"), cards(log, "carla")) == (["x0", "x1"], ["x2"])


def test_cards_that_cannot_be_reassigned_are_counted_with_reasons(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    with pytest.raises(ConfigError, match=r"no card can be given: 3 that ben already has"):
        reassign(log, work, "ana", ["ben"])
    add(log, work, "carla")
    outcome = reassign(log, work, "ana", ["carla"], answered=[("Ana", "x1")])
    assert str(outcome) == (
        "2 open cards of ana are now carla's. 1 stays with ana: 1 answered on a sheet."
    )
    stop(log, work, "carla")
    for sender, taker, message in (
        ("ben", "carla", "carla can no longer answer; let carla continue first"),
        ("ben", "Ben", "ben has these cards already"),
        ("ben", "eva", "'eva' is nobody's name"),
    ):
        with pytest.raises(ConfigError, match=message):
            reassign(log, work, sender, [taker])
    assert reassign(log, work, "carla", ["ana"]).recipients == {"ana": 2}  # given back
    assert given_cards(log) == {}


def test_a_person_who_had_an_item_does_not_get_it_from_another(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    add(log, work, "carla")
    reassign(log, work, "ana", ["carla"])
    with pytest.raises(ConfigError, match="3 that ana already has"):
        reassign(log, work, "ben", ["ana"])


def test_a_late_answer_takes_a_reassigned_card_back(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    add(log, work, "carla")
    add(log, work, "dan")
    reassign(log, work, "ana", ["carla"])
    reassign(log, work, "carla", ["dan"], cards=2)  # x2, x1
    say(work, "dan", "x1", "SVC")
    assert say(work, "ana", "x0", "SVC").status == "saved"
    assert say(work, "ana", "x2", "SVC", kind="skip").status == "unknown"
    assert say(work, "ana", "x2", "SVC").status == "saved"  # after two reassignments
    assert say(work, "ana", "x1", "free").status == "unknown"  # dan answered first
    assert say(work, "carla", "x0", "free").status == "unknown"
    assert (cards(log, "ana"), cards(log, "carla"), cards(log, "dan")) == (["x0", "x2"], [], ["x1"])
    assert say(work, "ana", "x1", "free", kind="import", source="001-ana.csv").status == "saved"


def test_reassigned_cards_keep_the_order_of_their_first_person(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    """A skipped card that was reassigned still comes before the later cards of the first person."""
    say(work, "ana", "x0", "", kind="skip")
    for who in ("ana", "ben"):
        for item in ("x1", "x2"):
            say(work, who, item, "SVC")
    say(work, "ben", "x0", "SVC")
    add(log, work, "carla")
    reassign(log, work, "ana", ["carla"])
    assert count_items(log).order == ()
    say(work, "carla", "x0", "free")
    assert count_items(log).order == ("x1", "x2", "x0")


# Effects on digests, runs and sheets


def test_the_digest_changes_only_with_a_reassignment(
    work: SheetWork, log: sqlite3.Connection
) -> None:
    before, options = digest(work.database, DecisionOptions()), current_options(work.database)
    add(log, work, "carla")
    stop(log, work, "ben")
    revoke(log, work, "ben")
    assert digest(work.database, DecisionOptions()) == before
    reassign(log, work, "ana", ["carla"], cards=1)
    assert digest(work.database, DecisionOptions()) != before
    assert digest(work.database, options) == before  # the state that a run began with
    assert transfer_rows(work.database, options).is_empty()
    assert transfer_rows(work.database, DecisionOptions()).rows() == [(1, "carla", "x2", "ana")]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return build_office(tmp_path)


def test_a_run_waits_for_and_counts_answers_to_reassigned_cards(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    with open_log(work.database) as log:
        add(log, work, "Carla")
        stop(log, work, "anna")
        reassign(log, work, "anna", ["carla"])
    (wait,) = office.run().waits
    assert wait.missing == 6
    assert wait.whose == {"Carla": 3, "ben": 3}
    for who in ("Carla", "ben"):
        office.decide(work, *(Decision(f"{who}-{n}-key", who, each, answer="SVC")
                              for n, each in enumerate(ids)))  # fmt: skip
    finished = office.run()
    assert not finished.waits
    annotations = finished.table("judged.annotations")
    assert sorted(set(annotations["annotator"])) == ["Carla", "ben"]
    assert finished.table("judged").height == 3


def test_sheets_hold_the_cards_that_each_person_has_now(office: Office) -> None:
    work = office.work()
    with open_log(work.database) as log:
        add(log, work, "carla")
        reassign(log, work, "anna", ["carla"], cards=2)
    office.run()
    sheets = {who: pl.read_csv(path) for who, path in office.sheets().items()}
    assert {who: rows.height for who, rows in sheets.items()} == {"anna": 1, "ben": 3, "carla": 2}
    assert export_tasks(office.work(), office.config.parent / "t.json", "label-studio")[0] == 6
    office.run()  # nothing is written twice
    assert len(office.sheets()) == 3
    (one,) = sheets["anna"]["id"]
    office.label("anna", {one: "free"})
    assert counted_answers(work) == {("anna", one)}
    import_sheets(work)
    again = office.work("carla")
    assert again.annotators == ("carla",)
    with open_log(work.database) as log:
        assert Counter(who for _, who in asked_tasks(log)) == {"anna": 1, "ben": 3, "carla": 2}


def test_an_old_sheet_takes_an_unanswered_card_back(office: Office) -> None:
    office.run()
    work = office.work()
    with open_log(work.database) as log:
        add(log, work, "carla")
        reassign(log, work, "anna", ["carla"], cards=2)
        mine = cards(log, "carla")
    office.decide(work, Decision("of-carla", "carla", mine[0], answer="free"))
    office.label("anna", dict.fromkeys(mine, "SVC"))
    assert counted_answers(work) == {("carla", mine[0]), *(("anna", each) for each in mine)}
    work = office.work()
    import_sheets(work)
    with open_log(work.database) as log:
        assert cards(log, "carla") == mine[:1]
        assert mine[1] in cards(log, "anna")
    counts = progress(work.project, open_run(work.project).manifests)
    assert {each.annotator: (each.asked, each.done) for each in counts} == {
        "anna": (2, 1), "ben": (3, 0), "carla": (1, 1),
    }  # fmt: skip


def test_a_changed_experiment_keeps_valid_reassignments(office: Office) -> None:
    work = office.work()
    with open_log(work.database) as log:
        for name in ("carla", "dan"):
            add(log, work, name)
        reassign(log, work, "anna", ["carla"], cards=2)
        reassign(log, work, "ben", ["dan"], cards=1)
    text = office.config.read_text().replace('["anna", "ben"]', '["anna", "carla"]')
    office.config.write_text(text)
    work = office.work()
    with open_log(work.database) as log:  # carla has all items herself; nobody has ben's
        assert Counter(who for _, who in asked_tasks(log)) == {"anna": 3, "carla": 3}


# Random sequences of acts

PEOPLE = ("ana", "ben", "carla", "dan")
ACT = st.one_of(
    st.tuples(st.just("answer"), st.sampled_from(PEOPLE), st.sampled_from(ITEMS),
              st.sampled_from(LABELS)),
    st.tuples(st.just("undo"), st.sampled_from(PEOPLE)),
    st.tuples(st.sampled_from(("stop", "resume", "add")), st.sampled_from(PEOPLE)),
    st.tuples(st.just("reassign"), st.sampled_from(PEOPLE),
              st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=2, unique=True),
              st.integers(1, 6)),
)  # fmt: skip


def perform(log: sqlite3.Connection, work: SheetWork, number: int, act: tuple[Any, ...]) -> None:
    what, who, *rest = act
    try:
        if what == "answer":
            add_decisions(log, [Decision(f"key-{number:08}", who, rest[0], answer=rest[1])])
        elif what == "undo":
            add_decisions(log, [Decision(f"key-{number:08}", who, "", "undo")])
        elif what == "reassign":
            reassign(log, work, who, rest[0], cards=rest[1])
        else:
            people.ACTS[what](log, work, who)
    except ConfigError:
        pass  # the person is unknown, has stopped, or has the cards


def sheet_of(work: SheetWork) -> pl.DataFrame:
    """Return the table of sheets: ana has all items, ben the first four."""
    rows = [("ana", n, each, "l", "r") for n, each in enumerate(ITEMS, 1)]
    rows += [("ben", n, each, "l", "r") for n, each in enumerate(ITEMS[:4], 1)]
    names = ("annotator", "order", "id", "l1", "l2")
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.mark.long
@given(st.lists(ACT, max_size=25))
def test_no_answer_is_lost_and_every_item_keeps_its_annotators(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[Any, ...]]
) -> None:
    work = work_in(tmp_path_factory.mktemp("people"), annotators=("ana", "ben"))
    sheet = sheet_of(work)
    with open_log(work.database) as log:
        asked_first = [TaskRequest(who, each, n) for who, n, each, *_ in sheet.iter_rows()]
        update_tasks(log, {each: {"units": {"l1": "l", "l2": "r"}} for each in ITEMS}, asked_first)
        for number, act in enumerate(acts):
            before = set(log.execute("SELECT annotator, id FROM tasks WHERE answered = 1"))
            perform(log, work, number, act)
            after = set(log.execute("SELECT annotator, id FROM tasks WHERE answered = 1"))
            assert act[0] == "undo" or {tuple(row) for row in before} <= {
                tuple(row) for row in after
            }
            requests = asked_tasks(log)
            assert len(set(requests)) == len(requests)
            assert Counter(item for item, _ in requests) == Counter(sheet["id"])
            open_or_answered = log.execute(
                "SELECT id, count(*) FROM tasks WHERE asked = 1 OR answered = 1 GROUP BY id"
            )
            assert dict(map(tuple, open_or_answered)) == Counter(sheet["id"])
        tasks = set(asked_tasks(log))
    moved = reassign_rows(sheet.lazy(), transfer_rows(work.database, DecisionOptions()).lazy())
    assert set(moved.select("id", "annotator").collect().iter_rows()) == tasks
    assert join_tables(work, sheet, transfers=True) == join_tables(
        work, moved.collect(), transfers=False
    )


def join_tables(work: SheetWork, sheet: pl.DataFrame, *, transfers: bool) -> dict[str, list[Any]]:
    """Return the tables of the join, from the log with transfers or from another sheet."""
    config = JoinSheets(
        sheet="sheet", labels="sheet.labels", folder="desk", categories={"TP": ("SVC",)},
        partial=True, former=() if transfers else PEOPLE[2:],
    )  # fmt: skip
    entries = scan_annotation(work.database, DecisionOptions()).with_columns(file=pl.lit("log"))
    if transfers:
        rows = transfer_rows(work.database, DecisionOptions()).with_columns(file=pl.lit("log"))
        entries = pl.concat([entries, rows.lazy()], how="diagonal")
    outputs = join_sheets(config, {
        "sheet": sheet.lazy(), "labels": pl.LazyFrame({"label": LABELS}), "folder": entries,
    })  # fmt: skip
    assert isinstance(outputs, Mapping)
    tables = {name: table.lazy().collect() for name, table in outputs.items()}
    return {name: sorted(map(repr, table.rows())) for name, table in tables.items()}


def test_refreshed_tasks_are_the_same(office: Office) -> None:
    work = office.work()
    with open_log(work.database) as log:
        add(log, work, "carla")
        reassign(log, work, "anna", ["carla"], cards=2)
        append(log, [Decision("a-key-of-anna", "carla", cards(log, "carla")[0], answer="free")])
        query = "SELECT annotator, id, place, asked, answered FROM tasks ORDER BY 1, 2"
        before = [tuple(row) for row in log.execute(query)]
    refresh(work, office.run().table("sheet"))
    with open_log(work.database) as log:
        assert [tuple(row) for row in log.execute(query)] == before
    assert (work.folder / NAME).is_file()
