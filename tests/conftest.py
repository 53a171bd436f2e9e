"""Fixtures of all tests: the place of public data, and no deadlines on a busy machine."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Never

import pytest
from hypothesis import settings

from pipeline.report.page import images
from pipeline.runner import inputs
from tests.house import threads

EXAMPLES = int(os.environ.get("LEXASSAY_EXAMPLES", "10"))
"""Number of examples for each law; `make laws` draws more."""

# A limit of 1 MB is only for the counts: small corpora are counted in many buckets.
os.environ.setdefault(inputs.LIBRARIES_VARIABLE, "0")

# The cache of code digests is beside the tests, not in the home folder of the user.
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parents[1] / ".pytest_cache" / "home")

_SIGNALS = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

settings.register_profile("lexassay", deadline=None, max_examples=EXAMPLES)
settings.load_profile("lexassay")

if threading.gettrace():  # lines are counted
    threads.follow()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that cannot work while lines are counted; `make test` runs them."""
    if os.environ.get("COVERAGE_RUN"):
        for item in items:
            for mark in item.iter_markers("uncounted"):
                item.add_marker(pytest.mark.skip(reason=mark.args[0]))


def pytest_collection_finish() -> None:
    """Exclude collected tests from garbage collection: a run collects after each task."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _no_wait_for_the_disk() -> Iterator[None]:
    """Omit fsync in the process of the test: it protects against power failures only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _drawn_here() -> Iterator[None]:
    """Draw pictures of reports in the process of the test, as starting another takes a second.

    Commands started by tests draw as usual; the process that draws has its own tests.
    """

    def none(threads: int) -> Never:
        raise OSError(f"tests draw for themselves, not with {threads} threads elsewhere")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(images, "Worker", none)
        yield


@pytest.fixture(autouse=True)
def _signals_kept() -> Iterator[None]:
    """Restore the signal handlers: a command replaces them for the rest of its process.

    This is also done before a test, as a fixture of a module may have called a command.
    """
    for number, handler in _SIGNALS.items():
        signal.signal(number, handler)
    yield
    for number, handler in _SIGNALS.items():
        signal.signal(number, handler)


@pytest.fixture
def public_data() -> Callable[[str], Path]:
    """Return a function that finds a file of the public data, or skips the test."""

    def find(name: str) -> Path:
        root = os.environ.get("LEXASSAY_DATA")
        if not root:
            pytest.skip("LEXASSAY_DATA is not set: public data is not there")
        path = Path(root) / name
        if not path.is_file():
            pytest.skip(f"public data has no {name}: data/README.md, Public data, has its source")
        return path

    return find
