"""Mutations of commands: what people type after ``lexassay``."""

from __future__ import annotations

from random import Random

_WORDS = ("", " ", "x", "-", "--", "-x", "--help", "--nothing", "--set", "--runs", "--data", "0", "-1",
          "1e9", "nan", "..", "/", "/dev/null", "x" * 300, "é", "a\nb", "*", "--set=x", "stages.sample.rate=2",
          "--set=stages.sample.rate=", "--set==", "seed=[", "candidates.x", "candidates.", ".", "--format",
          "json", "x.tomll", "pairs.tsv", "runs", "--output", "out.csv", "/nowhere/out.csv", "[[[[", "\ud800")  # fmt: skip


def words(random: Random, command: list[str]) -> list[str]:
    """Change the words of a command."""
    changed = list(command)
    for _ in range(random.choice([1, 1, 2])):
        place = random.randrange(len(changed) + 1)
        act = random.choice(["put in", "put in", "replaced", "gone", "misspelt", "exchanged"])
        if act == "put in":
            changed.insert(place, random.choice(_WORDS))
        elif not changed:
            continue
        elif act == "replaced":
            changed[min(place, len(changed) - 1)] = random.choice(_WORDS)
        elif act == "gone":
            del changed[min(place, len(changed) - 1)]
        elif act == "misspelt":
            word = changed[min(place, len(changed) - 1)]
            changed[min(place, len(changed) - 1)] = (
                word[:-1] if random.random() < 0.5 else word + "x"
            )
        else:
            random.shuffle(changed)
    return changed
