"""``doctor``: what a bug report needs to say about this installation.

Nothing but the standard library is imported here: the other libraries may be what is broken.
"""

from __future__ import annotations

import importlib.metadata
import json
import locale
import multiprocessing
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from pipeline.release import REPORT_AT, install_text

_IMPORTED = {
    "polars-hash": "polars_hash", "typing-extensions": "typing_extensions",
    "vl-convert-python": "vl_convert", "tomli-w": "tomli_w",
}  # fmt: skip
"""Modules that are not called like their package."""
_EXTRAS = {
    "web": "pages of annotation", "cloud": "results on an object store",
    "icu": "words of text without blanks", "spark": "tasks on Spark",
}  # fmt: skip
_PROBE = """
import importlib, sys
for name in sys.argv[1:]:
    print(name, end=" ", flush=True)
    try:
        importlib.import_module(name)
        print("ok", flush=True)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}".replace(chr(10), " "), flush=True)
"""
"""A crash of a library ends this script and not the command."""
_SECONDS = 120
_LITTLE_SPACE, _LITTLE_MEMORY = 1 << 30, 1 << 30
_SCRIPTS = {
    "Latin": "a", "Greek": "\u03a9", "Cyrillic": "\u0436", "Hebrew": "\u05e2", "Arabic": "\u0639",
    "Devanagari": "\u0939", "Thai": "\u0e44", "Chinese": "\u4e2d", "Japanese": "\u306e",
    "Korean": "\ud55c",
}  # fmt: skip
_NO_LETTER = "\U000f0000"
_FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" viewBox="0 0 40 30">'
    '<text x="2" y="20" font-size="12" font-family="{}">{}</text></svg>'
)
_VARIABLES = ("LEXASSAY_", "POLARS_", "OMP_", "OPENBLAS_", "LOKY_", "TMPDIR", "XDG_CACHE_HOME")
_CGROUP = Path("/sys/fs/cgroup")


class Check(NamedTuple):
    """One line of the page.

    Parameters
    ----------
    subject : str
        What was looked at.
    result : str
        What was found.
    state : str
        "ok"; "none" of what only some need; "fix" of what has to be mended.
    remedy : str
        What to do; may be empty.
    """

    subject: str
    result: str
    state: str = "ok"
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.state:<5} {self.subject}: {self.result}"
        return f"{text}\n      {self.remedy}" if self.remedy else text


