"""``size``: plan how large a sample must be."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import polars as pl
import typer
from rich.console import Console

from pipeline.api.results import Run
from pipeline.api.run import show as open_results
from pipeline.cli import output
from pipeline.cli.options import (
    DEFAULT_RUNS,
    Data,
    Overwrite,
    Runs,
    Settings,
    settings_of,
    split_names,
)
from pipeline.cli.output import print_plan, track_items
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.sizing.design import (
    TOGETHER,
    Assumptions,
    Goal,
    Planner,
    QuestionOverrides,
    added_questions,
    look_times,
    plan_table,
    prepare_plans,
)
from pipeline.sizing.output import (
    added_text,
    design_options,
    design_spec,
    hardest,
    options_text,
    plan_spec,
    rate_grid,
    sentence,
    wide,
)
from pipeline.sizing.plan import (
    RATES,
    Pilot,
    Track,
    open_pilot,
    plan_comparison,
    plan_pilot,
    plan_width,
)

# Parsing of options, and which of them combine

_TEST = ("power", "alpha", "margin", "test", "alternative", "replicates", "seed")
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "precision": (
        *("n", "rate", "candidates", "precision", "width", "interval", "confidence"),
        "replacement",
    ),
    "compare": ("n", "rate", "candidates", "compare", "overlap", "shared", *_TEST),
    "pilot": ("n", "rate", "config", "pilot", "measures", "category", "set", *_TEST),
    "half_width": (
        *("n", "config", "design", "measures", "pairs", "questions", "pilot", "category", "set"),
        *("half_width", "power", "difference", "precision", "rho2", "looks", "spending"),
        *("confidence", "alpha"),
    ),
}
"""The option that selects each question, and the options that it allows."""
_DESIGN = ("half_width", "difference", "design")
"""The options that select the labels of declared questions."""
_NEEDED = {
    "precision": {"candidates": "e.g. --candidates 5102"},
    "compare": {"candidates": "e.g. --candidates 5102", "overlap": "e.g. --overlap 0.7"},
    "pilot": {
        "config": "give the experiment",
        "measures": "e.g. --measures t_score,mi",
        "n": "e.g. --n 500",
    },
    "half_width": {"config": "give the experiment"},
}


def question(values: Mapping[str, Any]) -> str:
    """Return the selected question, if all given options belong to it.

    Parameters
    ----------
    values : mapping of str to value
        All options but those that every question takes; None if not given.

    Raises
    ------
    ConfigError
        If none or several questions are selected, and for each option that does not belong to
        the question or is missing.

    Examples
    --------
    >>> question({"candidates": 5102, "precision": "0.3", "pilot": None})
    'precision'
    """
    names = {name for name, value in values.items() if value is not None}
    questions = [name for name in QUESTIONS if name in names]
    if names & set(_DESIGN):
        questions = ["half_width"]
    if len(questions) != 1:
        options = [_option_name(name) for name in questions or QUESTIONS]
        what = f"give one of {', '.join(options)}"
        says = (
            "--precision plans widths, --compare and --pilot the power of a comparison,"
            " --half-width and --difference the labels of declared questions"
        )
        raise ConfigError("size", [Problem("question", what, says)])
    kind = questions[0]
    stray = sorted(names - set(QUESTIONS[kind]))
    problems = [
        Problem(
            _option_name(name),
            f"cannot be combined with {_asking_option(kind, names)}",
            "remove it",
        )
        for name in stray
    ]
    problems += [
        Problem(_option_name(name), f"is required with {_asking_option(kind, names)}", remedy)
        for name, remedy in _NEEDED[kind].items()
        if name not in names
    ]
    if problems:
        raise ConfigError("size", problems)
    return kind


def _asking_option(kind: str, names: set[str]) -> str:
    """Return the option that selected the question."""
    first = next((name for name in _DESIGN if name in names), kind)
    return _option_name(first if kind == "half_width" else kind)


def _option_name(name: str) -> str:
    return "CONFIG" if name == "config" else f"--{name.replace('_', '-')}"


def numbers(option: str, text: str) -> list[float]:
    """Return the numbers in a text with commas; a per cent sign divides by 100.

    Raises
    ------
    ConfigError
        With each value that is not a number.

    Examples
    --------
    >>> numbers("--rate", "0.05, 10%")
    [0.05, 0.1]
    """
    values, problems = [], []
    for word in split_names(text):
        try:
            values.append(float(word.removesuffix("%")) / (100 if word.endswith("%") else 1))
        except ValueError:
            problems.append(Problem(option, f"{word!r} is not a number", "e.g. 0.1 or 10%"))
    if problems:
        raise ConfigError("size", problems)
    return values


def whole_numbers(option: str, text: str) -> list[int]:
    """Return the whole numbers in a text with commas.

    Raises
    ------
    ConfigError
        With each value that is not a whole number.

    Examples
    --------
    >>> whole_numbers("--n", "100,500")
    [100, 500]
    """
    words = split_names(text)
    wrong = [word for word in words if not word.isdecimal()]
    if wrong:
        problems = [
            Problem(option, f"{word!r} is not a whole number", "e.g. 500") for word in wrong
        ]
        raise ConfigError("size", problems)
    return [int(word) for word in words]


def two(option: str, values: list[Any]) -> tuple[Any, Any]:
    """Return two values.

    Raises
    ------
    ConfigError
        If there are more or fewer.

    Examples
    --------
    >>> two("--compare", [0.3, 0.2])
    (0.3, 0.2)
    """
    if len(values) != 2:
        what = f"{len(values)} values"
        raise ConfigError("size", [Problem(option, what, "give two, separated by a comma")])
    return values[0], values[1]


def one(option: str, text: str | None) -> float | None:
    """Return the only number in a text; None if there is no text.

    Raises
    ------
    ConfigError
        If there are several, or it is not a number.

    Examples
    --------
    >>> one("--half-width", "5%")
    0.05
    """
    if text is None:
        return None
    values = numbers(option, text)
    if len(values) != 1:
        raise ConfigError("size", [Problem(option, f"{len(values)} values", "give one")])
    return values[0]


def colons(option: str, text: str) -> list[tuple[str, str]]:
    """Return the pairs of names in a text like ``A:B,C:D``.

    Raises
    ------
    ConfigError
        With each value that is not a pair.

    Examples
    --------
    >>> colons("--pairs", "t_score:mi, mi:dice")
    [('t_score', 'mi'), ('mi', 'dice')]
    """
    pairs = [[part.strip() for part in word.split(":")] for word in split_names(text)]
    wrong = [":".join(parts) for parts in pairs if len(parts) != 2 or not all(parts)]
    if wrong:
        problems = [Problem(option, f"{word!r} is not a pair", "e.g. t_score:mi") for word in wrong]
        raise ConfigError("size", problems)
    return [(first, second) for first, second in pairs]


# Plans for declared questions

_READ = """\
labels: draws to judge in the whole sample, with limits or a test for each question separately.
simple: of all candidates; pooled: a simple sample of the candidates in question only; stratified:
strata by the cuts; designed: sample.design; with predictions: the same, with assist = "scores" or a
judge in evaluate.designed."""
_UNREACHED = "no number: the lists have so much in common that not even all candidates are enough."


def prepare(options: Mapping[str, Any], runs: Path, data: Path | None) -> Planner:
    """Return the planner for the options."""
    run = open_results(
        options["config"], runs=runs, data=data, settings=settings_of(options["set"])
    )
    overrides = QuestionOverrides(
        options["design"],
        tuple(split_names(options["measures"])),
        tuple(whole_numbers("--cuts", options["n"] or "")),
        tuple(colons("--pairs", options["pairs"] or "")),
    )
    half_width, power, difference = (
        one(f"--{name.replace('_', '-')}", options[name])
        for name in ("half_width", "power", "difference")
    )
    goal = Goal(
        half_width, power, difference, options["confidence"] or 0.95, options["alpha"] or 0.05
    )
    assumed = Assumptions(one("--precision", options["precision"]), one("--rho2", options["rho2"]))
    return prepare_plans(
        run, overrides, goal, assumed, questions=split_names(options["questions"]),
        pilot=options["pilot"], category=options["category"],
    )  # fmt: skip


def tabulate(planner: Planner, options: Mapping[str, Any], track: Track) -> pl.DataFrame:
    """Return the table of the plans."""
    looks = numbers("--looks", options["looks"] or "4")
    return plan_table(
        planner, look_times(looks, options["spending"] or "obrien_fleming"), track=track
    )


def print_design(table: pl.DataFrame, planner: Planner, *, pilot: str | None) -> None:
    """Print the labels by question and plan, with an explanation."""
    rows = wide(table)
    output.print_table(rows, rows=rows.height, title=_design_title(planner))
    summary = sentence(table, power=planner.target.power is not None)
    for text in (summary, hardest(table), _assumptions(planner, pilot)):
        print(textwrap.fill(text, output.READABLE))
    print(_READ)
    if table["labels"].null_count():
        print(_UNREACHED)
    added = added_questions(planner, track=_track)
    if added.height > 1:
        title = "designed sample: labels as questions are added (+: not asked for)"
        output.print_table(added_text(added), rows=added.height, title=title)
    labels = table.filter(plan="designed", looks=1, question=TOGETHER)["labels"].item()
    if labels is not None:
        print("sample.design draws the designed sample with these options:")
        print(_options(planner, labels))


def _options(planner: Planner, labels: int) -> str:
    """Return the options of the stage, and a warning about those that the plan ignores."""
    text = textwrap.indent(options_text(design_options(planner, labels)), "    ")
    ignored = [
        k for k in ("pilot", "assist", "cost") if getattr(planner.selection.config, k) is not None
    ]
    warning = f"\nThe plan ignores the stage's {' and '.join(ignored)}." if ignored else ""
    return text + warning


def _design_title(planner: Planner) -> str:
    level = 100 * (1 - planner.target.alpha)
    goal = f"±{100 * planner.goal:g} points at {level:g} %"
    if planner.target.power is not None:
        goal = f"a power of {100 * planner.goal:g} % at {100 * planner.target.alpha:g} %"
    return f"labels for {goal}, {planner.candidates:,} candidates"


def _assumptions(planner: Planner, pilot: str | None) -> str:
    precision = (
        f"precisions of {pilot}" if pilot else f"a precision of {100 * planner.values[-1]:g} %"
    )
    if not planner.judged:
        most = 100 * float(planner.expectations.rho2.max())
        return (
            f"assumed: {precision}; with predictions: a range, from {most:g} % of the variance in "
            "a list explained to none, as only a pilot shows which"
        )
    explained = 100 * float(np.median(planner.explained[planner.mask]))
    return (
        f"assumed: {precision}; predictions explain {explained:.0f} % of the variance in a list, "
        f"estimated out of fold from {planner.judged:,} labels of {pilot}"
    )


def draw(to: Path, planner: Planner, table: pl.DataFrame) -> None:
    """Draw the hardest question's half-width, or power, against labels."""
    _write_chart(to, lambda look: design_spec(planner, table, look=look))


