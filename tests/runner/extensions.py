"""Make a folder that looks like an installed package with an entry point."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent


def install(
    target: Path,
    *,
    name: str,
    modules: Mapping[str, Path | str],
    group: str = "lexassay",
    points: Mapping[str, str] | None = None,
) -> Path:
    """Write modules and the record of a package that offers all of them; return the folder.

    Parameters
    ----------
    target : Path
        Folder for the package, to be put on the import path.
    name : str
        Name of the package.
    modules : mapping of str to Path or str
        Dotted name of a module to the file to copy, or to its text.
    group : str
        Group of the entry points.
    points : mapping of str to str, optional
        Name of an entry point to what it names; every module if None.
    """
    for module, source in modules.items():
        path = target.joinpath(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, Path):
            shutil.copyfile(source, path)
        else:
            path.write_text(source, encoding="utf-8")
    record = target / f"{name.replace('-', '_')}-1.0.dist-info"
    record.mkdir(parents=True, exist_ok=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    if points is None:
        points = {module.replace(".", "_"): module for module in modules}
    lines = "\n".join(f"{point} = {target_module}" for point, target_module in points.items())
    (record / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")
    return target


def slow(target: Path) -> Path:
    """Install the stage ``slow.copy``."""
    source = HERE / "plugins" / "slow_stages.py"
    return install(target, name="lexassay-slow", modules={"slow_stages": source})


def waiting(target: Path) -> Path:
    """Install the stage ``waiting.labels``."""
    source = HERE / "plugins" / "waiting_stage.py"
    return install(target, name="lexassay-waiting", modules={"waiting_stage": source})
