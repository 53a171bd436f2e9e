"""Print the oldest versions that pyproject.toml admits, as constraints for pip.

python tests/house/lowest.py > lowest.txt
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def lowest(requirements: Iterable[str]) -> Iterator[str]:
    """Yield each requirement at its lower bound.

    Examples
    --------
    >>> list(lowest(["polars>=2.1,<3", "bcubed==1.5"]))
    ['polars==2.1', 'bcubed==1.5']
    """
    for requirement in requirements:
        yield re.sub(r">=([^,]+).*", r"==\1", requirement)


if __name__ == "__main__":
    print("\n".join(lowest([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]])))
