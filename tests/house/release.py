"""Build a release twice from the last commit, and use it.

python -m tests.house.release [FOLDER]

The wheel and the source distribution are written to FOLDER, by default ``dist``, with a bill of
materials (CycloneDX: all packages that the command needs, with versions and licences) and the
digests of all files. Builds in two folders, with different permissions and times of files, must
be identical. The wheel built from the source distribution must be identical as well.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.house.wheel import ROOT, VERSION, call, complete, install, use

EXTRAS = "web,cloud,icu"
"""Extras whose packages are available as wheels; the bill of materials includes them."""


def commit_time() -> str:
    """Return the time of the last commit in seconds; fail if files differ from it."""
    status = ["git", "status", "--porcelain", "--untracked-files=no"]
    if changed := call(status, ROOT):
        raise SystemExit(f"commit these first: a release is made from a commit\n{changed}")
    return call(["git", "log", "-1", "--format=%ct"], ROOT).strip()


def build(sources: Path, output: Path, time: str) -> None:
    """Build wheel and source distribution from a folder."""
    os.environ["SOURCE_DATE_EPOCH"] = time
    call([sys.executable, "-m", "hatchling", "build", "--directory", output], sources)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder, and return the folder."""
    folder.mkdir()
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder."""
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def build_twice(folder: Path, output: Path) -> Path:
    """Build the last commit twice, and once from the source distribution; return the wheel."""
    time = commit_time()
    archive = folder / "commit.tar"
    call(["git", "archive", "--output", archive, "HEAD"], ROOT)
    builds = []
    for name, mask in (("first", 0o022), ("second", 0o077)):
        usual = os.umask(mask)
        try:
            sources = unpack(archive, folder / name)
            for number, path in enumerate(sorted(sources.rglob("*.py"))):
                os.utime(path, (number, number) if mask else None)
            build(sources, folder / f"{name}-dist", time)
        finally:
            os.umask(usual)
        builds.append(digests(folder / f"{name}-dist"))
    if builds[0] != builds[1]:
        raise SystemExit(f"two builds of one commit differ: {builds[0]}, {builds[1]}")
    packed = folder / "first-dist" / f"lexassay-{VERSION}.tar.gz"
    again = unpack(packed, folder / "third") / f"lexassay-{VERSION}"
    build(again, folder / "third-dist", time)
    wheel = f"lexassay-{VERSION}-py3-none-any.whl"
    if digests(folder / "third-dist")[wheel] != builds[0][wheel]:
        raise SystemExit("the wheel from the source distribution differs")
    output.mkdir(parents=True, exist_ok=True)
    for name in builds[0]:
        (output / name).write_bytes((folder / "first-dist" / name).read_bytes())
    return output / wheel


def bill_of_materials(python: Path, output: Path) -> None:
    """Write the packages in an environment, with versions and licences, as CycloneDX."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
    project: list[str | Path] = ["--pyproject", ROOT / "pyproject.toml", "--mc-type", "application"]
    call([*command, *project, "--output-file", output, python], ROOT)


def main(arguments: Sequence[str]) -> None:
    """Build the release, compare the builds, use the wheel, and list the files."""
    output = Path(arguments[0] if arguments else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build_twice(folder, output)
        complete(wheel)
        command = install(wheel, folder)
        use(command, folder / "elsewhere")
        python = command.parent / "python"
        pip: list[str | Path] = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary",
            ":all:",
        ]
        call([*pip, "--constraint", ROOT / "constraints.txt", f"{wheel}[{EXTRAS}]"], folder)
        bill_of_materials(python, output / f"lexassay-{VERSION}.cdx.json")
    (output / "SHA256SUMS").unlink(missing_ok=True)
    released = {key: text for key, text in digests(output).items() if f"-{VERSION}" in key}
    lines = [f"{text}  {key}\n" for key, text in released.items()]
    (output / "SHA256SUMS").write_text("".join(lines))
    print(*lines, sep="", end="")


if __name__ == "__main__":
    main(sys.argv[1:])
