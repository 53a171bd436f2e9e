"""Mutations of any file by bytes or lines, as disks, editors and programs may cause them."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import openpyxl

MutationByteMutations = Callable[[Random, bytes], bytes]
"""A function from content to changed content."""

ODD_BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\x1a", b"\x0b", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf",
             b"\xc2\x85", b"\xe2\x80\xa8", b"\r", b"\n", b"\t", b'"', b"\x1b[31m", b"\x7f")  # fmt: skip
"""Bytes that programs read in different ways, or that are no text."""


def truncate(random: Random, content: bytes) -> bytes:
    """Cut the end off."""
    return content[: random.randrange(len(content) + 1)]


def flip(random: Random, content: bytes) -> bytes:
    """Change at least one byte."""
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 3])):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def insert(random: Random, content: bytes) -> bytes:
    """Insert odd bytes at a random position."""
    place = random.randrange(len(content) + 1)
    return content[:place] + random.choice(ODD_BYTES) + content[place:]


def cut_out(random: Random, content: bytes) -> bytes:
    """Remove some bytes."""
    start = random.randrange(len(content) + 1)
    return content[:start] + content[start + random.randint(1, 20) :]


def clear(random: Random, content: bytes) -> bytes:
    """Remove everything, or nearly everything."""
    return random.choice([b"", b"\n", b" ", content[:1], b"\xef\xbb\xbf"])


def move_lines(random: Random, content: bytes) -> bytes:
    """Repeat, remove or exchange lines."""
    lines = content.splitlines(keepends=True) or [b""]
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    act = random.choice(["twice", "gone", "exchanged", "repeated far away", "blank"])
    if act == "twice":
        lines.insert(one, lines[one])
    elif act == "gone":
        del lines[one]
    elif act == "exchanged":
        lines[one], lines[other] = lines[other], lines[one]
    elif act == "blank":
        lines.insert(one, random.choice([b"\n", b"\r\n", b"   \n", b"\t\n"]))
    else:
        lines.insert(other, lines[one])
    return b"".join(lines)


def line_ends(random: Random, content: bytes) -> bytes:
    """Change some or all line ends to those of other systems."""
    end = random.choice([b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x85", b""])
    lines = content.split(b"\n")
    share = random.choice([1.0, 0.3, 0.0])
    is_changed = [random.random() < share for _ in lines[1:]] or [False]
    is_changed[random.randrange(len(is_changed))] = True
    whole = lines[0]
    for line, changed in zip(lines[1:], is_changed, strict=False):
        whole += (end if changed else b"\n") + line
    return whole


def other_encoding(random: Random, content: bytes) -> bytes:
    """Write the text in another encoding."""
    text = content.decode("utf-8", errors="replace")
    name = random.choice(["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
    return text.encode(name, errors="replace")


def long_line(random: Random, content: bytes) -> bytes:
    """Insert a very long text."""
    place = random.randrange(len(content) + 1)
    piece = random.choice([b"x", b"1", b" ", b"\xc3\xa4", b"\t", b"a b "])
    return content[:place] + piece * random.choice([300, 40_000, 140_000]) + content[place:]


LINES_BYTE_MUTATIONS: tuple[MutationByteMutations, ...] = (
    *(truncate, flip, insert, cut_out, clear, move_lines, move_lines, line_ends),
    *(other_encoding, long_line),
)
"""Mutations of text."""
BYTES_BYTE_MUTATIONS: tuple[MutationByteMutations, ...] = (
    truncate,
    flip,
    flip,
    cut_out,
    insert,
    clear,
)
"""Mutations of binary files."""


def damage_gzip(random: Random, content: bytes) -> bytes:
    """Damage a gzip file, or the text within it."""
    text = gzip.decompress(content)
    act = random.choice(["text", "text", "bytes", "plain", "members", "tail"])
    if act == "text":
        return gzip.compress(random.choice(LINES_BYTE_MUTATIONS)(random, text), mtime=0)
    if act == "bytes":
        return random.choice(BYTES_BYTE_MUTATIONS)(random, content)
    if act == "plain":
        return text
    if act == "members":
        half = len(text) // 2
        return gzip.compress(text[:half], mtime=0) + gzip.compress(text[half:], mtime=0)
    return content + random.choice([b"\0" * 10, b"tail", content[:20]])


# Mutations of tables: wrong cells, rows and columns

NUMBERS_CELL_MUTATIONS = ("-1", "0", "1.5", "1e3", "3.0", "03", "+3", " 3", "3 ", "NaN", "inf", "-inf", "1,5", "1_000",
           "9223372036854775807", "9223372036854775808", "4611686018427387904", "1" * 40, "0x10", "٣",
           "1e400", "-0", "", "NA", "null", "None", "−1", "²")  # fmt: skip
"""Values in place of a count."""
TEXTS_CELL_MUTATIONS = ("", " ", "\u00a0", "\u200b", "x" * 5_000, "=1+1", "+1", "-1", "@SUM(A1)", '"', '""', 'a"b', "'",
         "a\\tb", "NULL", "nan", "TRUE", "é", "e\u0301", "İ", "ß", "كتاب", "\u202ex", "a\x00b", "a\x01b",
         "_x000D_", "a,b", "a;b", "<b>", "{0}", "%s", "\ufeff", "😀", "a\x1fb", "a b")  # fmt: skip
"""Values in place of a text."""

Table = list[list[str]]
Change = Callable[[Random, Table], None]


def _a_row(random: Random, table: Table) -> int:
    """Choose a row, rarely the header."""
    return random.randrange(1, len(table)) if len(table) > 1 and random.random() < 0.95 else 0


def other_cell(random: Random, table: Table) -> None:
    """Put another value into a cell."""
    row = table[_a_row(random, table)]
    if row:
        place = random.randrange(len(row))
        digits = row[place].strip().isdigit() == (random.random() < 0.85)
        row[place] = random.choice(NUMBERS_CELL_MUTATIONS if digits else TEXTS_CELL_MUTATIONS)


def changed_cell(random: Random, table: Table) -> None:
    """Change the value of a cell slightly."""
    row = table[_a_row(random, table)]
    if row:
        place = random.randrange(len(row))
        piece = random.choice([" ", "\u00a0", "x", "0", '"', "'", "\u0301", "."])
        row[place] = random.choice([piece + row[place], row[place] + piece, row[place].upper()])


def moved_cell(random: Random, table: Table) -> None:
    """Exchange a cell with one of another row in the same column."""
    one, other = table[_a_row(random, table)], table[_a_row(random, table)]
    place = random.randrange(max(1, min(len(one), len(other))))
    if place < min(len(one), len(other)):
        one[place], other[place] = other[place], one[place]


def cell_more_or_less(random: Random, table: Table) -> None:
    """Remove or insert a cell."""
    row = table[_a_row(random, table)]
    place = random.randrange(len(row) + 1)
    if random.random() < 0.5 or not row:
        row.insert(place, random.choice(TEXTS_CELL_MUTATIONS))
    else:
        del row[min(place, len(row) - 1)]


def row_again(random: Random, table: Table) -> None:
    """Repeat a row, unchanged or with one different cell."""
    row = list(table[_a_row(random, table)])
    table.insert(random.randrange(1, len(table) + 1), row)
    if row and random.random() < 0.5:
        row[random.randrange(len(row))] = random.choice(NUMBERS_CELL_MUTATIONS)


def rows_elsewhere(random: Random, table: Table) -> None:
    """Shuffle the rows, or remove some of them."""
    rows = table[1:]
    random.shuffle(rows)
    table[1:] = rows[: random.choice([len(rows), len(rows), len(rows) // 2, 1, 0])]


def other_columns(random: Random, table: Table) -> None:
    """Move, rename, repeat, add or remove a column."""
    act = random.choice(["moved", "moved", "gone", "renamed", "twice", "more"])
    place = random.randrange(max(1, len(table[0])))
    to = random.randrange(max(1, len(table[0])))
    for number, row in enumerate(table):
        if place >= len(row):
            continue
        if act == "moved":
            row.insert(min(to, len(row) - 1), row.pop(place))
        elif act == "gone":
            del row[place]
        elif act == "twice":
            row.append(row[place])
        elif act == "more":
            row.append("more" if number == 0 else str(number))
        elif number == 0:
            row[place] = random.choice([row[place].upper(), f" {row[place]}", "other", "", "line"])


CHANGES: tuple[Change, ...] = (
    *(other_cell, other_cell, other_cell, changed_cell, changed_cell, moved_cell),
    *(cell_more_or_less, row_again, rows_elsewhere, other_columns),
)


def table_mutation(separator: str, *, top: int = 0) -> MutationByteMutations:
    """Return the mutation of a table in text.

    Parameters
    ----------
    separator : str
        The separator of cells.
    top : int
        The number of unchanged lines before the table.
    """

    def mutation(random: Random, content: bytes) -> bytes:
        if random.random() < 0.35:
            return random.choice(LINES_BYTE_MUTATIONS)(random, content)
        lines = content.decode("utf-8", errors="surrogateescape").split("\n")
        table = [line.split(separator) for line in lines[top:] if line]
        if not table:
            return content
        for _ in range(random.choice([1, 1, 2])):
            random.choice(CHANGES)(random, table)
        rows = [*lines[:top], *(separator.join(row) for row in table)]
        return ("\n".join(rows) + "\n").encode("utf-8", errors="surrogateescape")

    return mutation


# Mutations of experiments: wrong and hostile keys, values and sections

_VALUES = ('""', '" "', '"x"', '"../x"', '"/dev/null"', '"/"', '"."', '"*"', '"nothing.tsv"', '"' + "x" * 300 + '"',
           '"a\\u0000b"', '"~/x"', '"data:x"', '"data:../../x"', "0", "-1", "1", "2.0", "1e9", "1e308", "inf", "nan",
           "10000000000000000000", "9223372036854775807", "true", "false", "[]", "[[]]", "{}", '["x"]', '["x", "x"]',
           "[1, 2]", "{ x = 1 }", "2000-01-01", "00:00:00", '["mi", "mi"]', '"stage.table"',
           "[" * 200 + "]" * 200)  # fmt: skip
"""Values in place of another value."""
_SQL = ("1 = 1", "f > ", "f > 'x'", "upos IN (SELECT x FROM read_csv('/etc/passwd'))", "SUM(f) > 1", "x",
        "LENGTH(LPAD(form, 1000000000, 'x')) > 1", "form ~ '('", "f = 1; DROP TABLE x", "((((", "NULL", "1",
        "form LIKE '%' OR 1 / 0 = 1", "CAST(form AS BIGINT) > 1", "upos = 'NOUN' AND" * 50)  # fmt: skip
"""Values in place of a condition."""
_KEY = re.compile(r"^([\w.\"-]+) = (.*)$", re.MULTILINE)


def experiment(random: Random, content: bytes) -> bytes:
    """Change an experiment's file."""
    if random.random() < 0.2:
        return random.choice(LINES_BYTE_MUTATIONS)(random, content)
    text = content.decode()
    for _ in range(random.choice([1, 1, 1, 2])):
        text = _change_experiment(random, text)
    return text.encode("utf-8", errors="surrogatepass")


