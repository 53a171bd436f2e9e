"""What association measures are called in the field, for reading: t-score, MI, log-likelihood."""

from __future__ import annotations

import re

TITLES = {
    "average_mi": "average MI", "binomial": "binomial test",
    "binomial_likelihood": "binomial likelihood", "geometric_mean": "geometric mean",
    "hypergeometric_likelihood": "hypergeometric likelihood",
    "minimum_sensitivity": "minimum sensitivity",
    "multinomial_likelihood": "multinomial likelihood", "odds_ratio": "odds ratio",
    "relative_risk": "relative risk", "conservative_log_ratio": "conservative log ratio",
    "chi_squared": "chi-squared", "delta_p_12": "ΔP (l1 given l2)",
    "delta_p_21": "ΔP (l2 given l1)", "dice": "Dice", "fisher": "Fisher's exact test",
    "frequency": "frequency", "jaccard": "Jaccard", "keyness_ll": "log-likelihood (keyness)",
    "kulczynski": "Kulczyński", "kulczynski_1": "Kulczyński 1", "liddell": "Liddell",
    "local_mi": "local MI", "log_dice": "logDice", "log_likelihood": "log-likelihood",
    "log_ratio": "log ratio", "lrc": "LRC", "mi": "MI", "mi2": "MI²", "mi3": "MI³",
    "mi_like": "MI-like", "mi_log2": "MI (log2)", "mikolov": "word2phrase score", "npmi": "NPMI",
    "odds_ratio_disc": "odds ratio (discounted)", "percent_diff": "%DIFF", "phi": "phi",
    "poisson": "Poisson", "poisson_likelihood": "Poisson likelihood",
    "poisson_stirling": "Poisson–Stirling", "positive_lrc": "positive LRC", "ppmi": "PPMI",
    "random": "random order", "simple_ll": "simple-LL", "simpson": "Simpson",
    "t_score": "t-score", "yule_q": "Yule's Q", "yule_y": "Yule's Y", "z_score": "z-score",
}  # fmt: skip
"""Names, without what `_ENDINGS` add to them."""
_ENDINGS = (
    ("_pv", "p-value"),
    ("_left", "left-sided"),
    ("_tt", "two-sided"),
    ("_two_sided", "two-sided"),
    ("_corr", "corrected"),
    ("_clipped", "clipped"),
)
_LEVEL = re.compile(r"mi_conf_(\w+)|poisson_mu_(\w+)")


def measure_title(name: str) -> str:
    """Return what a measure is called in the field; another name stays as it is.

    Parameters
    ----------
    name : str
        A measure's name in snake case, or whatever else ranks candidates.

    Examples
    --------
    >>> [measure_title(name) for name in ("t_score", "mi", "geometric_mean", "chi_squared_corr_pv")]
    ['t-score', 'MI', 'geometric mean', 'chi-squared (corrected, p-value)']
    >>> measure_title("mi_conf_10"), measure_title("my_score")
    ('MI lower limit (α = 10^−10)', 'my_score')
    """
    found = _LEVEL.fullmatch(name)
    if found:
        number = (found[1] or found[2]).replace("_", ".")
        return f"MI lower limit (α = 10^−{number})" if found[1] else f"Poisson, μ = {number} E"
    said: list[str] = []
    base = name
    while base not in TITLES and (ending := _ending(base)):
        base = base.removesuffix(ending[0])
        said.insert(0, ending[1])
    if base not in TITLES:
        return name
    return f"{TITLES[base]} ({', '.join(said)})" if said else TITLES[base]


def _ending(name: str) -> tuple[str, str] | None:
    return next((each for each in _ENDINGS if name.endswith(each[0]) and name != each[0]), None)
