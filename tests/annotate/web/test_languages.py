"""Every text of the annotation pages is translated, with the same placeholders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir

import pipeline.annotate
from pipeline.annotate.web.languages import LANGUAGES, language
from tests.annotate.served import ServedWork, ask, work_in

KEYWORDS = {
    "t": None, "text": None, "phrase": None, "translatable": None, "tn": (1, 2), "text_n": (1, 2),
}  # fmt: skip
METHODS = [
    ("web/templates/*.html", "jinja2"), ("web/assets/*.js", "javascript"), ("**.py", "python"),
]  # fmt: skip
FOREIGN = [code for code in LANGUAGES if code != "en"]


def texts() -> set[str | tuple[str, ...]]:
    """Return the texts in scripts and templates."""
    folder = Path(pipeline.annotate.__file__).parent
    return {
        message if isinstance(message, str) else message[:2]
        for _, _, message, _, _ in extract_from_dir(
            folder, METHODS, keywords=KEYWORDS, strip_comment_tags=True
        )
    }


def values(text: str) -> list[str]:
    return sorted(re.findall(r"\{\w+\}", text))


@pytest.mark.parametrize("code", FOREIGN)
def test_every_text_is_translated_and_nothing_else(code: str) -> None:
    messages = language(code).messages
    every = texts()
    assert len(every) > 100
    assert set(messages) == {each if isinstance(each, str) else each[0] for each in every}
    for each in every:
        if isinstance(each, str):
            translated = messages[each]
            assert isinstance(translated, str)
            assert values(translated) == values(each)
        else:
            forms = messages[each[0]]
            assert len(forms) >= 2
            assert all(values(form) == values(each[1]) for form in forms)


def test_the_language_is_that_of_the_browser_until_it_is_chosen(tmp_path: Path) -> None:
    work = work_in(tmp_path)
    ask(work, "ana")
    with ServedWork(work) as served:
        assert '<html lang="en">' in served.get("ana").text
        german = served.get("ana", headers={"Accept-Language": "de-AT, en;q=0.5"}).text
        assert '<html lang="de">' in german
        assert ">Überspringen</button>" in german
        served.client.cookies.set("lexassay-language", "es")
        assert '<html lang="es">' in served.get("ana", headers={"Accept-Language": "de"}).text
        served.client.cookies.set("lexassay-language", "../x")
        assert '<html lang="en">' in served.get("ana").text
