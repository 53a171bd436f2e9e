"""Memory left for counting, limits that cannot be kept, and input files of stages."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigError, DataError, Problem
from pipeline.formats.base import Batch, FormatOptions, format_of
from pipeline.runner import inputs
from pipeline.runner.config import RunOptions, parse
from pipeline.runner.inputs import Budget, Places, SourceFile, entries, find, read_batches
from pipeline.runner.store import digest
from pipeline.runner.store.digest import file_digest
from pipeline.stages.base import CorpusSource

MB = 1 << 20
STAGES = {"stages": {"a": {"use": "extract.words"}}}


@pytest.fixture
def _count_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the libraries, which other tests do not count."""
    monkeypatch.delenv(inputs.LIBRARIES_VARIABLE)


def problems(**run: object) -> list[Problem]:
    return parse({"name": "x", **STAGES, "run": run})[1]


@pytest.mark.usefixtures("_count_libraries")
def test_the_libraries_of_all_processes_are_subtracted() -> None:
    two = RunOptions(engine="processes", workers=2, memory=1000 * MB)
    assert two.budget.memory == (1000 - 3 * 230) * MB // 2
    assert RunOptions(memory=1000 * MB).budget.memory == 770 * MB
    assert RunOptions().budget.memory is None
    assert RunOptions(workers=8, memory=500 * MB).budget.memory == 270 * MB  # "local": one process


@pytest.mark.usefixtures("_count_libraries")
def test_a_variable_may_state_the_size_of_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inputs.LIBRARIES_VARIABLE, str(100 * MB))
    assert Budget(500 * MB).per_worker(3, 4).memory == 100 * MB // 3
    assert not problems(memory="101MB")


@pytest.mark.usefixtures("_count_libraries")
@pytest.mark.parametrize(
    ("run", "least", "message"),
    [
        ({}, 231, "a process needs about 230.0 MB for the libraries alone; give"),
        (
            {"engine": "processes", "workers": 1},
            461,
            "there are 2 processes, 1 of them workers; give",
        ),
        (
            {"engine": "processes", "workers": 2},
            691,
            "3 processes, 2 of them workers; give 691MB or more, or",
        ),
    ],
)
def test_a_limit_below_the_size_of_the_libraries_is_refused(
    run: dict[str, object], least: int, message: str
) -> None:
    (problem,) = problems(memory=f"{least - 1}MB", **run)
    assert problem.where == "run.memory"
    assert f"{least - 1}.0 MB is not enough" in problem.what
    assert message in problem.what
    assert f"give {least}MB or more" in problem.what
    assert not problems(memory=f"{least}MB", **run)


@pytest.mark.usefixtures("_count_libraries")
def test_other_errors_of_limits_are_reported() -> None:
    assert "not an amount of memory" in problems(memory="much")[0].what
    (workers,) = problems(engine="processes", workers=0, memory="500MB")
    assert workers.where == "run.workers"


@pytest.mark.usefixtures("_count_libraries")
def test_without_a_limit_nothing_is_refused() -> None:
    assert not parse({"name": "x", **STAGES})[1]


# Files of an experiment as stages see them.


def test_a_table_cannot_be_read_as_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("form\na\n")
    tsv = format_of("x.tsv")
    file = SourceFile("x.tsv", path, tsv, tsv.options.model_validate({}))
    assert file.scan().select("file", "form").collect().rows() == [("x.tsv", "a")]
    with pytest.raises(TypeError, match="format tsv reads no corpus"):
        next(file.batches(["form"], 100))


def test_a_path_with_a_null_character_is_refused(tmp_path: Path) -> None:
    source = CorpusSource.model_validate("a\0b.tsv")
    with pytest.raises(ConfigError) as error:
        find(source, Places(tmp_path), where="stages.pairs.corpus")
    assert "no file name has the character U+0000; correct the path" in str(error.value)


def names_found(folder: Path, *patterns: str) -> list[str]:
    files = find(CorpusSource(path=patterns, format="text"), Places(folder), where="corpus")
    return [each.path.relative_to(folder).as_posix() for each in files]


