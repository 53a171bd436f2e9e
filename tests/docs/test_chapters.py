"""Chapters agree with the program: pictures, references, figures, options, keys."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import struct
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from pydantic import BaseModel

import pipeline as lx
from pipeline.cli.app import COMMANDS
from pipeline.cli.main import main
from pipeline.config_model import descriptions
from pipeline.kernels.association.scoring import score
from pipeline.kernels.measure import MEASURES
from pipeline.kernels.nbest.comparison import difference_counts
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.sampling import candidate_id
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.report.view import VIEWS
from pipeline.report.views.collocations.comparison import PairTestSettings, multiple_tests_text
from pipeline.stages.base import STAGES
from tests.docs.scripts import DOCS, script
from tests.report.report_frames import defaults

ASSETS = Path(__file__).parents[2] / "pipeline" / "annotate" / "web" / "assets"
TEXT = (DOCS / "annotation.md").read_text(encoding="utf-8")
BROWSER = TEXT[TEXT.index("## In the browser") : TEXT.index("## On sheets")]
COMMANDS_ANNOTATION_CHAPTER = (DOCS / "commands.md").read_text(encoding="utf-8")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
EVERYWHERE = {"--runs", "--data"}
OF_RUN = {"--no-report", "--quiet"}


@pytest.fixture(scope="module")
def update() -> ModuleType:
    return script("update_annotation")


def test_pictures_of_annotation_are_those_of_the_script(update: ModuleType) -> None:
    expected = {f"annotate-{name}.png" for name in update.PICTURES}
    assert set(re.findall(r"^!\[[^\]]+\]\((.+)\)$", TEXT, re.M)) == expected
    assert {path.name for path in DOCS.glob("*.png")} == expected


def test_pictures_of_annotation_are_small_and_have_the_set_size(update: ModuleType) -> None:
    for name in update.PICTURES:
        content = (DOCS / f"annotate-{name}.png").read_bytes()
        assert len(content) < 150_000, name
        assert content.startswith(b"\x89PNG\r\n\x1a\n"), name
        wide = (update.WIDE, update.HEIGHTS.get(name))
        expected = wide if name in update.HEIGHTS else tuple(update.PHONE.values())
        assert struct.unpack(">II", content[16:24]) == expected, name


def test_experiments_of_pictures_have_an_annotation_and_a_keying_sheet(update: ModuleType) -> None:
    kinds = [
        {stage["use"] for stage in tomllib.loads(update.experiment(name))["stages"].values()}
        for name in update.SHOWN
    ]
    assert ["sheet.annotation" in kinds[0], "sheet.keying" in kinds[1]] == [True, True]


def test_keys_in_the_chapter_are_those_of_the_page() -> None:
    code = (ASSETS / "keys.js").read_text(encoding="utf-8")
    wishes = re.findall(r"^    \{ name: .*preferredKeys: \[(.*)\] \},$", code, re.M)
    page = [tuple(re.findall(r'"([^"]+)"', each)) for each in wishes]
    rows = re.findall(r"^\| (`.+`) \| .+ \|$", BROWSER, re.M)
    documented = [tuple(key.lower() for key in re.findall(r"`(.)`", each)) for each in rows]
    assert len(page) == 9
    assert documented == page


def test_options_in_the_chapter_are_those_of_the_command() -> None:
    section = COMMANDS_ANNOTATION_CHAPTER[
        COMMANDS_ANNOTATION_CHAPTER.index("### lexassay annotate") :
    ].split("\n### ")[0]
    heads = re.findall(r"^\* (`--[^:(]+)", section, re.M)
    options = {name for head in heads for name in re.findall(r"`(--[a-z-]+)`", head)}
    assert set(OPTION.findall(BROWSER)) - OF_RUN == options - EVERYWHERE


# The reference of Python functions agrees with their docstrings.

DOCS_API_CHAPTER = Path(__file__).parents[2] / "docs"
TEXT_API_CHAPTER = (DOCS_API_CHAPTER / "api.md").read_text(encoding="utf-8")


def test_the_reference_of_functions_is_current() -> None:
    update = script("update_api")
    assert update.chapter() == TEXT_API_CHAPTER, "run: python docs/update_api.py"


def test_every_public_name_has_a_section() -> None:
    sections = (f"\n## {name}\n" in TEXT_API_CHAPTER for name in lx.__all__)
    errors = (f"`lx.{name}`" in TEXT_API_CHAPTER for name in lx.__all__)
    assert [
        name for name, *there in zip(lx.__all__, sections, errors, strict=True) if not any(there)
    ] == []


def test_the_reference_of_functions_contains_no_local_paths() -> None:
    assert " at 0x" not in TEXT_API_CHAPTER
    assert "PosixPath" not in TEXT_API_CHAPTER


# The figures on findings by chance agree with the script.

ROOT = Path(__file__).parents[2]
CHAPTER = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chance() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("chance_findings")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture
def chapter(chance: ModuleType) -> ModuleType:
    return sys.modules[chance.show.__module__]


def test_figures_on_the_best_of_many_lists_are_current(
    chance: ModuleType, chapter: ModuleType
) -> None:
    text = chapter.update_chapter(CHAPTER, {"best": chance.best_block()}, "chance_findings.py")
    assert text == CHAPTER


@pytest.mark.long
def test_figures_on_marks_are_reproduced(
    chance: ModuleType, public_data: Callable[[str], Path]
) -> None:
    places = chance.krenn(public_data("collocations/krenn_pp_verb.ds").parents[1])
    one, other = chance.PAIRS[0]
    share = chance.share_with_mark(places[one], places[other], chance.RATES[0], chance.SAMPLES)
    assert f"| `{one}`, `{other}` | {100 * share:.0f} |" in CHAPTER


def test_the_report_and_the_chapter_give_the_same_figures() -> None:
    table = CHAPTER.partition("<!-- marks:")[2].partition("<!-- end of marks")[0]
    rows = [re.findall(r"\| (\d+)", line) for line in table.splitlines()]
    tenth, _, whole = zip(*[[int(each) for each in row] for row in rows if row], strict=True)
    text = multiple_tests_text(PairTestSettings.model_validate(defaults("evaluate.comparison")))
    assert f"{min(tenth)} to {max(tenth)} % of simulated 10 % samples" in text
    assert f"{min(whole)} to {max(whole)} % of full annotations" in text


def test_a_block_without_a_place_in_the_chapter_is_an_error(chapter: ModuleType) -> None:
    with pytest.raises(ValueError, match="no place for mine"):
        chapter.update_chapter(CHAPTER, {"mine": ""}, "chance_findings.py")


@pytest.mark.long
def test_coverage_of_average_precision_is_near_the_stated_figure() -> None:
    """Simulated with few samples, within their error of the stated figure."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        script = importlib.import_module("average_precision_coverage")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    (stated,) = re.findall(r"^\| random \| ([\d.]+) ", CHAPTER, re.MULTILINE)
    coverages = [
        script.coverage(case, samples=50)
        for case in enumerate(script.shapes())
        if case[1].title == "random" and not case[1].designed
    ]
    assert sum(coverages) / 4 == pytest.approx(float(stated) / 100, abs=4 * (0.0475 / 200) ** 0.5)


