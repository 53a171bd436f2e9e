"""Run the notebooks and write them back with what came out, the same bytes for the same results.

python docs/update_notebooks.py                  # all of docs/notebooks
python docs/update_notebooks.py collocations     # one of them

A notebook runs in the folder docs/notebooks of a copy of the checkout that has nothing but `data`
and `configs`: what it needs is in ../../data, and what it writes is thrown away.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
SECONDS = re.compile(r"\bin \d+(?:\.\d+)? s\b")
TIMEOUT = 300

Notebook: TypeAlias = dict[str, Any]

# nbformat has no types.
read: Callable[..., Any] = nbformat.read
node: Callable[..., Any] = nbformat.from_dict
writes: Callable[..., str] = nbformat.writes


class MachinePath(Exception):
    """A notebook shows where it ran, which no reader wants to know."""


def execute(path: Path, checkout: Path) -> Notebook:
    """Return a notebook with what its cells give when they run in a copy of the checkout.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails.
    """
    notebook = read(path, as_version=4)
    folder = checkout / "docs" / "notebooks"
    client = NotebookClient(
        notebook,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(folder)}},
        timeout=TIMEOUT,
        record_timing=False,
        coalesce_streams=True,
    )
    return dict(client.execute())


def clean(notebook: Notebook, name: str, *, private: Sequence[str] = ()) -> Notebook:
    """Return a notebook without what differs from one machine or run to the next.

    Cells are named by their places, so that the names are the same each time.

    Parameters
    ----------
    notebook : dict
        As nbformat reads it.
    name : str
        What it is called.
    private : sequence of str
        Folders that it must not show.

    Raises
    ------
    MachinePath
        If an output shows one of them.
    """
    cells = [_cell(cell, place) for place, cell in enumerate(notebook["cells"], start=1)]
    for cell in cells:
        outputs = json.dumps(cell.get("outputs", ""), ensure_ascii=False)
        for folder in private:
            if folder in outputs:
                raise MachinePath(f"{name}: {cell['id']} shows {folder}:\n{cell['source']}")
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(cell: Notebook, place: int) -> Notebook:
    tags = cell["metadata"].get("tags")
    content = {
        "cell_type": cell["cell_type"],
        "id": f"cell-{place}",
        "source": cell["source"].strip(),
    }
    content["metadata"] = {"tags": list(tags)} if tags else {}
    if cell["cell_type"] == "code":
        content["execution_count"] = cell["execution_count"]
        content["outputs"] = [_output(output) for output in cell["outputs"]]
    return content


def _output(output: Notebook) -> Notebook:
    content = {key: value for key, value in output.items() if key not in ("metadata", "transient")}
    if "data" in content:
        content["data"] = {kind: _timeless(each) for kind, each in content["data"].items()}
        content["metadata"] = {}
    if "text" in content:
        content["text"] = _timeless(content["text"])
    return content


def _timeless(value: Any) -> Any:
    """Return an output without seconds, which differ each time, and with plain line ends."""
    if not isinstance(value, str):
        return value
    return SECONDS.sub("in … s", value.replace("\r\n", "\n"))


def notebook_text(notebook: Notebook) -> str:
    """Return the text of a notebook as Jupyter writes it, keys in order, a line a line."""
    return writes(node(notebook)).rstrip("\n") + "\n"


def copy_files(checkout: Path) -> None:
    """Put there what git knows of `data` and `configs`, and an empty folder for the notebooks."""
    known = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(
        [*known, "data", "configs"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listing.split("\0")):
        target = checkout / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    (checkout / "docs" / "notebooks").mkdir(parents=True)


def update(path: Path) -> None:
    """Run a notebook and write it back."""
    with tempfile.TemporaryDirectory() as scratch:
        checkout = Path(scratch) / "checkout"
        copy_files(checkout)
        os.environ["XDG_CACHE_HOME"] = str(Path(scratch) / "cache")
        private = [str(Path(scratch)), tempfile.gettempdir() + "/", str(ROOT), sys.prefix]
        notebook = clean(execute(path, checkout), path.stem, private=private)
    path.write_text(notebook_text(notebook), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(description="Run notebooks and write them back.")
    parser.add_argument("names", nargs="*", help="without .ipynb; all if none is given")
    names = parser.parse_args(arguments).names
    programs = str(Path(sys.executable).parent)
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
    for path in [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb")):
        update(path)
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