def _change_experiment(random: Random, text: str) -> str:
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
        condition = random.choice(_SQL).replace('"', '\\"')
        lines[number] = re.sub(r'= "[^"]*"', lambda _: f'= "{condition}"', lines[number], count=1)
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


# Mutations of commands: mistyped words after ``lexassay``

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


# Mutations of sheets: entries of people, and files of spreadsheet programs

_LABELS: tuple[Any, ...] = (
    *("SVC", " svc", "free", "Free ", "figurative", "frei", "?", "x", "SVC, free", "1", "n/a"),
    *(1, 0, 1.5, True, None, "=A1", "#REF!", "\u00a0SVC", "ＳＶＣ", "SVC\n", "-"),
)
"""Entries in place of labels."""
_WRITABLE = ("label", "note", "forms in the dictionary")


def workbook(random: Random, content: bytes) -> bytes:
    """Change a sheet in XLSX: mostly its cells, sometimes members of its archive."""
    if random.random() < 0.15:
        return random.choice(BYTES_BYTE_MUTATIONS)(random, content)
    if random.random() < 0.15:
        return _member(random, content)
    book = openpyxl.load_workbook(io.BytesIO(content))
    for _ in range(random.choice([1, 1, 2, 4])):
        _change(random, book)
    if random.random() < 0.05:  # as the last change, since later ones would visit all rows up to it
        _far(random, book.worksheets[0])
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def _change(random: Random, book: Any) -> None:
    page = book.worksheets[0]
    rows = list(page.iter_rows(max_row=max(page.max_row, 1)))
    header = next((row for row in rows if any(cell.value == "id" for cell in row)), rows[0])
    row = random.randint(header[0].row + 1, max(header[0].row + 1, page.max_row))
    random.choice(_CHANGES)(random, page, header, row)