# The reference of the command line agrees with the commands.

DOCS_COMMANDS_CHAPTER = Path(__file__).parents[2] / "docs"
TEXT_COMMANDS_CHAPTER = (DOCS_COMMANDS_CHAPTER / "commands.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def update_commands_chapter() -> ModuleType:
    return script("update_commands")


def test_the_reference_of_commands_is_current(update_commands_chapter: ModuleType) -> None:
    assert update_commands_chapter.chapter() == TEXT_COMMANDS_CHAPTER, (
        "run: python docs/update_commands.py"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section(name: str) -> None:
    assert f"\n### lexassay {name}\n" in TEXT_COMMANDS_CHAPTER


def test_every_option_describes_its_value_or_is_a_switch() -> None:
    valued = re.findall(r"^\* (`--[a-z-]+ [^`]+`)(.*)$", TEXT_COMMANDS_CHAPTER, re.M)
    assert len(valued) > 10
    assert [name for name, rest in valued if not rest.startswith(" (")] == []


def test_the_reference_of_commands_contains_no_local_paths() -> None:
    assert "PosixPath" not in TEXT_COMMANDS_CHAPTER
    assert str(Path.home()) not in TEXT_COMMANDS_CHAPTER


# The gallery has a picture, a command and an experiment for each entry.

GALLERY = ROOT / "docs" / "gallery"
TEXT_GALLERY = (GALLERY / "index.md").read_text(encoding="utf-8")
PICTURE_LINKS = re.findall(r"^!\[[^\]]+\]\((.+)\)$", TEXT_GALLERY, re.M)


@pytest.fixture(scope="module")
def update_gallery() -> ModuleType:
    return script("update_gallery")


def test_pictures_of_the_gallery_are_those_of_the_script(update_gallery: ModuleType) -> None:
    expected = {f"{name}.svg" for name in [*update_gallery.PICTURES, "planning"]}
    assert set(PICTURE_LINKS) == expected
    assert {path.name for path in GALLERY.glob("*.svg")} == expected


def test_every_picture_is_on_a_card() -> None:
    assert re.findall(r"^:img-bottom: (.+)$", TEXT_GALLERY, re.M) == PICTURE_LINKS


def test_pictures_of_the_gallery_are_small_and_have_white_ground() -> None:
    sizes = [path.stat().st_size for path in GALLERY.glob("*.svg")]
    assert max(sizes) < 150_000
    assert sum(sizes) < 1_500_000
    assert all('fill="#ffffff"' in path.read_text()[:400] for path in GALLERY.glob("*.svg"))


def test_every_experiment_of_the_gallery_has_command_and_text(update_gallery: ModuleType) -> None:
    for config in update_gallery.experiments():
        assert (ROOT / config).is_file()
        assert f"lexassay run {config}" in TEXT_GALLERY
        path = config.removeprefix("docs/gallery/") if "gallery" in config else f"../../{config}"
        assert f"{{literalinclude}} {path}\n" in TEXT_GALLERY
    assert f"lexassay {update_gallery.PLANNING}\n" in TEXT_GALLERY


# The page of evaluations agrees with the experiments.

EVALUATIONS_PAGE = (DOCS / "evaluations.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def update_evaluations() -> ModuleType:
    return script("update_evaluations")


def _baseline(run: lx.Run) -> str:
    (row,) = run.table("full.baseline").rows(named=True)
    return f"{100 * row['precision']:.0f} %"


def _sentence_krenn(run: lx.Run) -> str:
    return f"f >= 30 are public; {_baseline(run)} are true"


def _sentence_streusle(run: lx.Run) -> str:
    return f"{run.table('candidates').height:,} bigrams (f >= 2, {_baseline(run)} true)"


def _sentence_parseme(run: lx.Run) -> str:
    f = run.table("candidates")["f"]
    return f"{(f == 1).sum()} of the {f.len()} pairs occur once"


def _sentence_compounds(run: lx.Run) -> str:
    labels = run.table("meaning_judged.annotations")["label"]
    share = (labels == "0").sum() / labels.len()
    return f"{100 * share:.0f} % of the judgements on compositionality are 0"


def _sentence_clusters(run: lx.Run) -> str:
    scores = run.table("types.scores").row(0, named=True)
    return f"{scores['n_items']:,} types with {scores['n_classes']} universal tags"


def _sentence_senses(run: lx.Run) -> str:
    items = run.table("gold")["item"].unique()
    words = items.str.replace(r"\.\d+$", "").n_unique()
    return f"{items.len():,} instances of {words} words"


SENTENCES: dict[str, Callable[[lx.Run], str]] = {
    "krenn": _sentence_krenn, "streusle": _sentence_streusle, "parseme": _sentence_parseme,
    "noun-compounds": _sentence_compounds, "clusters": _sentence_clusters,
    "word-senses": _sentence_senses,
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", script("update_evaluations").EVALUATIONS)
def test_evaluations_reproduce_the_page(
    name: str,
    update_evaluations: ModuleType,
    public_data: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    needs = update_evaluations.EVALUATIONS[name].needs
    runs = update_evaluations.runs(name, public_data(needs).parents[1], tmp_path)
    assert update_evaluations.update_chapter(EVALUATIONS_PAGE, name, runs) == EVALUATIONS_PAGE
    if name in SENTENCES:
        assert SENTENCES[name](runs[0]) in " ".join(EVALUATIONS_PAGE.split())


def test_pictures_of_evaluations_are_those_of_the_script(
    update_evaluations: ModuleType,
) -> None:
    names = [name for name, each in update_evaluations.EVALUATIONS.items() if each.picture]
    folder = DOCS / "evaluations"
    assert {path.stem for path in folder.glob("*.svg")} == set(names)
    assert all(path.stat().st_size < 150_000 for path in folder.glob("*.svg"))
    assert re.findall(r"\(evaluations/(.+)\.svg\)", EVALUATIONS_PAGE) == names


def test_the_page_of_evaluations_names_experiments_and_is_short(
    update_evaluations: ModuleType,
) -> None:
    for each in update_evaluations.EVALUATIONS.values():
        assert [name for name in each.configs if f"{name}.toml`" not in EVALUATIONS_PAGE] == []
    assert len(EVALUATIONS_PAGE.split()) <= 1_400


# The chapter on measures agrees with the registry.

DOCS_MEASURES_CHAPTER = Path(__file__).parents[2] / "docs"


def test_tables_of_measures_agree_with_the_registry() -> None:
    update = script("update_measures")
    text = (DOCS_MEASURES_CHAPTER / "measures.md").read_text(encoding="utf-8")
    assert text == update.update_chapter(text), "run: python docs/update_measures.py"


def test_every_measure_is_named() -> None:
    text = (DOCS_MEASURES_CHAPTER / "measures.md").read_text(encoding="utf-8")
    assert [name for name in MEASURES if f" `{name}`" not in text] == []


# The chapter on planning agrees with the functions and with Krenn's data.

DOCS_PLANNING_CHAPTER = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def update_planning_chapter() -> ModuleType:
    return script("update_planning")


@pytest.mark.long
def test_widths_in_the_chapter_on_planning_are_current(update_planning_chapter: ModuleType) -> None:
    text = (DOCS_PLANNING_CHAPTER / "planning.md").read_text(encoding="utf-8")
    again = update_planning_chapter.update_chapter(text, "widths", update_planning_chapter.widths())
    assert text == again, "run: python docs/update_planning.py"


def test_pairs_in_the_chapter_on_planning_agree_with_the_data(
    update_planning_chapter: ModuleType, public_data: Callable[[str], Path]
) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    candidates = table.with_columns(candidate_id("l1", "l2"))
    pairs = [tuple(name.split(" against ")) for name in update_planning_chapter.PAIRS]
    measures = sorted({name for pair in pairs for name in pair})
    scores = score(candidates.lazy(), measures=measures)
    ranks = rank(scores, measures=measures, seed="krenn-2005").collect()
    judged = candidates.select(
        "id", category=pl.lit("TP"), tp=pl.col("b.TP") == 1, multiplicity=pl.lit(1, pl.Int64)
    )
    counts = difference_counts(ranks, judged, pairs=pairs, at=update_planning_chapter.LISTS)
    for pair in pairs:
        lists = counts.filter(measure_1=pair[0], measure_2=pair[1]).sort("n")
        rows = lists.select("n", "size", "k_1", "k_2").rows()
        assert rows == update_planning_chapter.PAIRS[" against ".join(pair)]


@pytest.mark.long
def test_powers_in_the_chapter_on_planning_are_current(update_planning_chapter: ModuleType) -> None:
    text = (DOCS_PLANNING_CHAPTER / "planning.md").read_text(encoding="utf-8")
    again = update_planning_chapter.update_chapter(text, "powers", update_planning_chapter.powers())
    assert text == again, "run: python docs/update_planning.py"


@pytest.mark.long
def test_the_documented_pilot_on_public_data_runs(
    public_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_data("collocations/krenn_pp_verb.ds")
    monkeypatch.chdir(DOCS_PLANNING_CHAPTER.parent)
    chapter = (DOCS_PLANNING_CHAPTER / "planning.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\$ lexassay (size .*--pilot.*)$", chapter, re.MULTILINE)
    runs = ["--runs", str(tmp_path)]
    assert main(["run", "configs/krenn.toml", "--no-report", "--quiet", *runs]) == 0
    assert main([*shlex.split(command), *runs]) == 0


# The reference of stages and views agrees with the registries.

DOCS_REFERENCE_CHAPTERS = Path(__file__).parents[2] / "docs"
HAND_WRITTEN_LISTS: dict[str, Callable[[ModuleType], Iterable[str]]] = {
    "intervals": lambda update: update.own(INTERVALS),
    "tests": lambda update: update.own(TESTS),
    "commands": lambda _update: [f"lexassay {name}" for name in COMMANDS],
}
# Tests register additional stages and views; the chapters describe only those of the project.
OWN = {name for name in STAGES if STAGES.get(name).run.__module__.startswith("pipeline.")}


@pytest.fixture(scope="module")
def update_reference_chapters() -> ModuleType:
    return script("update_reference")


@pytest.mark.parametrize("file", script("update_reference").PARTS)
def test_reference_chapters_are_current(file: str, update_reference_chapters: ModuleType) -> None:
    text = (DOCS_REFERENCE_CHAPTERS / file).read_text(encoding="utf-8")
    assert text == update_reference_chapters.update_chapter(file, text), (
        "run: python docs/update_reference.py"
    )


def test_the_reference_of_stages_is_short(update_reference_chapters: ModuleType) -> None:
    files = [file for file in update_reference_chapters.PARTS if file.startswith("stages")]
    texts = [(DOCS_REFERENCE_CHAPTERS / file).read_text(encoding="utf-8") for file in files]
    assert sum(len(text.split()) for text in texts) <= 155 * len(OWN)
    assert len(texts[0].split()) <= 400


def test_names_of_stages_begin_with_a_known_verb(update_reference_chapters: ModuleType) -> None:
    message = "stage 'count.hapaxes': its first word is none of extract, score, sample"
    with pytest.raises(ValueError, match=message):
        update_reference_chapters.place("count.hapaxes")


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("intervals", "docs/evaluation.md"),
        ("tests", "docs/evaluation.md"),
        ("commands", "README.md"),
    ],
)
def test_lists_written_by_hand_are_complete(
    update_reference_chapters: ModuleType, kind: str, place: str
) -> None:
    text = (
        (DOCS_REFERENCE_CHAPTERS.parent / place)
        .read_text(encoding="utf-8")
        .partition("<!-- estimates")[0]
    )
    missing = [
        name
        for name in HAND_WRITTEN_LISTS[kind](update_reference_chapters)
        if not re.search(rf"\b{name}\b", text)
    ]
    assert missing == [], f"name it in {place}"


def silent_of(model: type[BaseModel]) -> set[str]:
    return model.model_fields.keys() - descriptions(model).keys()


def test_every_option_has_a_description() -> None:
    silent = [f"{name}.{option}" for name in OWN for option in silent_of(STAGES.get(name).config)]
    silent += [
        f"{name}.{option}" for name in VIEWS for option in silent_of(VIEWS.get(name).options)
    ]
    assert silent == []


# docs/shell.md lists the keys that commands print.

CHAPTER_SHELL_CHAPTER = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(
    encoding="utf-8"
)


@pytest.fixture(scope="module")
def folder_shell_chapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the starter experiment, already run."""
    folder = tmp_path_factory.mktemp("shell")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["new", "collocations"]) == 0
        assert main(["run", "experiment.toml", "--no-report", "--quiet"]) == 0
    return folder


@pytest.mark.parametrize("command", ["plan", "status", "sheets"])
def test_keys_of_json_output_are_documented(
    command: str,
    folder_shell_chapter: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder_shell_chapter)
    assert main([command, "experiment.toml", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    tables = [table for table in CHAPTER_SHELL_CHAPTER.split("\n\n") if table.startswith("| `")]
    own_tables = [table for table in tables if f"`{command}`" in table.splitlines()[0]]
    keys = set(re.findall(r"`([a-z_]+)`", " ".join(
        line.split("|")[1] for table in own_tables for line in table.splitlines()[2:]
    )))  # fmt: skip
    assert set(printed) <= keys
    inner = set(re.findall(r"`(?:stages\[\])?\.([a-z]+)`", " ".join(own_tables)))
    for stage in printed.get("stages", []):
        assert set(stage) == inner
