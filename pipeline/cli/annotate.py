"""``annotate``: judge in the browser, and export the judgements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from pipeline.annotate import quality, sync
from pipeline.annotate.exchange.tools import TOOLS
from pipeline.annotate.tasks import SheetWork, log_of, open_work
from pipeline.cli.options import DEFAULT_RUNS, Config, Data, Runs, split_names
from pipeline.errors import ConfigError, LexassayError, Problem, WaitsForPerson
from pipeline.formats.annotation_log import copy, open_log
from pipeline.release import install_text
from schemas.errors import count_text

_PAGES, _NETWORK, _QUALITY, _PEOPLE, _FILES = "Pages", "Network", "Quality", "People", "Files"
"""Groups of options in the help."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_SHOWN = 3
_COMMAND_KEYS = "usqnegrfh?/"
"""Keys of undo, skip, unsure, note, examples, guidelines, recent, search and help."""


def annotate(
    config: Config,
    sheet: Annotated[
        str, typer.Argument(metavar="SHEET", help="Stage with the sheets, or their folder.")
    ] = "",
    annotators: Annotated[
        str | None, typer.Option("--annotators", help="Annotators, with commas [all].")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Address to listen on; all but 127.0.0.1 open the pages to the network.",
            rich_help_panel=_NETWORK,
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", min=0, max=65535, help="Port; 0 picks a free one.", rich_help_panel=_NETWORK
        ),
    ] = 8642,
    names: Annotated[
        str | None,
        typer.Option(
            "--names", help="Host names that others use for this machine.", rich_help_panel=_NETWORK
        ),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            "--public-url",
            help="Address by which others reach the pages.",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    trusted_proxy: Annotated[
        str | None,
        typer.Option(
            "--trusted-proxy",
            help="Addresses of proxies whose X-Forwarded headers are trusted [none].",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            "--keys",
            help="Keys of labels: SVC=v,free=x [1 to 9; free first letters].",
            rich_help_panel=_PAGES,
        ),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width",
            min=0.001,
            max=0.5,
            help="Half-width to plan for.",
            rich_help_panel=_PAGES,
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language",
            help="Language of the units, a code [that of the corpus].",
            rich_help_panel=_PAGES,
        ),
    ] = "",
    training: Annotated[
        Path | None,
        typer.Option(
            "--training", help="Table of gold items for a training round.", rich_help_panel=_QUALITY
        ),
    ] = None,
    pass_mark: Annotated[
        float | None,
        typer.Option(
            "--pass-mark",
            min=0,
            max=1,
            help="Share of training items that must be right [0.8].",
            rich_help_panel=_QUALITY,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold", help="Table of gold items to hide among the cards.", rich_help_panel=_QUALITY
        ),
    ] = None,
    repeat: Annotated[
        float | None,
        typer.Option(
            "--repeat",
            min=0,
            max=0.5,
            help="Share of cards to show twice.",
            rich_help_panel=_QUALITY,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            help="Export all judgements to this file: xlsx, csv, jsonl, or as --format.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    imported: Annotated[
        Path | None,
        typer.Option(
            "--import",
            help="Import the answers in a file of the tool of --format.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help=" | ".join(TOOLS), rich_help_panel=_FILES),
    ] = None,
    annotator_map: Annotated[
        str | None,
        typer.Option(
            "--annotator-map",
            help="Names of annotators in the tool, where they differ: anna=7,ben=ben@lab.org.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    suggestions: Annotated[
        Path | None,
        typer.Option(
            "--suggestions",
            help="Store a model's suggestions: csv, tsv, jsonl, or json.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    show_suggestions: Annotated[
        bool | None,
        typer.Option(
            "--show-suggestions/--hide-suggestions",
            help="Show suggestions on the cards; hidden by default, as they bias annotators.",
            show_default=False,
            rich_help_panel=_QUALITY,
        ),
    ] = None,
    sheets: Annotated[
        bool,
        typer.Option(
            "--sheets", help="Write all judgements to the sheets.", rich_help_panel=_FILES
        ),
    ] = False,
    backup: Annotated[
        Path | None,
        typer.Option(
            "--backup", help="Back up the annotation log to this file.", rich_help_panel=_FILES
        ),
    ] = None,
    restore: Annotated[
        str | None,
        typer.Option(
            "--restore",
            help="Replace the annotation log with a backup: its file, or newest.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    renew: Annotated[
        bool,
        typer.Option(
            "--renew-links",
            help="Make new links and disable the old ones.",
            rich_help_panel=_PAGES,
        ),
    ] = False,
    revoke: Annotated[
        str | None,
        typer.Option(
            "--revoke", help="Replace the links of these people.", rich_help_panel=_PEOPLE
        ),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(
            "--stop",
            help="End the work of these annotators; their answers are kept.",
            rich_help_panel=_PEOPLE,
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option("--resume", help="Let these people continue.", rich_help_panel=_PEOPLE),
    ] = None,
    add: Annotated[
        str | None,
        typer.Option(
            "--add", help="Add annotators; --reassign gives them cards.", rich_help_panel=_PEOPLE
        ),
    ] = None,
    reassign: Annotated[
        str | None,
        typer.Option(
            "--reassign", help="Reassign open cards: anna=carla,ben.", rich_help_panel=_PEOPLE
        ),
    ] = None,
    cards: Annotated[
        int | None,
        typer.Option(
            "--cards",
            min=1,
            help="With --reassign: number of cards [all].",
            rich_help_panel=_PEOPLE,
        ),
    ] = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Label candidates in the browser, or export the labels.

    With options under Quality, Files or People, the command does only that, and serves no pages.
    """
    if cards and not reassign:
        raise ConfigError("--cards", [Problem("--cards", "needs --reassign FROM=TO")])
    _check_language(language)
    _check_tool(format_, export=export, imported=imported, annotator_map=annotator_map)
    if restore is not None:
        return _restore(log_of(config, sheet, runs=runs, data=data), restore)
    acts = {"add": add, "revoke": revoke, "stop": stop, "resume": resume}
    own: list[object] = [imported, suggestions, backup, export, reassign, *acts.values()]
    own += [training, pass_mark, gold, repeat, show_suggestions, sheets or None]
    pages = all(each is None for each in own)
    if pages:
        _require_web()
    work = open_work(
        config, sheet, runs=runs, data=data, annotators=split_names(annotators), language=language
    )
    _print_import(sync.import_sheets(work), work)
    _set_quality(work, training=training, pass_mark=pass_mark, gold=gold, repeat=repeat)
    code = 0
    if suggestions or show_suggestions is not None:
        _set_suggestions(work, suggestions, visible=show_suggestions)
    if imported and format_:
        code = _import_answers(work, imported, format_, split_names(annotator_map))
    if backup or sheets or export:
        tool = (format_, split_names(annotator_map)) if format_ else None
        _write_decisions(
            work, export=export, sheets=sheets, backup=backup, tool=tool,
            annotators=split_names(annotators),
        )  # fmt: skip
    if any(acts.values()) or reassign:
        _manage(work, acts, reassign=reassign, cards=cards)
    if not pages:
        if renew:
            print(
                "--renew-links was ignored: give it without options under Quality, Files or People"
            )
        return code
    from pipeline.annotate.web.app import ServerOptions, serve_pages
    from pipeline.annotate.web.connections import public_url as public
    from pipeline.annotate.web.connections import trusted_proxies

    served = ServerOptions(
        host=host, port=port, names=tuple(split_names(names)), half_width=half_width, renew=renew,
        public=public(public_url) if public_url is not None else None,
        trusted=trusted_proxies(split_names(trusted_proxy)),
    )  # fmt: skip
    return serve_pages(replace(work, keys=_keys(keys, work)), served)


def _check_language(language: str | None) -> None:
    if language and not _LANGUAGE.fullmatch(language):
        remedy = "give a code, such as de, ar or zh-Hant"
        problem = Problem("--language", f"{language!r} is not a language code", remedy)
        raise ConfigError("--language", [problem])


def _restore(database: Path, name: str) -> int:
    """Restore a backup, and print what it has."""
    from pipeline.annotate.backups import restore

    print(restore(database, name))
    return 0


def _write_decisions(
    work: SheetWork,
    *,
    export: Path | None,
    sheets: bool,
    backup: Path | None,
    tool: tuple[str, list[str]] | None,
    annotators: Sequence[str],
) -> None:
    """Write the exports, and print their paths."""
    from pipeline.annotate.exchange.transfer import export_tasks, parse_people

    if backup:
        copy(work.database, backup)
        print(f"wrote {backup}")
    if export and tool:
        name, people = tool
        count, places = export_tasks(work, export, name, parse_people(people, work))
        print(f"wrote {count_text(count, 'task')} to {places[0]}")
        for beside in places[1:]:
            print(f"wrote {beside}")
    elif export:
        count = sync.export(work, export, annotators=annotators)
        print(f"wrote {count_text(count, 'answer')} to {export}")
    if sheets:
        for place in sync.hand_to_sheets(work):
            print(f"wrote {place}")


def _check_tool(
    name: str | None, *, export: Path | None, imported: Path | None, annotator_map: str | None
) -> None:
    """Refuse options about a tool that have no effect."""
    problems = []
    if imported and not name:
        problems.append(Problem("--import", "needs --format", f"use {', '.join(TOOLS)}"))
    if name and not (imported or export):
        problems.append(Problem("--format", "has no effect", "give --export or --import, too"))
    if annotator_map and not name:
        problems.append(Problem("--annotator-map", "has no effect", "give --format, too"))
    if problems:
        raise ConfigError("annotate", problems)


def _import_answers(work: SheetWork, source: Path, name: str, people: list[str]) -> int:
    """Import answers of another tool, print what came of it, and return the exit code."""
    from pipeline.annotate.exchange.transfer import import_answers, parse_people

    outcome = import_answers(work, source, name, parse_people(people, work))
    known = f"; {outcome.duplicates:,} were known" if outcome.duplicates else ""
    print(f"{count_text(outcome.answers, 'answer')} imported from {source}{known}")
    _print_lines(outcome.skipped, "task", "skipped there: still to be judged")
    what = "not imported, since the log has another answer: correct it on the page"
    _print_lines(outcome.conflicts, "answer", what)
    return WaitsForPerson.exit_code if outcome.conflicts else 0


def _set_suggestions(work: SheetWork, source: Path | None, *, visible: bool | None) -> None:
    """Store suggestions, switch them on or off, and print it."""
    from pipeline.annotate.exchange.transfer import import_suggestions, switch_suggestions

    if source:
        outcome = import_suggestions(work, source)
        others = f"; {count_text(outcome.others, 'row')} for other items" if outcome.others else ""
        print(f"{count_text(outcome.stored, 'suggestion')} stored from {source}{others}")
        if visible is None:
            print(
                "cards show them; --hide-suggestions hides them" if outcome.visible
                else "cards do not show them; --show-suggestions does"
            )  # fmt: skip
    if visible is not None:
        count = switch_suggestions(work, visible=visible)
        print(f"{count_text(count, 'suggestion')} {'shown' if visible else 'hidden'} on the cards")


def _set_quality(
    work: SheetWork,
    *,
    training: Path | None,
    pass_mark: float | None,
    gold: Path | None,
    repeat: float | None,
) -> None:
    """Set up cards that measure quality, and print how many there are."""
    if work.kind == "keying" and (training or gold or repeat):
        what = "training, gold items and repeated cards need labels, but here forms are keyed in"
        raise ConfigError("--training", [Problem("--training", what)])
    if training:
        items = quality.read_gold(training, work, option="--training")
        count = quality.add_training(work, items)
        print(f"training round: {count:,} items")
    if pass_mark is not None:
        quality.set_pass_mark(work, pass_mark)
        print(f"pass mark of the training round: {pass_mark:g}")
    if gold:
        items = quality.read_gold(gold, work, option="--gold")
        new, inside = quality.add_gold(work, items)
        own = f"; {inside:,} pairs are in the sample and need no card" if inside else ""
        print(f"hidden gold: {new:,} new items{own}")
    if repeat is not None:
        print(f"repeated cards: {quality.repeat_cards(work, repeat):,}")
    with open_log(work.database) as connection:
        quality.assign_checks(connection)


def _manage(
    work: SheetWork, acts: Mapping[str, str | None], *, reassign: str | None, cards: int | None
) -> None:
    """Change links, people and cards, and print what happened."""
    from pipeline.annotate import people

    with open_log(work.database) as connection:
        for act, names in acts.items():
            for name in split_names(names):
                member = people.ACTS[act](connection, work, name)
                print(people.sentence(connection, act, member))
        if reassign:
            sender, _, recipients = reassign.partition("=")
            message = people.reassign(
                connection, work, sender, split_names(recipients), cards=cards,
                answered=sync.counted_answers(work),
            )  # fmt: skip
            print(message)
    if acts["add"] or acts["revoke"]:
        print("New links: on the coordinator's page, and when lexassay annotate starts.")


def _print_import(result: sync.ImportResult, work: SheetWork) -> None:
    """Print what was imported from sheets beside the annotation log."""
    if result.answers:
        imported = count_text(result.answers, "answer")
        print(f"{imported} imported from sheets in {work.folder}")
    for lines, what in (
        (result.conflicts, "in sheets and on the page differ: decide on the coordinator's page"),
        (result.strange, "in sheets cannot be used and were ignored: correct them in the sheet"),
    ):
        _print_lines(lines, "answer", what)


def _print_lines(lines: Sequence[str], one: str, what: str) -> None:
    if lines:
        examples = "".join(f"\n  {line}" for line in lines[:_SHOWN])
        more = f"\n  and {len(lines) - _SHOWN:,} more" if len(lines) > _SHOWN else ""
        print(f"{count_text(len(lines), one)} {what}:{examples}{more}")


def _keys(text: str | None, work: SheetWork) -> dict[str, str]:
    """Return label to key, as given by ``--keys``."""
    pairs = [each.partition("=") for each in split_names(text)]
    digits = {str(number): label for number, label in enumerate(work.labels[:9], 1)}
    problems = [
        Problem("--keys", f"{label!r} is not a label", f"labels: {', '.join(work.labels)}")
        for label, _, _ in pairs
        if label not in work.labels
    ]
    problems += [
        Problem("--keys", f"{key!r} is not a key: give one character")
        for _, _, key in pairs
        if len(key) != 1 or not key.isprintable() or key.isspace()
    ]
    problems += [
        Problem("--keys", f"{key} is the key of a command of the page", f"not {_COMMAND_KEYS}")
        for _, _, key in pairs
        if key.casefold() in _COMMAND_KEYS
    ]
    problems += [
        Problem("--keys", f"{key} is the key of {digits[key]!r}", "use a letter")
        for label, _, key in pairs
        if label != digits.get(key, label)
    ]
    keys = [key.casefold() for _, _, key in pairs]
    if len(set(keys)) < len(keys):
        problems.append(Problem("--keys", "two labels have the same key", "use different keys"))
    if problems:
        raise ConfigError("--keys", problems)
    return {label: key for label, _, key in pairs}


def _require_web() -> None:
    missing = [name for name in ("starlette", "uvicorn", "babel") if not find_spec(name)]
    if missing:
        raise LexassayError(
            f"the pages need {', '.join(missing)}\nInstall them beside lexassay: "
            f"{install_text(*missing)}"
        )