def _fill_cell(random: Random, page: Any, header: Any, row: int) -> None:
    """Write an entry into a cell that people fill in."""
    columns = [cell.column for cell in header if cell.value in _WRITABLE]
    if columns:
        page.cell(row, random.choice(columns)).value = random.choice(_LABELS)


def _any_cell(random: Random, page: Any, _header: Any, row: int) -> None:
    page.cell(row, random.randint(1, page.max_column)).value = _value(random)


def _row_gone(_random: Random, page: Any, _header: Any, row: int) -> None:
    page.delete_rows(row)


def _row_again(_random: Random, page: Any, header: Any, row: int) -> None:
    last = page.max_row + 1
    for place in range(1, len(header) + 1):
        page.cell(last, place).value = page.cell(row, place).value


def _blank_row(_random: Random, page: Any, _header: Any, row: int) -> None:
    page.insert_rows(row)


def _column_gone(random: Random, page: Any, _header: Any, _row: int) -> None:
    page.delete_cols(random.randint(1, max(1, page.max_column)))


def _shuffle_rows(random: Random, page: Any, header: Any, _row: int) -> None:
    first = header[0].row + 1
    values = [[cell.value for cell in row] for row in page.iter_rows(min_row=first)]
    random.shuffle(values)
    for number, row in enumerate(values, start=first):
        for place, value in enumerate(row, start=1):
            page.cell(number, place).value = value


