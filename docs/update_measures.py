"""Write the tables of docs/measures.md from the registry of measures.

python docs/update_measures.py
"""

from __future__ import annotations

from pathlib import Path

from pipeline.api.score import measures
from pipeline.cli.measures import markdown

CHAPTER = Path(__file__).with_name("measures.md")
BEGIN, END = "<!-- tables: made by docs/update_measures.py -->\n", "<!-- end of tables -->\n"


def updated(text: str) -> str:
    """Return the chapter with the tables as they are today."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{markdown(measures())}\n{END}{after}"


if __name__ == "__main__":
    CHAPTER.write_text(updated(CHAPTER.read_text(encoding="utf-8")), encoding="utf-8")
