"""The invented keywords: repeatable, and planted as README.md says."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import make_keywords
import pytest
from make_keywords import PLAIN, SEED, TIMES, Made, corpora, files


@pytest.fixture(scope="module")
def made() -> Made:
    return corpora(SEED)


def counts(made: Made, name: str) -> Counter[str]:
    return Counter(word for document in made.documents[name] for word in document)


def test_the_bytes_are_always_the_same(made: Made, tmp_path: Path) -> None:
    whole = files(made)
    digest = hashlib.sha256("".join(f"{name}\n{whole[name]}" for name in sorted(whole)).encode())
    assert digest.hexdigest()[:16] == "8573053ffe4cf6ce"
    script = [sys.executable, str(make_keywords.__file__), str(tmp_path / "new")]
    subprocess.run(script, check=True, capture_output=True)
    written = {path.name: path.read_bytes().decode() for path in (tmp_path / "new").iterdir()}
    assert written == whole


def test_how_much_more_frequent(made: Made) -> None:
    """Of all themes together, and of the words that the target avoids."""
    target, reference = counts(made, "target"), counts(made, "reference")
    sizes = target.total(), reference.total()
    for kind, (least, most) in TIMES.items():
        words = [word for word, its in made.kinds.items() if its == kind]
        share = [
            sum(each[word] for word in words) / n
            for each, n in zip((target, reference), sizes, strict=True)
        ]
        assert 0.8 * least < share[0] / share[1] < most


def test_names_are_of_one_document(made: Made) -> None:
    for name in ("target", "reference"):
        names = [word for word, kind in made.kinds.items() if kind == f"{name} name"]
        found = Counter(
            word for document in made.documents[name] for word in {*document} if word in {*names}
        )
        assert len(names) == 80
        assert set(found.values()) == {1}
        other = counts(made, "reference" if name == "target" else "target")
        assert not [word for word in names if word in other]


def test_most_words_are_plain(made: Made) -> None:
    kinds = Counter(made.kinds.values())
    assert kinds["theme"] == 60
    assert kinds[PLAIN] > 4_000
