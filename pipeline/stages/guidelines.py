"""Guidelines of labels: what is wrong with them, before anybody is shown them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pipeline.errors import did_you_mean

MOST = 10_000
"""Characters of a guideline: a cell holds three times as many, and nobody reads them there."""


def check_guidelines(guidelines: Mapping[str, str], labels: Collection[str]) -> None:
    """Check that guidelines are of labels, and say something.

    Parameters
    ----------
    guidelines : mapping of str to str
        Label to when it is given.
    labels : collection of str
        The labels that there are.

    Raises
    ------
    ValueError
        If one is of no label, naming the nearest; if one is blank, too long or no text.

    Examples
    --------
    >>> check_guidelines({"SVG": "A verb that lost its meaning."}, ["SVC", "free"])
    Traceback (most recent call last):
    ...
    ValueError: there is no label 'SVG'; did you mean SVC?
    """
    for label, text in guidelines.items():
        if label not in labels:
            raise ValueError(f"there is no label {label!r}; {did_you_mean(label, labels)}")
        if not text.strip():
            raise ValueError(f"the guideline of {label!r} is blank; write one, or leave it out")
        if len(text) > MOST:
            what = f"the guideline of {label!r} has {len(text):,} characters, more than {MOST:,}"
            raise ValueError(f"{what}; shorten it, or name a document in it")
