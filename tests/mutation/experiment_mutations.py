"""Mutations of experiments: keys, values and sections that people get wrong, and hostile ones."""

from __future__ import annotations

import re
from random import Random

from tests.mutation.byte_mutations import LINES

_VALUES = ('""', '" "', '"x"', '"../x"', '"/dev/null"', '"/"', '"."', '"*"', '"nothing.tsv"', '"' + "x" * 300 + '"',
           '"a\\u0000b"', '"~/x"', '"data:x"', '"data:../../x"', "0", "-1", "1", "2.0", "1e9", "1e308", "inf", "nan",
           "10000000000000000000", "9223372036854775807", "true", "false", "[]", "[[]]", "{}", '["x"]', '["x", "x"]',
           "[1, 2]", "{ x = 1 }", "2000-01-01", "00:00:00", '["mi", "mi"]', '"stage.table"',
           "[" * 200 + "]" * 200)  # fmt: skip
"""What may stand where another value is expected."""
_SQL = ("1 = 1", "f > ", "f > 'x'", "upos IN (SELECT x FROM read_csv('/etc/passwd'))", "SUM(f) > 1", "x",
        "LENGTH(LPAD(form, 1000000000, 'x')) > 1", "form ~ '('", "f = 1; DROP TABLE x", "((((", "NULL", "1",
        "form LIKE '%' OR 1 / 0 = 1", "CAST(form AS BIGINT) > 1", "upos = 'NOUN' AND" * 50)  # fmt: skip
"""What may stand where a condition is expected."""
_KEY = re.compile(r"^([\w.\"-]+) = (.*)$", re.MULTILINE)


def experiment(random: Random, content: bytes) -> bytes:
    """Change an experiment's file."""
    if random.random() < 0.2:
        return random.choice(LINES)(random, content)
    text = content.decode()
    for _ in range(random.choice([1, 1, 1, 2])):
        text = _changed(random, text)
    return text.encode("utf-8", errors="surrogatepass")


def _changed(random: Random, text: str) -> str:
    lines = text.splitlines()
    keys = [number for number, line in enumerate(lines) if _KEY.match(line)]
    heads = [number for number, line in enumerate(lines) if line.startswith("[")]
    act = random.choice(
        ["value", "value", "value", "sql", "key", "key", "gone", "twice", "section", "more"]
    )
    number = random.choice(keys or range(len(lines)))
    key, _, value = lines[number].partition(" = ")
    if act == "value":
        lines[number] = f"{key} = {random.choice(_VALUES)}"
    elif act == "sql":
        wheres = [each for each in keys if "where" in lines[each]] or [number]
        number = random.choice(wheres)
        written = random.choice(_SQL).replace('"', '\\"')
        lines[number] = re.sub(r'= "[^"]*"', lambda _: f'= "{written}"', lines[number], count=1)
    elif act == "key":
        lines[number] = f"{_misspelt(random, key)} = {value}"
    elif act == "gone":
        del lines[number]
    elif act == "twice":
        lines.insert(number, lines[number])
    elif act == "section":
        place = random.choice(heads or [number])
        lines[place] = random.choice(["", f"{lines[place]}x", lines[place].replace("stages.", ""),
                                      lines[random.choice(heads or [number])], lines[place].replace("]", " x]")])  # fmt: skip
    else:
        more = random.choice(["[run]\nengine = 'processes'", "[run]\nmemory = '231MB'", "[remarks]\nx = 1",
                              "[report]\nstages = ['x']", "[x]\ny = 1", "[sweep]\ncollect = []",
                              "[sweep]\ncollect = ['x']\n[sweep.over]\nseed = [1]"])  # fmt: skip
        lines.append(more)
    return "\n".join(lines) + "\n"


def _misspelt(random: Random, key: str) -> str:
    if len(key) < 3:
        return f"{key}x"
    place = random.randrange(1, len(key) - 1)
    return random.choice([key[:place] + key[place + 1 :], f"{key}x", f"{key}s", key.upper(), key[:-1],
                          key[:place] + key[place + 1] + key[place] + key[place + 2 :]])  # fmt: skip