def test_each_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for name in ("a.txt", "b.txt", "d/c.txt"):
        (tmp_path / name).write_text("x\n")
    assert names_found(tmp_path, "b.txt", "*.txt", "b.txt") == ["b.txt", "a.txt"]
    own = str(tmp_path / "a.txt")
    assert names_found(tmp_path, "**/*.txt", own, "d") == ["a.txt", "b.txt", "d/c.txt"]


def test_patterns_must_name_hidden_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".d" / "e").mkdir(parents=True)
    for name in ("a.txt", ".b.txt", ".d/c.txt", ".d/.f.txt", ".d/e/g.txt"):
        (tmp_path / name).write_text("x\n")
    assert names_found(tmp_path, "*.txt") == ["a.txt"] == names_found(tmp_path, "**/*.txt")
    assert names_found(tmp_path, ".*.txt") == [".b.txt"]
    assert names_found(tmp_path, ".d/*.txt") == [".d/c.txt"] == names_found(tmp_path, ".d")
    assert names_found(tmp_path, ".d/**/*.txt") == [".d/c.txt", ".d/e/g.txt"]
    assert names_found(tmp_path, ".b.txt") == [".b.txt"]
    above = find(CorpusSource(path=("../*.txt",)), Places(tmp_path / ".d" / "e"), where="corpus")
    assert [each.path.name for each in above] == ["c.txt"]
    monkeypatch.chdir(tmp_path)
    assert [str(path) for path in inputs.search_files(Path(), "*.txt")] == ["a.txt"]
    assert [str(path) for path in inputs.search_files(Path(), "**/e/*")] == []


def tables_of(folder: Path, *texts: str) -> list[SourceFile]:
    """Write tables 0.tsv, 1.tsv ... and return them as files of a source."""
    tsv = format_of("x.tsv")
    files = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.tsv"
        path.write_text(text)
        files.append(SourceFile(path.name, path, tsv, tsv.options.model_validate({})))
    return files


def test_columns_of_several_tables_may_have_any_order(tmp_path: Path) -> None:
    files = tables_of(tmp_path, "l1\tf\na\t1\n", "f\tl1\n2\tb\n")
    rows = inputs.entries(files).select("file", "l1", "f").collect().rows()
    assert rows == [("0.tsv", "a", "1"), ("1.tsv", "b", "2")]


@pytest.mark.parametrize(
    ("head", "what"),
    [("\tl1\tf", "also has ''"), ("l1\tg", "lacks 'f' and also has 'g'"), ("l1\tx", "lacks 'f'")],
)
def test_columns_of_several_tables_that_differ_are_refused(
    tmp_path: Path, head: str, what: str
) -> None:
    rows = "\t".join("1" for _ in head.split("\t"))
    files = tables_of(tmp_path, "l1\tf\na\t1\n", f"{head}\n{rows}\n")
    with pytest.raises(
        DataError, match=rf"1.tsv: its columns differ from those of 0.tsv: it {what}"
    ):
        inputs.entries(files)


def test_a_corpus_is_read_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a b\nc\n")
    options: FormatOptions = format_of("x.txt").options()
    file = SourceFile("all texts", path, format_of("x.txt"), options)
    batches = list(file.batches(["file", "form"], 2))
    rows = [row for batch in batches for row in batch.tokens.select("file", "form").rows()]
    assert rows == [("all texts", "a"), ("all texts", "b"), ("all texts", "c")]


def test_texts_may_have_different_metadata(tmp_path: Path) -> None:
    """Files of a source may differ in metadata, but not in other columns."""
    token = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n"
    (tmp_path / "a.conllu").write_text(f"# genre = news\n{token}")
    (tmp_path / "b.conllu").write_text(f"# speaker = B\n{token}")
    (tmp_path / "c.conllup").write_text("# global.columns = ID FORM GENRE\n1\ta\town\n")
    places = Places(tmp_path)
    result = find(CorpusSource(path=("a.conllu", "b.conllu", "c.conllup")), places, where="corpus")
    for file, values in zip(result, [("news", None), (None, "B"), ("own", None)], strict=True):
        assert {"genre", "speaker"} <= set(file.schema())
        (batch,) = file.batches({"form", "genre", "speaker"}, 100)
        assert batch.tokens.select("genre", "speaker").rows() == [values]
        assert file.scan().select("genre", "speaker").collect().rows() == [values]
    assert "xpos" not in result[2].schema()
    (alone,) = find(CorpusSource(path=("a.conllu",)), places, where="corpus")
    assert "speaker" not in alone.schema()