def _write_chart(to: Path, spec: Callable[[Any], dict[str, Any]]) -> None:
    """Write a chart, given as a specification for a look, to a file."""
    from pipeline.report.charts.style import Look
    from pipeline.report.page.images import chart_bytes

    look = Look()
    kind = to.suffix.lower().removeprefix(".")
    content = chart_bytes(spec(look), kind, title="lexassay size", narrow=spec(look.on_phone))
    with output.writing(to):
        to.write_bytes(content)


def serve(table: pl.DataFrame, format_: str, to: Path | None, *, overwrite: bool) -> bool:
    """Write the table to a file or pipe; return False if it is to be printed."""
    if to:
        output.write(table, to, kind=format_, overwrite=overwrite)
    elif format_ != "table":
        typer.get_binary_stream("stdout").write(output.serialise(table, format_))
    return bool(to) or format_ != "table"


Plan: TypeAlias = Callable[[Sequence[float], Sequence[float]], pl.DataFrame]
_CHARTS = ("svg", "png", "pdf", "html")
LISTS = (100, 500, 1000, 2000)
"""Default list sizes."""
Text: TypeAlias = str | None


def _option(name: str, text: str) -> Any:
    return typer.Option(f"--{name}", help=text)


def size(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="Experiment, for plans from its results."),
    ] = None,
    n: Annotated[
        Text,
        typer.Option(
            "--n", "--cuts", help="Sizes of n-best lists, with commas [100,500,1000,2000]."
        ),
    ] = None,
    rate: Annotated[
        Text,
        _option(
            "rate",
            "Sampling rates: 0.05,0.1 or 5%,10%.",
        ),
    ] = None,
    candidates: Annotated[int | None, _option("candidates", "Number of candidates.")] = None,
    precision: Annotated[
        Text,
        _option(
            "precision",
            "Expected precisions: plan interval widths. With --half-width or --difference: that of"
            " all lists [0.5].",
        ),
    ] = None,
    width: Annotated[Text, _option("width", "Target widths: find the rates.")] = None,
    interval: Annotated[
        Text, _option("interval", "clopper_pearson (the default), hypergeometric, wilson, ...")
    ] = None,
    confidence: Annotated[float | None, _option("confidence", "Confidence level [0.95].")] = None,
    replacement: Annotated[
        bool, typer.Option("--replacement", help="Sample with replacement.")
    ] = False,
    compare: Annotated[
        Text, _option("compare", "Precisions of two lists, P1,P2: plan the power.")
    ] = None,
    overlap: Annotated[float | None, _option("overlap", "Proportion that the lists share.")] = None,
    shared: Annotated[
        float | None, _option("shared", "Precision of the shared part [mean of P1 and P2].")
    ] = None,
    pilot: Annotated[
        Text,
        _option(
            "pilot",
            "Stage that evaluates a pilot sample; without --half-width or --difference,"
            " evaluate.comparison.",
        ),
    ] = None,
    measures: Annotated[Text, _option("measures", "Measures to compare: A,B.")] = None,
    category: Annotated[Text, _option("category", "Category of true positives.")] = None,
    half_width: Annotated[
        Text,
        _option("half-width", "Target half-width: plan the labels of declared questions."),
    ] = None,
    difference: Annotated[
        Text, _option("difference", "Difference to detect: plan the labels.")
    ] = None,
    design: Annotated[Text, _option("design", "Stage of sample.design with the questions.")] = None,
    pairs: Annotated[Text, _option("pairs", "Pairs of measures to compare: A:B,C:D.")] = None,
    questions: Annotated[
        Text, _option("questions", "Questions to plan for, by name or kind [all].")
    ] = None,
    rho2: Annotated[
        Text,
        _option("rho2", "Largest share of variance that predictions explain [pilot, else 0.2]."),
    ] = None,
    looks: Annotated[
        Text, _option("looks", "Number of interim looks, or shares: 0.25,0.5,1 [4].")
    ] = None,
    spending: Annotated[
        Text, _option("spending", "obrien_fleming (the default) or pocock.")
    ] = None,
    power: Annotated[Text, _option("power", "Target power: find the rates.")] = None,
    alpha: Annotated[float | None, _option("alpha", "Significance level [0.05].")] = None,
    margin: Annotated[float | None, _option("margin", "Smallest relevant difference [0].")] = None,
    test: Annotated[Text, _option("test", "fisher (the default), fisher_mid_p, boschloo.")] = None,
    alternative: Annotated[
        Text, _option("alternative", "two_sided (the default), greater, less.")
    ] = None,
    replicates: Annotated[
        int | None, _option("replicates", "Number of simulated samples [10000].")
    ] = None,
    seed: Annotated[Text, _option("seed", "Seed of the simulation.")] = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Output file.")] = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", help="Chart file: svg, png, pdf, html.")
    ] = None,
    overwrite: Overwrite = False,
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Plan a sample: interval widths, power, or the required sampling rate.

    lexassay size --candidates 5102 --precision 0.3 [--rate 5%,10% | --width 0.15]

    lexassay size --candidates 5102 --compare 0.38,0.30 --overlap 0.7 [--power 0.8]

    lexassay size CONFIG --pilot STAGE --measures A,B --n 500 [--power 0.8]

    lexassay size CONFIG --half-width 0.05 [--pilot STAGE | --precision 0.3]

    lexassay size CONFIG --difference 0.05 [--power 0.8] [--cuts 100,500 --pairs A:B]
    """
    _require_output(format_, to, chart, overwrite=overwrite)
    options: dict[str, Any] = {
        "candidates": candidates, "precision": precision, "width": width, "interval": interval,
        "confidence": confidence, "replacement": replacement or None, "compare": compare,
        "overlap": overlap, "shared": shared, "config": config, "pilot": pilot,
        "measures": measures, "category": category, "power": power, "alpha": alpha,
        "margin": margin, "test": test, "alternative": alternative, "replicates": replicates,
        "seed": seed, "set": settings or None, "n": n, "half_width": half_width,
        "difference": difference, "design": design, "pairs": pairs, "questions": questions,
        "rho2": rho2, "looks": looks, "spending": spending, "rate": rate,
    }  # fmt: skip
    kind = question(options)
    if kind == "half_width":
        planner = prepare(options, runs, data)
        table = tabulate(planner, options, _track)
        if not serve(table, format_, to, overwrite=overwrite):
            print_design(table, planner, pilot=pilot)
        if chart:
            draw(chart, planner, table)
        return 0
    lists = whole_numbers("--n", n) if n is not None else _default_lists(candidates or 0)
    opened = _open_pilot(options, lists, runs, data) if kind == "pilot" else None
    plan = _plan(kind, options, lists, opened)
    rates = numbers("--rate", rate) if rate is not None else () if opened else RATES
    goals = numbers(f"--{_GOAL[kind]}", options[_GOAL[kind]] or "")
    table = plan(rates, goals)
    if not serve(table, format_, to, overwrite=overwrite):
        print_plan(table, title=_title(kind, options))
    if chart:
        _draw(chart, plan, table, first=opened[1].judged / opened[1].candidates if opened else 0.0)
    return 0


def _default_lists(candidates: int) -> list[int]:
    """Return the default list sizes up to the number of candidates."""
    return [n for n in LISTS if n <= candidates] or [max(candidates, 1)]


_GOAL = {"precision": "width", "compare": "power", "pilot": "power"}


def _require_output(format_: str, to: Path | None, chart: Path | None, *, overwrite: bool) -> None:
    """Refuse unknown formats and unwritable files before any long work."""
    problems = []
    if format_ not in output.FORMATS:
        remedy = did_you_mean(format_, output.FORMATS)
        problems.append(Problem("--format", f"unknown format {format_!r}", remedy))
    elif to:
        output.kind_of(to, format_=format_)
    if chart and chart.suffix.lower().removeprefix(".") not in _CHARTS:
        what = f"{chart.name} does not have the extension of a picture"
        problems.append(Problem("--chart", what, f"use {', '.join(_CHARTS)}"))
    for path in filter(None, (to, chart)):
        with output.writing(path):
            if path.exists() and not overwrite:
                problems.append(Problem(str(path), "already exists", "add --overwrite"))
            if not path.parent.is_dir():
                what = f"the folder {path.parent} does not exist"
                problems.append(Problem(str(path), what, "create it first"))
    if problems:
        raise ConfigError("size", problems)


def _open_pilot(
    options: Mapping[str, Any], lists: Sequence[int], runs: Path, data: Path | None
) -> tuple[Run, Pilot]:
    """Return the run with the pilot, and the pilot."""
    run = open_results(
        options["config"], runs=runs, data=data, settings=settings_of(options["set"])
    )
    pair = two("--measures", [name.strip() for name in options["measures"].split(",")])
    pilot = open_pilot(run, options["pilot"], measures=pair, n=lists, category=options["category"])
    return run, pilot


def _plan(
    kind: str, options: Mapping[str, Any], lists: Sequence[int], opened: tuple[Run, Pilot] | None
) -> Plan:
    """Return the plan for rates or goals."""
    values = {name: value for name, value in options.items() if value is not None}
    if kind == "precision":
        how = _only(values, "candidates", "interval", "confidence", "replacement")
        expected = numbers("--precision", values["precision"])
        return lambda rates, goals: plan_width(
            n=lists, precisions=expected, rates=rates, widths=goals, track=_track, **how
        )
    tests = _only(values, "alpha", "margin", "test", "alternative", "replicates", "seed")
    if opened:
        pair = two("--measures", [name.strip() for name in values["measures"].split(",")])
        more = {**tests, **_only(values, "category")}
        return lambda rates, goals: plan_pilot(
            opened[0], values["pilot"], measures=pair, n=lists, rates=rates, powers=goals,
            track=_track, **more,
        )  # fmt: skip
    precisions = two("--compare", numbers("--compare", values["compare"]))
    how = {**tests, **_only(values, "candidates", "overlap", "shared")}
    return lambda rates, goals: plan_comparison(
        n=lists, precisions=precisions, rates=rates, powers=goals, track=_track, **how
    )


def _only(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def _track(items: Sequence[Any], /) -> Iterable[Any]:
    return track_items(items, Console(stderr=True), text="size")


def _title(kind: str, options: Mapping[str, Any]) -> str:
    if kind == "precision":
        level = 100 * (options["confidence"] or 0.95)
        name = options["interval"] or "clopper_pearson"
        return f"{level:g} % intervals ({name}), {options['candidates']:,} candidates"
    name = f"{options['test'] or 'fisher'} test"
    if kind == "pilot":
        return f"{name}, {options['measures']} after {options['pilot']}"
    return f"{name}, precisions {options['compare']}, {options['candidates']:,} candidates"


def _draw(to: Path, plan: Plan, table: pl.DataFrame, *, first: float) -> None:
    """Draw lines up to the largest rate of the table, and mark the requested ones."""
    rates = table["rate"].drop_nulls()
    last = float(rates.max()) if len(rates) else 1.0  # type: ignore[arg-type]  # a column of numbers
    grid = rate_grid(last, first=first if first < last else 0.0)
    lines = plan(grid, ())
    _write_chart(to, lambda look: plan_spec(lines, points=table, look=look))