def doctor(
    runs: Annotated[Path, typer.Option("--runs", help="Folder of all results.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Check this installation, as text to paste into a bug report."""
    sections = {title: list(checks) for title, checks in _sections(runs)}
    every = [check for checks in sections.values() for check in checks]
    broken = [check.subject for check in every if check.state == "fix"]
    if as_json:
        rows = {title: [each._asdict() for each in checks] for title, checks in sections.items()}
        content = {"checks": rows, "fix": broken, "report_at": REPORT_AT}
        print(_without_home(json.dumps(content, indent=1)))
    else:
        blocks = ["\n".join([title, *map(str, checks)]) for title, checks in sections.items()]
        end = f"To fix: {', '.join(broken)}." if broken else "Nothing to fix."
        where = f"Report problems {REPORT_AT}, with this text and the output of --debug."
        text = _without_home("\n\n".join([*blocks, f"{end}\n{where}"]))
        encoding = sys.stdout.encoding or "ascii"
        print(text.encode(encoding, "backslashreplace").decode(encoding))
    return 1 if broken else 0


def _sections(runs: Path) -> Iterator[tuple[str, Iterator[Check]]]:
    """Yield the sections of the page with their lines."""
    yield "Versions", _versions()
    yield "Folders", _folders(runs)
    yield "Machine", _machine()
    yield "Output", _output()
    yield "Other programs", _programs()


def _without_home(text: str) -> str:
    """Return the text with ~ for the home folder, whose name is often that of a person."""
    home = os.environ.get("HOME", "").rstrip("/")
    return text.replace(f"{home}/", "~/") if home else text


# Versions


def _versions() -> Iterator[Check]:
    yield Check(
        "lexassay", f"{_version('lexassay') or 'not installed'}, {Path(__file__).parents[2]}"
    )
    system = f"{platform.python_implementation()} on {platform.platform()}"
    yield Check("Python", f"{platform.python_version()} ({system}), {sys.executable}")
    required, extras = _requirements()
    complete = {extra: all(map(_version, packages)) for extra, packages in extras.items()}
    there = [name for extra, packages in extras.items() if complete[extra] for name in packages]
    names = [*filter(_version, required), *there]
    imported = _imports([_IMPORTED.get(name, name) for name in names])
    for name, versions in required.items():
        yield _package(name, versions, imported, "reinstall lexassay")
    for extra, packages in extras.items():
        requirements = [f'"{name}{versions}"' for name, versions in packages.items()]
        hint = f"{_EXTRAS[extra]}: {install_text(*requirements)}"
        if complete[extra]:
            for name, versions in packages.items():
                yield _package(name, versions, imported, f"Needed for {hint}")
        else:
            missing = [name for name in packages if _version(name) is None]
            what = f"not installed ({', '.join(missing)})"
            yield Check(f"extra {extra}", what, "none", f"Only needed for {hint}")
    points = [
        point
        for group in ("lexassay", "lexassay.engines")
        for point in importlib.metadata.entry_points(group=group)
    ]
    yield Check("extensions", ", ".join(sorted(f"{p.name} = {p.value}" for p in points)) or "none")


def _version(name: str) -> str | None:
    """Return the version of an installed package; None if it is not there."""
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)
    return None


def _requirements() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the packages that are needed, with the versions that fit, and those of each extra."""
    required: dict[str, str] = {}
    extras: dict[str, dict[str, str]] = {name: {} for name in _EXTRAS}
    with suppress(importlib.metadata.PackageNotFoundError):
        for line in importlib.metadata.requires("lexassay") or ():
            requirement, _, condition = line.partition(";")
            name, versions = re.fullmatch(r"([\w.-]+)(?:\[.*\])?(.*)", requirement).groups()  # type: ignore[union-attr]
            extra = re.search(r"extra == ['\"](\w+)", condition)
            (required if extra is None else extras.get(extra[1], {}))[name] = versions.strip()
    return required, extras


def _imports(modules: Sequence[str]) -> dict[str, str]:
    """Import modules in another process, and return "ok" or the error of each.

    A module that ends the process, for example as the processor lacks an instruction, is named,
    and the others are imported without it.
    """
    results: dict[str, str] = {}
    while rest := [name for name in modules if name not in results]:
        command = [sys.executable, "-P", "-W", "ignore", "-c", _PROBE, *rest]
        try:
            process = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=_SECONDS,
                stdin=subprocess.DEVNULL, cwd=Path(sys.executable).parent, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return {**dict.fromkeys(rest, f"cannot be tried: {error}"), **results}
        lines = [line.partition(" ") for line in process.stdout.splitlines()]
        results |= {name: message for name, _, message in lines if name in rest and message}
        if others := [name for name in rest if name not in results]:
            results[others[0]] = f"importing it ends Python ({_end(process.returncode)})"
    return results


def _end(code: int) -> str:
    """Return how a process ended.

    Examples
    --------
    >>> _end(-4), _end(3)
    ('SIGILL', 'exit code 3')
    """
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _package(name: str, versions: str, imported: dict[str, str], remedy: str) -> Check:
    version = _version(name)
    if version is None:
        return Check(name, "not installed", "fix", remedy)
    state = imported.get(_IMPORTED.get(name, name), "ok")
    if state != "ok":
        return Check(name, f"{version}, {state}", "fix", remedy)
    if not _fits(version, versions):
        return Check(name, f"{version}, but lexassay needs {versions}", "fix", remedy)
    return Check(name, version)


def _fits(version: str, versions: str) -> bool:
    """Return whether a version is among those wanted.

    Examples
    --------
    >>> _fits("2.10.1", "<3,>=2.1"), _fits("3.0", "<3,>=2.1"), _fits("1.9.0.post1", ">=1.9")
    (True, False, True)
    """
    own = _numbers(version)
    tests = {
        ">=": lambda bound: own >= bound, "<": lambda bound: own < bound,
        "==": lambda bound: own == bound,
    }  # fmt: skip
    bounds = re.findall(r"(>=|==|<)\s*([\d.]+)", versions)
    return all(tests[sign](_numbers(bound)) for sign, bound in bounds)


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return (*map(int, match[0].split(".") if match else ()), 0, 0, 0)[:3]


# Folders


def _folders(runs: Path) -> Iterator[Check]:
    try:
        yield _folder("results", Path.cwd() / runs, "give another folder: --runs DIR")
    except OSError as error:
        yield Check("results", f"no working folder: {error.strerror}", "fix", "go to a folder: cd")
    yield _folder("cache", _cache(), "set XDG_CACHE_HOME to a folder that you can write to")
    spill = os.environ.get("POLARS_OOC_SPILL_DIR") or os.environ.get("TMPDIR") or "/var/tmp"
    remedy = "set TMPDIR to a folder that you can write to"
    yield _folder("temporary files", Path(spill), remedy)
    if not os.environ.get("TMPDIR"):
        try:
            yield _folder("temporary files of Python", Path(tempfile.gettempdir()), remedy)
        except OSError as error:
            yield Check("temporary files of Python", str(error), "fix", remedy)


def _cache() -> Path:
    try:
        import platformdirs

        return platformdirs.user_cache_path("lexassay", appauthor=False)
    except Exception:  # the package may be broken, and the user may have no home
        home = os.environ.get("HOME") or "/"
        return Path(os.environ.get("XDG_CACHE_HOME") or f"{home}/.cache", "lexassay")


def _folder(subject: str, folder: Path, remedy: str) -> Check:
    """Return whether a folder, or the one that it would be made in, can be written to."""
    try:
        there = next(each for each in (folder, *folder.parents) if each.exists())
        with tempfile.TemporaryFile(dir=there):
            pass
        free = shutil.disk_usage(there).free
    except OSError as error:
        why = error.strerror or str(error)
        return Check(subject, f"{folder}: cannot be written to ({why})", "fix", remedy)
    state = "can be written to" if there == folder else "can be created"
    text = f"{folder}: {state}, {_size(free)} free"
    return Check(subject, text, *(("fix", "free some space") if free < _LITTLE_SPACE else ()))


def _size(number: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> _size(3 << 30), _size(512 << 20)
    ('3.2 GB', '537 MB')
    """
    return f"{number / 1e9:,.1f} GB" if number >= 10**9 else f"{number / 1e6:,.0f} MB"


# Machine


def _machine() -> Iterator[Check]:
    yield from _memory()
    yield _cores()
    try:
        multiprocessing.get_context("spawn").Lock()
        yield Check("several processes", "possible")
    except (ImportError, OSError) as error:
        what = f'engine = "processes" cannot work: {error}'
        yield Check("several processes", what, "fix", "mount /dev/shm, for example with 1 GB")
    with suppress(ImportError, OSError, ValueError):
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        few = files < 256
        yield Check("open files", f"at most {files:,}", *(("fix", "ulimit -n 1024") if few else ()))
    names = sorted(name for name in os.environ if name.startswith(_VARIABLES))
    yield Check("variables", ", ".join(f"{name}={os.environ[name]}" for name in names) or "none")


def _memory() -> Iterator[Check]:
    pairs = re.findall(r"(MemTotal|MemAvailable):\s+(\d+) kB", _read(Path("/proc/meminfo")))
    sizes = {name: int(number) << 10 for name, number in pairs}
    if not sizes:
        yield Check("memory", "unknown on this system", "none")
        return
    limits = {"container (cgroup)": cgroup_memory(), "ulimit -v": _address_space()}
    lower = {name: size for name, size in limits.items() if size and size < sizes["MemTotal"]}
    free = min([sizes["MemAvailable"], *lower.values()])
    text = f"{_size(sizes['MemTotal'])}, {_size(sizes['MemAvailable'])} available"
    text += "".join(f", limit of the {name} {_size(size)}" for name, size in lower.items())
    if free < _LITTLE_MEMORY:
        yield Check("memory", text, "fix", "close programs or raise the limit; at least 1 GB helps")
    elif lower:
        remedy = f'Write memory = "{free * 3 // 4 // 10**6}MB" under [run] of large experiments.'
        yield Check("memory", text, "ok", remedy)
    else:
        yield Check("memory", text)


def cgroup_memory(root: Path = _CGROUP, own: str | None = None) -> int | None:
    """Return the lowest limit of memory of the control groups of this process; None without one.

    Parameters
    ----------
    root : Path
        Where control groups are mounted.
    own : str, optional
        The lines of ``/proc/self/cgroup``.
    """
    files = (
        *((folder / "memory.max") for folder in _groups(root, "", own)),
        *((folder / "memory.limit_in_bytes") for folder in _groups(root / "memory", "memory", own)),
    )
    sizes = [int(text) for text in map(_read, files) if text.strip().isdigit()]
    return min(sizes, default=None)


def cgroup_cores(root: Path = _CGROUP, own: str | None = None) -> float | None:
    """Return the lowest quota of cores of the control groups of this process; None without one."""
    pairs = [_read(folder / "cpu.max").split() for folder in _groups(root, "", own)]
    for folder in _groups(root / "cpu", "cpu", own):
        pairs.append([_read(folder / f"cpu.cfs_{what}_us").strip() for what in ("quota", "period")])
    quotas = [pair for pair in pairs if len(pair) == 2 and all(map(str.isdigit, pair))]
    return min((int(quota) / int(period) for quota, period in quotas), default=None)


def _groups(root: Path, controller: str, own: str | None) -> Iterator[Path]:
    """Yield the folder of the control group of this process, and those above it."""
    for line in (_read(Path("/proc/self/cgroup")) if own is None else own).splitlines():
        _, names, path = (*line.split(":", 2), "", "")[:3]
        if controller in names.split(","):
            folder = root / path.lstrip("/")
            yield folder
            yield from (each for each in folder.parents if each.is_relative_to(root))


def _address_space() -> int | None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        return None if limit == resource.RLIM_INFINITY else limit
    return None


def _read(path: Path) -> str:
    """Return the text of a file of the system; nothing if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    return ""


def _cores() -> Check:
    every = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else every
    quota = cgroup_cores()
    usable = max(1, min(allowed, int(quota) if quota else allowed))
    text = f"{every} ({platform.machine()})"
    if usable == every:
        return Check("cores", text)
    limits = [f"{allowed} allowed"] if allowed < every else []
    limits += [f"quota of the container {quota:g}"] if quota else []
    remedy = f"Write workers = {usable} under [run]; set POLARS_MAX_THREADS={usable}."
    return Check("cores", ", ".join([text, *limits]), "ok", remedy)


# Output


def _output() -> Iterator[Check]:
    encoding = (sys.stdout.encoding or "unknown").lower()
    names = ("LC_ALL", "LC_CTYPE", "LANG", "PYTHONIOENCODING", "PYTHONUTF8")
    variables = ", ".join(f"{name}={os.environ[name]}" for name in names if os.environ.get(name))
    text = f"{encoding}; file names {sys.getfilesystemencoding()}; locale {_locale()}"
    text += f"; {variables}" if variables else ""
    good = encoding.replace("-", "") == "utf8"
    remedy = "set LC_ALL=C.UTF-8 or PYTHONUTF8=1 to see letters beyond ASCII"
    yield Check("encoding", text, *(() if good else ("fix", remedy)))
    size = shutil.get_terminal_size()
    kind = "terminal" if sys.stdout.isatty() else "no terminal"
    term = os.environ.get("TERM", "not set")
    yield Check("terminal", f"{kind}, {size.columns} x {size.lines}, TERM {term}")
    yield _fonts()


def _locale() -> str:
    with suppress(Exception):
        return ".".join(filter(None, locale.getlocale())) or "C"
    return "unknown"


def _fonts() -> Check:
    """Return whether still figures have letters of some scripts: missing ones look alike."""
    try:
        missing = [name for name, letter in _SCRIPTS.items() if not _has_letter(letter)]
    except Exception as error:  # whatever is wrong with the library
        what = f"no figure can be drawn: {type(error).__name__}: {error}"
        return Check("fonts", what, "fix", "install it again: pip install vl-convert-python")
    has = ", ".join(name for name in _SCRIPTS if name not in missing)
    if "Latin" in missing:
        return Check("fonts", "none", "fix", "install fonts, such as fonts-liberation on Debian")
    text = f"{has} in figures"
    if not missing:
        return Check("fonts", text)
    remedy = "Install fonts if you need them, such as fonts-noto-core, fonts-noto-cjk on Debian."
    return Check("fonts", f"{text}; none for {', '.join(missing)}", "none", remedy)


def _has_letter(letter: str) -> bool:
    import vl_convert

    drawn, blank, unknown = (
        vl_convert.svg_to_png(_PICTURE.format(_FONT, text)) for text in (letter, " ", _NO_LETTER)
    )
    return drawn not in (blank, unknown)


# Other programs


def _programs() -> Iterator[Check]:
    import sqlite3

    yield Check("SQLite (annotation)", sqlite3.sqlite_version)
    yield _browser()
    spark = _version("pyspark") is not None
    yield _java(is_needed=spark)
    names = [name for name in ("SPARK_HOME", "SPARK_MASTER", "SPARK_REMOTE") if name in os.environ]
    text = f"PySpark {_version('pyspark')}" if spark else "no PySpark"
    yield Check("Spark", ", ".join([text, *(f"{name} is set" for name in names)]), _only(spark))


def _only(there: bool) -> str:
    return "ok" if there else "none"


def _browser() -> Check:
    try:
        webbrowser.get()
    except webbrowser.Error:
        remedy = "Open reports, and links of annotation, in a browser on any machine."
        return Check("browser", "none that a program can open", "none", remedy)
    known = ("firefox", "chromium", "chromium-browser", "google-chrome", "safari", "msedge")
    browsers = [name for name in known if shutil.which(name)]
    return Check("browser", ", ".join(browsers) or "the one of the system")


def _java(*, is_needed: bool) -> Check:
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin") if home else None
    program = program or shutil.which("java")
    remedy = "Spark needs Java 17 or later, such as default-jre-headless on Debian."
    if program is None:
        return Check("Java", "not found", "fix" if is_needed else "none", remedy)
    command = [program, "-version"]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_SECONDS,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check("Java", f"{program}: {error}", "fix" if is_needed else "none", remedy)
    match = re.search(r'version "([^"]+)"', process.stderr + process.stdout)
    if process.returncode or match is None:
        return Check("Java", f"{program} does not run", "fix" if is_needed else "none", remedy)
    old = _numbers(match[1]) < (17, 0, 0)
    state, hint = ("fix", remedy) if old and is_needed else ("ok", remedy if old else "")
    return Check("Java", f"{match[1]}, {program}", state, hint)