class SeenFile:
    """A file whose digest is known; counts how often its content is read afterwards."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path.write_text("a b\n")
        format_ = format_of("x.txt")
        file = SourceFile("x.txt", path, format_, format_.options())
        self.path, self.file, self.looks = path, file.as_it_is(file_digest), 0
        monkeypatch.setattr(inputs, "file_digest", self.look)

    def look(self, path: Path) -> str:
        self.looks += 1
        return file_digest(path)

    def is_same(self) -> bool:
        return self.file.is_what(self.file.stamp())


@pytest.fixture
def watcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SeenFile:
    monkeypatch.setattr(digest, "_FRESH", -1.0)  # so that it is not recent
    return SeenFile(tmp_path / "x.txt", monkeypatch)


def test_an_unmodified_file_is_not_read_again(watcher: SeenFile) -> None:
    assert watcher.is_same()
    assert not watcher.looks


def rewritten(path: Path) -> None:
    path.write_text("a c\n")


def replace_file(path: Path) -> None:
    other = path.with_name("other")
    rewritten(other)
    other.replace(path)


def with_its_time(change: Callable[[Path], None], path: Path) -> None:
    """Change a file to one of the same size, and of the same time of modification."""
    stat = path.stat()
    change(path)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("change", [rewritten, replace_file])
def test_a_file_changed_with_equal_size_and_time_is_detected(
    watcher: SeenFile, change: Callable[[Path], None]
) -> None:
    with_its_time(change, watcher.path)
    assert not watcher.is_same()


def test_a_file_with_another_mode_is_read_and_equal(watcher: SeenFile) -> None:
    before = watcher.file.stamp()
    watcher.path.chmod(0o600)
    assert watcher.is_same()
    assert watcher.looks == 1
    assert not digest.was_written(before, watcher.file.stamp())


def test_a_file_that_has_just_changed_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_FRESH", 60.0)
    new = SeenFile(tmp_path / "x.txt", monkeypatch)
    assert new.is_same()
    assert new.looks == 1


# Many small files, read together: the result equals that of separate reading

ROW = "{0}\t{1}\t{1}\tNOUN\t_\t_\t0\troot\t_\t_\n"
WORDS = [
    "".join(ROW.format(n + 1, word) for n, word in enumerate(each))
    for each in ("a", "ab", "b\u0301a")
]
CONLLU = st.lists(st.sampled_from([
    *WORDS, *(words + "\n" for words in WORDS), "\n", "# newdoc id = x\n", "# newdoc\n", "# newpar\n",
    "# text = a b\n", " \n", "\u0301\n", "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n",
    "1.1\te\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "2\tlost\n", "\ufeff", "\r\n", "\r", "\0",
]), max_size=7)  # fmt: skip
TEXT = st.lists(st.sampled_from([
    "The dog ran. It was.", "### one", "### ", "\n", "\n", "\n\n", " ", "b\u0301", "\u0301", "Mr. Fox",
    "wrap-\nped", "\u200b", "\u2028", "\x85", "\f", "\ufeff", "\r\n", "\r", "\t", "\0", "\u5bb6\u3002",
]), max_size=7)  # fmt: skip
TEXTS: list[dict[str, Any]] = [
    {}, {"sentences": "split", "language": "en", "clitics": "split"}, {"normalise": "none"},
    {"sentences": "wrapped", "language": "none", "join_hyphens": True}, {"document": "^### ?(.*)$"},
    {"sentences": "auto", "document": "^(.*)$"},
]  # fmt: skip
ATTRIBUTES = ["line", "doc", "paragraph", "sentence", "position", "form"]


def read_all(batches: Iterable[Batch]) -> tuple[Any, ...]:
    """Return the tokens, the skipped and the replaced input; or the message of the error."""
    try:
        result = list(batches)
    except DataError as error:
        return (str(error),)
    replaced = sum((Counter(each.replaced) for each in result), Counter())
    skipped = [skip for each in result for skip in each.skipped]
    return pl.concat([each.tokens for each in result]).rows(), skipped, replaced


def check_together(
    folder: Path, contents: list[list[str]], name: str, columns: list[str], options: dict[str, Any]
) -> None:
    reader = format_of(name, kind="corpus")
    files = []
    for number, content in enumerate(contents):
        path = folder / f"{number}{name}"
        path.write_bytes("".join(content).encode())
        files.append(SourceFile(path.name, path, reader, reader.options.model_validate(options)))
    alone = read_all(batch for file in files for batch in file.batches(columns, 1 << 20))
    together = read_all(batch for _, batch in read_batches(files, columns, 1 << 20))
    assert together == alone


@given(
    contents=st.lists(CONLLU, min_size=2, max_size=5), lenient=st.booleans(),
    more=st.sampled_from([[], ["lemma", "head"], ["surface", "space_after"], ["newdoc"]]),
)  # fmt: skip
def test_small_parsed_files_are_read_together_or_separately(
    contents: list[list[str]], lenient: bool, more: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        check_together(
            Path(folder), contents, ".conllu", [*ATTRIBUTES, *more], {"lenient": lenient}
        )


@given(
    contents=st.lists(TEXT, min_size=2, max_size=5), lenient=st.booleans(),
    options=st.sampled_from(TEXTS), more=st.sampled_from([[], ["space_after"]]),
)  # fmt: skip
def test_small_texts_are_read_together_or_separately(
    contents: list[list[str]], lenient: bool, options: dict[str, Any], more: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        check_together(
            Path(folder), contents, ".txt", [*ATTRIBUTES, *more], options | {"lenient": lenient}
        )


def test_a_damaged_small_file_is_read_separately(tmp_path: Path) -> None:
    reader = format_of(".txt")
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text("" if number == 9 else f"word{number} two\n")
    options = reader.options.model_validate({"lenient": True})
    files = [SourceFile(p.name, p, reader, options) for p in sorted(tmp_path.iterdir())]
    result = list(read_batches(files, {"form"}, 1 << 20))
    assert len(result) < 10
    assert [each.label for batch_files, _ in result for each in batch_files] == [
        each.label for each in files
    ]
    (alone,) = [batch_files for batch_files, batch in result if batch.skipped]
    assert [each.label for each in alone] == ["09.txt"]
    forms = [form for _, batch in result for form in batch.tokens["form"]]
    assert forms[::2] == [f"word{number}" for number in range(40) if number != 9]


def test_a_long_search_for_files_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    event, message = Event(), "/**/*.txt: still searching folders, 1 found"

    def slowly(_folder: Path, _pattern: str) -> Iterator[Path]:
        yield tmp_path / "a.txt"
        for _ in range(10_000):  # the first lines may come before the first file
            if message in caplog.messages:
                break
            event.wait(0.001)
        yield tmp_path / "b.txt"

    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("x\n")
    monkeypatch.setattr(inputs, "_PAUSE", 0.001)
    monkeypatch.setattr(Path, "glob", slowly)
    result = find(CorpusSource(path=("/**/*.txt",)), Places(tmp_path), where="corpus")
    assert [each.path.name for each in result] == ["a.txt", "b.txt"]
    assert message in caplog.messages


def test_very_many_tables_are_read_one_by_one(tmp_path: Path) -> None:
    reader = format_of(".csv", kind="table")
    for number in range(inputs._SCANS + 9):  # above 512 the streaming engine never ends
        (tmp_path / f"{number:03}.csv").write_text(f"word,f\na{number},1\nb{number},2\n")
    files = [SourceFile(p.name, p, reader, reader.options()) for p in sorted(tmp_path.iterdir())]
    rows = entries(files)
    some = rows.filter(pl.col("f") == "2").select("file", "line", "word")
    assert some.collect(engine="streaming").rows() == [
        (f"{number:03}.csv", 3, f"b{number}") for number in range(inputs._SCANS + 9)
    ]
    assert rows.head(3).collect(engine="streaming")["word"].to_list() == ["a0", "b0", "a1"]
