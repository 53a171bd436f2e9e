"""Write the invented dictionaries and lexicons: two dictionaries, two lexicons to evaluate.

``python data/make_lexicon.py`` writes them into data/lexicon; ``--starter`` writes the smaller
ones of ``lexassay new lexicon``. README.md in this folder says what is wrong with them, on purpose.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from inflection import MISSIER, PARADIGMS, Lemma, lemmas
from pseudo_words import Uniform

SEED = "lexassay lexicon"
HERE = Path(__file__).resolve().parent
FOLDER = HERE / "lexicon"
STARTER = HERE.parent / "pipeline" / "cli" / "starters" / "lexicon"
SIZE, STARTER_SIZE = 900, 150

IN_PRINT, IN_WEB = 0.75, 0.65
"""Shares of the lemmas that the printed and the other dictionary have."""
LISTED = 0.93
"""Share of the forms that a dictionary lists."""
COMPUTED, GENERATED = 0.8, 0.6
"""Shares of the lemmas that the computed and the generated lexicon have."""
HARD = 0.25
"""Share of the lemmas of which the computed lexicon finds few forms."""
FOUND, FOUND_OF_HARD = 0.9, 0.45
SPLIT, MERGED, MISSPELT = 0.08, 0.05, 0.04
"""Plurals torn off into a cluster of their own, clusters that took another's forms, misspelt
forms."""
WRONG_PARADIGM = 0.06

Words = dict[str, list[str]]


def printed_entries(words: Sequence[Lemma], uniform: Uniform) -> list[tuple[str, str, str]]:
    """Return headword, number of the homograph, and listed forms, as keyed in from print."""
    rows = []
    for word in words:
        if word.name == "missier":
            rows.append((word.name, "", ", ".join(MISSIER[:8])))
        elif uniform() < IN_PRINT:
            forms = _some(word.forms, LISTED, uniform)
            if uniform() < 0.05 and len(forms) > 4:
                rows.append((word.name, "1", ", ".join(forms[:4])))
                rows.append((word.name, "2", ", ".join([forms[0], *forms[4:]])))
            else:
                rows.append((word.name, "", ", ".join(forms)))
    return sorted(rows)


def unimorph(words: Sequence[Lemma], uniform: Uniform) -> list[tuple[str, str, str]]:
    """Return lemma, form and features of the other dictionary; spelt in capitals here and there."""
    rows = []
    for word in words:
        if word.name == "missier":
            rows += [(word.name, form, "N") for form in MISSIER[5:]]
        elif uniform() < IN_WEB:
            tag = word.kind[0].upper()
            forms = _some(word.forms, LISTED, uniform)
            rows += [(word.name, _sometimes_capital(form, uniform), tag) for form in forms]
    return rows


def computed_lexicon(words: Sequence[Lemma], uniform: Uniform) -> Words:
    """Return what a program would cluster: forms missing, misspelt, split off, merged."""
    result: Words = {"missier": list(MISSIER[:7])}
    last = "missier"
    for word in words[1:]:
        if uniform() >= COMPUTED:
            continue
        rate = FOUND_OF_HARD if uniform() < HARD else FOUND
        forms = [_sometimes_misspelt(form, uniform) for form in _some(word.forms, rate, uniform)]
        if last != "missier" and uniform() < MERGED:
            result[last] += forms
        elif len(forms) > 6 and uniform() < SPLIT:
            result[forms[0]], result[forms[-2]] = forms[:-2], forms[-2:]
        else:
            result[forms[0]] = forms
            last = forms[0]
    return result


def entries(words: Sequence[Lemma], uniform: Uniform) -> list[tuple[str, str, str]]:
    """Return lemma, stem and paradigm of the lexicon whose forms are generated."""
    rows = []
    for word in words:
        if word.name == "missier" or uniform() < GENERATED:
            wrong = word.name != "missier" and uniform() < WRONG_PARADIGM
            kind = _other(word.kind, uniform) if wrong else word.kind
            rows.append((word.name, word.name, kind))
    return rows


def _some(forms: Iterable[str], rate: float, uniform: Uniform) -> list[str]:
    """Return the first form, and each other one with this chance."""
    first, *others = forms
    return [first, *(form for form in others if uniform() < rate)]


def _sometimes_capital(form: str, uniform: Uniform) -> str:
    return form.capitalize() if uniform() < 0.02 else form


def _sometimes_misspelt(form: str, uniform: Uniform) -> str:
    if uniform() >= MISSPELT or len(form) < 4:
        return form
    place = 1 + int(uniform() * (len(form) - 2))
    return form[:place] + form[place + 1 :]


def _other(kind: str, uniform: Uniform) -> str:
    others = sorted({*PARADIGMS} - {kind})
    return others[int(uniform() * len(others))]


def tsv(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> bytes:
    """Return rows with tabs between their fields."""
    every = [header, *rows] if header else list(rows)
    return "".join("\t".join(row) + "\n" for row in every).encode()


def blocks(words: Mapping[str, Sequence[str]]) -> bytes:
    """Return clusters, one form a line, a blank line between two."""
    return "\n".join("".join(f"{form}\n" for form in forms) for forms in words.values()).encode()


def files(size: int, *, seed: str) -> dict[str, bytes]:
    """Return the files by name.

    Parameters
    ----------
    size : int
        Lemmas of the language.
    seed : str
        Fixes everything.
    """
    words = lemmas(size, random.Random(f"{seed} words").random)
    chance = {name: random.Random(f"{seed} {name}").random
              for name in ("printed", "unimorph", "computed", "entries")}  # fmt: skip
    endings = [(name, end) for name, ends in PARADIGMS.items() for end in ends]
    return {
        "printed.tsv": tsv(
            printed_entries(words, chance["printed"]), ("headword", "homograph", "forms")
        ),
        "dictionary.unimorph": tsv(unimorph(words, chance["unimorph"])),
        "computed.wordforms": blocks(computed_lexicon(words, chance["computed"])),
        "entries.tsv": tsv(entries(words, chance["entries"]), ("lemma", "stem", "paradigm")),
        "paradigms.tsv": tsv(endings, ("paradigm", "ending")),
    }


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--starter", action="store_true")
    starter = parser.parse_args().starter
    folder, size = (STARTER, STARTER_SIZE) if starter else (FOLDER, SIZE)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files(size, seed=SEED).items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