def _more_sheets(random: Random, page: Any, _header: Any, _row: int) -> None:
    page.parent.create_sheet("more", random.choice([0, 1]))


def _rename_column(random: Random, _page: Any, header: Any, _row: int) -> None:
    random.choice(header).value = random.choice(["ID", "Label", "", "x", None])


def _far(random: Random, page: Any) -> None:
    page.cell(random.choice([5_000, 1_048_576]), random.choice([1, 50])).value = "far"


_CHANGES = (
    *(
        _fill_cell,
        _fill_cell,
        _fill_cell,
        _fill_cell,
        _any_cell,
        _any_cell,
        _row_gone,
        _row_again,
        _blank_row,
    ),
    *(_column_gone, _shuffle_rows, _more_sheets, _rename_column),
)


def _value(random: Random) -> Any:
    texts = [
        text
        for text in (*TEXTS_CELL_MUTATIONS, *NUMBERS_CELL_MUTATIONS)
        if not any(ord(letter) < 32 for letter in text)
    ]
    return random.choice([*texts, *_LABELS])


def _member(random: Random, content: bytes) -> bytes:
    """Change or remove a member of the archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    member = random.choice(sorted(members))
    if random.random() < 0.3:
        del members[member]
    else:
        members[member] = random.choice(BYTES_BYTE_MUTATIONS)(random, members[member])
    saved = io.BytesIO()
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return saved.getvalue()
