"""The colours of the charts, each with its counterpart on a dark background."""

from __future__ import annotations

PAPER, NIGHT = "#ffffff", "#15181c"
"""The background, and what stands for it in the dark."""
INK = "#222222"
GREY = "#6b6b6b"
FAINT = "#a0a0a0"
LIGHT = "#e8e8e8"

COLOURS = {
    "blue": ("#0060a0", "#4aa8e8"),
    "red": ("#b03000", "#ff8a3d"),
    "green": ("#008a68", "#2fc79b"),
    "pink": ("#c060a0", "#e58bc0"),
    "black": ("#1a1a1a", "#f2f2f2"),
    "gold": ("#be8c00", "#e6c229"),
    "sky": ("#309bd8", "#9fd8ff"),
}
"""What measures and systems are drawn in: on white and in the dark.

Each has a contrast of 3 to 1 with its background, and colour-blind readers can tell any two apart.
"""
NAMED = tuple(COLOURS)
BRIGHT = tuple(light for light, _ in COLOURS.values())

SHADES = ("#ffffff", "#d6e6f4", "#abcfe6", "#6baed6", "#3787c0", "#105ba4", "#08306b")
"""White to dark blue: growing darkness alone tells the values apart, in any print."""
TWO_SIDES = ("#8c510a", "#d8b365", "#f6e8c3", "#ffffff", "#c7eae5", "#5ab4ac", "#01665e")
"""Brown over white to blue-green, which colour-blind readers can tell apart."""
DIVERGING = ("#e9934a", "#f7d9bd", "#ffffff", "#c5def0", "#5aa5d6")
"""Orange to blue, which colour-blind readers can tell apart; ink is legible on both ends."""
FRAME = "#d55e00"
"""What a cell is framed with."""
BEST, AMONG = "#0072b2", "#b9d8ec"
"""A cell that is best, and one that is among the best."""
GROUND = "#fefefd"
"""Cells without a value; white, also in the dark."""
ON_DARK = "#fefefe"
"""Text on a dark cell; it is white, and stays so in the dark."""
ON_PALE = "#232323"
"""Text on a cell that stays pale in the dark."""

DARK = {
    PAPER: NIGHT,
    INK: "#e8e8e8",
    GREY: "#a3a8ae",
    FAINT: "#70767d",
    LIGHT: "#2d3238",
    "#000000": "#ffffff",
    FRAME: "#ff8a3d",
    **dict(COLOURS.values()),
}
"""What a page in the dark draws in place of a colour; others stay as they are."""
