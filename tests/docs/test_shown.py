"""Examples in the documentation work: experiments, Python, imports, links, notebooks, commands."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer

from pipeline.cli.app import COMMANDS, app_for
from pipeline.cli.run import json_schema
from pipeline.release import RENAMED, FormerName, Renaming
from pipeline.stages.base import STAGES

ROOT = Path(__file__).parents[2]
TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "data" / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
FENCE = re.compile(r"^(`{3,})(?:\{code-block\} *)?(toml|python)\n(.*?)^\1 *$", re.M | re.S)
CAPTION = re.compile(r"\A(?::\w[\w-]*:[^\n]*\n)+")
SECTIONS = {"stages", "report", "run", "sweep", "remarks"}


def code_blocks(language: str) -> Iterator[tuple[str, str]]:
    """Yield every block in a language with its page and line."""
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        for block in FENCE.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            if block[2] == language and ":caption: Snakefile" not in block[3]:
                yield f"{path.relative_to(ROOT)}:{line}", CAPTION.sub("", block[3])


TABLES = {place: block for place, block in code_blocks("toml") if re.search(r"^\[", block, re.M)}
EXPERIMENTS = {
    place: block for place, block in TABLES.items() if SECTIONS & set(tomllib.loads(block))
}
PYTHON = dict(code_blocks("python"))


def complete(fragment: dict[str, Any]) -> dict[str, Any]:
    """Return a complete experiment with the content of a fragment."""
    stub = {"use": "score.rank", "scores": "scores"}
    return {"name": "shown", "stages": {"stub": stub}, **fragment}


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json_schema())


@pytest.mark.parametrize("place", EXPERIMENTS)
def test_experiments_in_the_documentation_are_valid(
    place: str, schema: jsonschema.Draft202012Validator
) -> None:
    experiment = complete(tomllib.loads(EXPERIMENTS[place]))
    schema.validate(experiment)
    for options in experiment["stages"].values():
        own = {name: value for name, value in options.items() if name != "use"}
        STAGES.get(options["use"]).config.model_validate(own)


@pytest.mark.parametrize("place", PYTHON)
def test_python_in_the_documentation_compiles(place: str) -> None:
    compile(PYTHON[place], place, "exec")


def test_the_documentation_has_experiments_and_python() -> None:
    assert len(EXPERIMENTS) > 20
    assert len(PYTHON) > 10


def test_mistakes_in_experiments_are_found() -> None:
    fragment = {"stages": {"s": {"use": "sample.random", "candidates": "c", "rat": 0.1}}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json_schema()).validate(complete(fragment))


# Imports in readme, documentation and the example extension keep working.

STABLE_MODULES = (
    "errors",
    "registry",
    "kernels.measure",
    "stages.base",
    "formats.base",
    "report.view",
)
"""Modules of ``pipeline`` that extensions import and that must keep their names."""


def documented_imports() -> Iterator[str]:
    """Yield every imported name as ``module`` or ``module:name``."""
    chapters = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    for chapter in chapters:
        text = chapter.read_text(encoding="utf-8") if chapter.exists() else ""
        for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            yield from imports(block)
    for module in sorted((ROOT / "tests" / "runner" / "extension").rglob("*.py")):
        yield from imports(module.read_text(encoding="utf-8"))


def imports(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}:{alias.name}" for alias in node.names)


NAMES = sorted(
    {name for name in documented_imports() if re.match(r"(pipeline|schemas|lexassay)\b", name)}
)


def test_imported_names_are_found_in_the_documentation() -> None:
    assert "pipeline.kernels.measure:measure" in NAMES
    assert "schemas:Candidates" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_names_in_the_documentation_can_be_imported(name: str) -> None:
    module, _, thing = name.partition(":")
    imported = importlib.import_module(module)
    assert not thing or hasattr(imported, thing)


@pytest.mark.parametrize("name", STABLE_MODULES)
def test_modules_of_extensions_keep_their_names(name: str) -> None:
    assert importlib.import_module(f"pipeline.{name}").__name__ == f"pipeline.{name}"


@pytest.mark.parametrize(("old", "renamed"), RENAMED["module"].items())
def test_renamed_modules_are_found_by_their_former_names(old: str, renamed: Renaming) -> None:
    sys.modules.pop(old, None)
    with pytest.warns(FormerName, match=f"the module {old} was renamed {renamed.new} in"):
        former = importlib.import_module(old)
    assert former is importlib.import_module(renamed.new)


# Every line of the documentation appears on the site.

TEXTS_LINES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/*.md")]
FENCED = re.compile(r"^(`{3,}).*?^\1 *$", re.M | re.S)


def test_no_line_begins_with_a_percent_sign() -> None:
    """MyST treats a line that begins with a percent sign as a comment and drops it."""
    lost = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted(TEXTS_LINES)
        for line in FENCED.sub("", path.read_text(encoding="utf-8")).splitlines()
        if line.lstrip().startswith("%")
    ]
    assert lost == []


# Links within the project lead to existing files and headings.

TEXTS_LINKS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/*.md")])
LINK = re.compile(r"\]\(<?(?!\w+:)([^)\s>]+)>?\)")


@cache
def anchors(path: Path) -> set[str]:
    """Return the anchors of headings of a page, as GitHub and the site create them."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ +(.+?) *$", text, re.M)
    shorn = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in shorn}


