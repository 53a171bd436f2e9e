"""Mutations of any file, byte by byte or line by line: what disks, editors and programs do to it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from random import Random

Mutation = Callable[[Random, bytes], bytes]
"""Content to changed content."""

ODD_BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\x1a", b"\x0b", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf",
             b"\xc2\x85", b"\xe2\x80\xa8", b"\r", b"\n", b"\t", b'"', b"\x1b[31m", b"\x7f")  # fmt: skip
"""Bytes that are read in different ways, or are no text."""


def truncated(random: Random, content: bytes) -> bytes:
    """Cut the end off."""
    return content[: random.randrange(len(content) + 1)]


def flipped(random: Random, content: bytes) -> bytes:
    """Change one byte, at least."""
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 3])):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def inserted(random: Random, content: bytes) -> bytes:
    """Put odd bytes in somewhere."""
    place = random.randrange(len(content) + 1)
    return content[:place] + random.choice(ODD_BYTES) + content[place:]


def cut_out(random: Random, content: bytes) -> bytes:
    """Leave out some bytes."""
    start = random.randrange(len(content) + 1)
    return content[:start] + content[start + random.randint(1, 20) :]


def emptied(random: Random, content: bytes) -> bytes:
    """Leave nothing, or next to nothing."""
    return random.choice([b"", b"\n", b" ", content[:1], b"\xef\xbb\xbf"])


def lines_moved(random: Random, content: bytes) -> bytes:
    """Repeat, leave out, or exchange lines."""
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
    """End some lines, or all, as other systems do."""
    end = random.choice([b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x85", b""])
    lines = content.split(b"\n")
    share = random.choice([1.0, 0.3, 0.0])
    chosen = [random.random() < share for _ in lines[1:]] or [False]
    chosen[random.randrange(len(chosen))] = True
    whole = lines[0]
    for line, changed in zip(lines[1:], chosen, strict=False):
        whole += (end if changed else b"\n") + line
    return whole


def other_encoding(random: Random, content: bytes) -> bytes:
    """Write the text in another encoding."""
    text = content.decode("utf-8", errors="replace")
    name = random.choice(["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
    return text.encode(name, errors="replace")


def long_line(random: Random, content: bytes) -> bytes:
    """Make something in it very long."""
    place = random.randrange(len(content) + 1)
    piece = random.choice([b"x", b"1", b" ", b"\xc3\xa4", b"\t", b"a b "])
    return content[:place] + piece * random.choice([300, 40_000, 140_000]) + content[place:]


LINES: tuple[Mutation, ...] = (
    *(truncated, flipped, inserted, cut_out, emptied, lines_moved, lines_moved, line_ends),
    *(other_encoding, long_line),
)
"""Of text."""
BYTES: tuple[Mutation, ...] = (truncated, flipped, flipped, cut_out, inserted, emptied)
"""Of what is no text."""


def packed(random: Random, content: bytes) -> bytes:
    """Damage a gzip file, or the text within it."""
    text = gzip.decompress(content)
    act = random.choice(["text", "text", "bytes", "plain", "members", "tail"])
    if act == "text":
        return gzip.compress(random.choice(LINES)(random, text), mtime=0)
    if act == "bytes":
        return random.choice(BYTES)(random, content)
    if act == "plain":
        return text
    if act == "members":
        half = len(text) // 2
        return gzip.compress(text[:half], mtime=0) + gzip.compress(text[half:], mtime=0)
    return content + random.choice([b"\0" * 10, b"tail", content[:20]])