@pytest.mark.parametrize("page", TEXTS_LINKS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_have_targets(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    lost = [link for link in LINK.findall(text) if not leads(page, link)]
    assert lost == []


def leads(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or target.suffix != ".md" or anchor in anchors(target)


def test_pages_have_links() -> None:
    assert sum(len(LINK.findall(page.read_text(encoding="utf-8"))) for page in TEXTS_LINKS) > 80


# Notebooks are stored as docs/update_notebooks.py writes them: run, without traces of the machine.

NOTEBOOKS = sorted(ROOT.glob("docs/notebooks/*.ipynb"))
TRACE = re.compile(r"/(?:tmp|home|root|Users|var|private)/|site-packages|\bin \d+\.\d+ s\b")


def read_notebook(notebook: Path) -> dict[str, Any]:
    return json.loads(notebook.read_text(encoding="utf-8"))


def test_the_documentation_has_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_was_run_in_order(notebook: Path) -> None:
    cells = [cell for cell in read_notebook(notebook)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell["outputs"] for cell in cells)
    assert not [out for cell in cells for out in cell["outputs"] if out["output_type"] == "error"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_contain_no_traces_of_their_run(notebook: Path) -> None:
    content = read_notebook(notebook)
    assert set(content["metadata"]) == {"kernelspec", "language_info"}
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert [cell["id"] for cell in content["cells"]] == [
        f"cell-{place}" for place in range(1, len(content["cells"]) + 1)
    ]
    assert all(set(cell["metadata"]) <= {"tags"} for cell in content["cells"])
    outputs = [cell.get("outputs", []) for cell in content["cells"]]
    assert TRACE.findall(json.dumps(outputs)) == []


# Examples of the README work: its experiment is valid, and the extensions register and run.

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
USES = {
    "measure": """
import pipeline as lx
frame = pl.DataFrame({"f": [4], "f1": [8], "f2": [8], "N": [100]})
assert lx.score(frame, measures=["confidence"])["confidence"].item() == 0.5
""",
    "stage": """
from pipeline.release import RENAMED, FormerName, Renaming
from pipeline.stages.base import STAGES
found = STAGES.get("extract.frequent")
table = pl.LazyFrame({"f": [4, 5]})
made = found.run(found.config(candidates="c"), {"candidates": table})
assert made["candidates"].collect()["f"].to_list() == [5]
""",
    "reader": """
import tempfile
from pipeline.formats.base import format_of
path = Path(tempfile.mkdtemp()) / "t.arrow"
pl.DataFrame({"l1": ["a"]}).write_ipc(path)
found = format_of(path.name)
found.check(path, found.options())
assert found.scan(path, found.options()).collect().rows() == [(1, "a")]
path.write_bytes(b"x")
try:
    found.check(path, found.options())
except DataError:
    pass
else:
    raise SystemExit("a damaged file was accepted")
""",
}


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_the_experiment_of_the_readme_is_valid() -> None:
    (text,) = blocks(README, "toml")
    jsonschema.Draft202012Validator(json_schema()).validate(tomllib.loads(text))


@pytest.mark.parametrize("decorator", sorted(USES))
def test_documented_extensions_are_short_and_work(decorator: str) -> None:
    extension = next(block for block in blocks(EXTENDING, "python") if f"@{decorator}(" in block)
    assert len([line for line in extension.splitlines() if line.strip()]) <= 22
    code = extension + USES[decorator]
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_links_of_the_readme_have_targets() -> None:
    root = Path(__file__).parents[2]
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (root / target).exists(), target


def synopsis() -> list[str]:
    """Return the entries of the list of commands, of one or several lines each."""
    part = README.split("\n## Commands\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("    ")]
    return ["    lexassay" + entry for entry in "\n".join(lines).split("    lexassay")[1:]]


def options_of(words: list[str]) -> set[str]:
    """Return the options of a command, or of the program without a command."""
    group = typer.main.get_command(app_for(words))
    parsed: Any = group
    if words:
        parsed = getattr(group, "commands")[words[0]]  # noqa: B009, of a group alone
    return {name for option in parsed.params for name in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("entry", synopsis(), ids=lambda entry: entry.split()[1])
def test_the_readme_lists_only_existing_commands_and_options(entry: str) -> None:
    name = entry.split()[1]
    words = [] if name.startswith("--") else [name]
    assert set(words) <= set(COMMANDS)
    assert set(re.findall(r"--[a-z][a-z-]*", entry)) <= options_of(words)


def test_the_readme_lists_every_command() -> None:
    assert set(COMMANDS) <= {entry.split()[1] for entry in synopsis()}
