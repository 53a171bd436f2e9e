"""Write the tables and pictures of docs/evaluations.md: experiments on public data.

LEXASSAY_DATA=DIR python docs/update_evaluations.py [NAME ...]

NAME is an evaluation; without any, all are run whose data are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import pipeline as lx
from pipeline.kernels.measure import measure_title

HERE = Path(__file__).parent
ROOT, CHAPTER, PICTURES = HERE.parent, HERE / "evaluations.md", HERE / "evaluations"
BEGIN, END = "<!-- {}: made by docs/update_evaluations.py -->\n", "<!-- end of {} -->\n"


class Evaluation(NamedTuple):
    """Its experiments, a file that they need, its table, and the figure of the first report."""

    configs: Sequence[str]
    needs: str
    table: Callable[..., str]
    picture: str = ""
    converted: bool = False


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def _row(run: lx.Run, table: str, **where: object) -> dict[str, Any]:
    """Return the one row of a table with these values."""
    conditions = [pl.col(name) == value for name, value in where.items()]
    return run.table(table).row(by_predicate=pl.all_horizontal(conditions), named=True)


def _points(row: dict[str, Any], value: str = "precision") -> str:
    lower, upper = (f"{100 * row[name]:.1f}" for name in ("lower", "upper"))
    return f"{100 * row[value]:.1f} [{lower}, {upper}]"


def krenn(run: lx.Run) -> str:
    """Return estimates of one list by three samples, and the truth."""
    stages = {"simple_answers": "528, random", "larger_answers": "1,584, random"}
    stages |= {"answers": "528, designed"}
    rows = []
    for stage, title in stages.items():
        at = [_row(run, f"{stage}.cuts", measure="t_score", n=n) for n in (500, 1000)]
        gap = _row(
            run, f"{stage}.differences", measure_1="t_score", measure_2="chi_squared", n=1000
        )
        rows.append([title, *map(_points, at), _points(gap, "difference")])
    true = {
        (measure, n): 100 * _row(run, "full.cuts", measure=measure, n=n)["precision"]
        for measure in ("t_score", "chi_squared")
        for n in (500, 1000)
    }
    gap_points = true["t_score", 1000] - true["chi_squared", 1000]
    known = [f"{true['t_score', n]:.1f}" for n in (500, 1000)]
    rows.append(["all 5,102", *known, f"{gap_points:.1f}"])
    header = ["labels", "t-score, n = 500", "n = 1,000", "t-score minus chi-squared, n = 1,000"]
    return _table(header, rows)


def _precisions(run: lx.Run, measures: dict[str, str], cuts: Sequence[int]) -> str:
    """Return n-best precision in per cent."""
    rows = [
        [title]
        + [f"{100 * _row(run, 'full.cuts', measure=name, n=n)['precision']:.1f}" for n in cuts]
        for name, title in measures.items()
    ]
    return _table(["measure", *(f"n = {n:,}" for n in cuts)], rows)


def combination(run: lx.Run) -> str:
    """Return the estimated and the true precision of the combination and of single measures."""
    names = {"combination": "combination", "log_likelihood": "log-likelihood"}
    rows = []
    for name, title in {**names, "t_score": "t-score"}.items():
        row = [title]
        for n in (100, 500, 1000):
            estimate = _row(run, "sampled.cuts", measure=name, n=n)
            true = 100 * _row(run, "full.cuts", measure=name, n=n)["precision"]
            row.append(f"{_points(estimate)}; {true:.1f}")
        rows.append(row)
    return _table(["measure", "n = 100", "n = 500", "n = 1,000"], rows)


def e_view(run: lx.SweepRun) -> str:
    """Return what explains the average precision by each list, with the best values."""
    own = {
        "stages.candidates.corpus": "corpus", "stages.candidates.surface": "span",
        "stages.candidates.min_frequency": "threshold", "stages.gold.path": "list",
    }  # fmt: skip
    table = run.tables["average"].filter(pl.col("point") != "EWT, dependency").rename(own)
    settings = ["corpus", "span", "threshold", "measure"]
    moved = lx.effects(table, by=settings, within="list")
    rows = []
    for name in ("WordNet", "STREUSLE"):
        mine = moved.filter(list=name)
        row = [name]
        for setting in settings:
            levels = mine.filter(setting=setting).sort("mean", "level", descending=[True, False])
            best = measure_title(levels["level"][0])
            row.append(f"{100 * levels['share'][0]:.0f}; {best} {100 * levels['mean'][0]:.1f}")
        rows.append([*row, f"{100 * mine.filter(setting='residual')['share'][0]:.0f}"])
    return _table(["list", *settings, "residual"], rows)


def streusle(run: lx.Run) -> str:
    """Return the measures that lead here, and those that lead on Krenn's data."""
    names = {"chi_squared": "chi-squared", "mi": "MI", "log_likelihood": "log-likelihood"}
    return _precisions(run, {**names, "t_score": "t-score"}, (100, 500, 2000))


def parseme(run: lx.Run) -> str:
    """Return what the corpus has, and the average precision of the measures."""
    coverage = run.table("judgements.coverage").row(0, named=True)
    sizes = dict(run.table("judgements.corpus").select("what", "count").iter_rows())
    base = run.table("full.baseline").row(0, named=True)
    averages = run.table("average").sort("average_precision", descending=True)
    best = [f"{100 * value:.1f}" for value in averages["average_precision"].to_list()]
    header = ["tokens", "expressions", "candidates", "true positives, baseline"]
    header += ["average precision of six measures"]
    true = f"{coverage['n_true']}, {_points(base)} %"
    row = [f"{sizes['tokens']:,}", f"{sizes['expressions']}", f"{coverage['n_candidates']}", true]
    return _table(header, [[*row, f"{best[-1]} to {best[0]} %"]])


def compounds(run: lx.Run) -> str:
    """Return the agreement of the four judges on both questions."""
    estimates = {
        "non-compositional": ("meaning_agreement", "*"),
        "conventionalised: 1, x or 0": ("convention_agreement", "*"),
        "conventionalised: 1 or x, against 0": ("convention_agreement", "conventionalised"),
    }
    rows = []
    for title, (stage, category) in estimates.items():
        whole = {"category": category, "annotator_1": "*", "method": "bootstrap"}
        observed = _row(run, stage, coefficient="observed", **whole)
        kappa = _row(run, stage, coefficient="fleiss_kappa", **whole)
        limits = f"[{kappa['lower']:.2f}, {kappa['upper']:.2f}]"
        rows.append(
            [title, f"{100 * observed['estimate']:.1f} %", f"{kappa['estimate']:.2f} {limits}"]
        )
    return _table(["question", "observed agreement", "Fleiss' kappa"], rows)


def clusters(run: lx.Run) -> str:
    """Return systems by measures of types and of tokens."""
    measures = {"MacroI M-1": "MacroI M-1", "MacroI 1-1": "MacroI 1-1"}
    measures |= {"many_to_one": "M-1 accuracy", "v": "V"}
    rows = [
        [system]
        + [
            f"{100 * _row(run, 'systems.table', measure=name, system=system)['mean']:.1f}"
            for name in measures
        ]
        for system in ("Brown 45", "Brown 17", "Clark 45")
    ]
    return _table(["system", *measures.values()], rows)


def senses(run: lx.Run) -> str:
    """Return fuzzy B-Cubed and NMI of each system, and V and BCubed of its heaviest senses."""
    names = ["fuzzy_bcubed_precision", "fuzzy_bcubed_recall", "fuzzy_bcubed_f", "fuzzy_nmi"]
    names += ["v", "bcubed_f"]
    scores = pl.concat([run.table("senses.scores"), run.table("heaviest.scores")])
    values = {(row["system"], row["measure"]): row for row in scores.to_dicts()}
    rows = []
    for system in scores["system"].unique(maintain_order=True):
        cells = [f"{values[system, name]['value']:.3f}" for name in names]
        limits = (f"{values[system, 'fuzzy_bcubed_f'][name]:.3f}" for name in ("lower", "upper"))
        cells[2] += f" [{', '.join(limits)}]"
        rows.append([system, *cells])
    return _table(["system", "fuzzy P", "R", "F", "NMI", "heaviest: V", "BCubed F"], rows)


def lexicons(maltese: lx.Run, spanish: lx.Run) -> str:
    """Return the L-measure of each lexicon by its gold."""
    compared = {
        "GF, by Camilleri's tables": (maltese, "gf_by_camilleri"),
        "UniMorph, by GF": (maltese, "unimorph_by_gf"),
        "UniMorph, by Apertium": (maltese, "unimorph_by_apertium"),
        "hunspell, by Apertium (Spanish)": (spanish, "whole"),
        "the same, 1 % of the lemmas": (spanish, "by_one_per_cent"),
        "the same, drawn by size": (spanish, "by_one_per_cent_by_size"),
    }
    names = ("sampled lemmas", "mean precision", "mean recall")
    rows = []
    for title, (run, stage) in compared.items():
        size, precision, recall = (
            _row(run, f"{stage}.quality", statistic=name)["value"] for name in names
        )
        star = _row(run, f"{stage}.quality", statistic="L*")
        limits = f" [{star['lower']:.3f}, {star['upper']:.3f}]"
        text = f"{star['value']:.3f}" + (limits if star["lower"] < star["upper"] else "")
        rows.append([title, f"{size:,.0f}", f"{precision:.3f}", f"{recall:.3f}", text])
    return _table(["lexicon", "lemmas", "mean P", "mean R", r"L\*"], rows)


EVALUATIONS = {
    "krenn": Evaluation(
        ["krenn-design"], "collocations/krenn_pp_verb.ds", krenn, "answers-difference-bands"
    ),
    "combination": Evaluation(
        ["krenn-combination"], "collocations/krenn_pp_verb.ds", combination, "sampled-precision"
    ),
    "streusle": Evaluation(["streusle"], "collocations/streusle_bigram.tsv.gz", streusle),
    "e-view": Evaluation(["e-view"], "corpora/brown.tsv.gz", e_view),
    "parseme": Evaluation(
        ["parseme"], "corpora/parseme_sv_train.cupt.gz", parseme, "full-precision"
    ),
    "noun-compounds": Evaluation(
        ["noun-compounds"], "noun-compounds/nonComp-judgments.csv", compounds,
        "meaning_agreement-agreement", converted=True,
    ),
    "clusters": Evaluation(
        ["ewt-pos-induction"], "clustering/brown_ewtgum_c45.paths.gz", clusters
    ),
    "word-senses": Evaluation(
        ["word-senses"], "wsi/semeval2013_gold.key.gz", senses, "systems-scatter"
    ),
    "lexicons": Evaluation(
        ["maltese-lexicon", "spanish-lexicon"], "lexicon/unimorph_mlt.tsv", lexicons
    ),
}  # fmt: skip
"""Evaluations of the chapter; pictures without a figure here are those of the gallery."""


def runs(name: str, data: Path, folder: Path, *, report: bool = False) -> list[Any]:
    """Run the experiments of an evaluation in a folder.

    Parameters
    ----------
    name : str
        The evaluation.
    data : Path
        The data root.
    folder : Path
        Folder of the results, and of tables that are made of public files.
    report : bool
        Write the reports.
    """
    evaluation = EVALUATIONS[name]
    if evaluation.converted:
        script = [sys.executable, str(ROOT / "data" / "convert_public.py"), str(data)]
        data = folder / "data"
        subprocess.run([*script, "--into", str(data)], check=True, stdout=subprocess.DEVNULL)
    files = [ROOT / "configs" / f"{config}.toml" for config in evaluation.configs]
    if evaluation.table is e_view:
        return [lx.sweep(file, runs=folder, data=data, report=report) for file in files]
    return [lx.run(file, runs=folder, data=data, report=report, deliver=False) for file in files]


def update_chapter(text: str, name: str, parts: Sequence[Any]) -> str:
    """Return the chapter with the table of an evaluation made anew."""
    begin, end = BEGIN.format(name), END.format(name)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the chapter has no place for {name}: write {begin}{end}")
    before, _, rest = text.partition(begin)
    content = EVALUATIONS[name].table(*parts)
    return f"{before}{begin}\n{content}\n\n{end}{rest.partition(end)[2]}"


def main(names: Sequence[str]) -> None:
    """Run the evaluations, then write."""
    data = Path(os.environ["LEXASSAY_DATA"])
    for name in names or EVALUATIONS:
        evaluation = EVALUATIONS[name]
        if not (data / evaluation.needs).is_file():
            print(f"{name}: {data} has no {evaluation.needs}; data/README.md has its source")
            continue
        with tempfile.TemporaryDirectory() as folder:
            results = runs(name, data, Path(folder), report=bool(evaluation.picture))
            text = CHAPTER.read_text(encoding="utf-8")
            CHAPTER.write_text(update_chapter(text, name, results), encoding="utf-8")
            if evaluation.picture:
                figures = Path(folder) / evaluation.configs[0] / "report" / "figures"
                shutil.copy(figures / f"{evaluation.picture}.svg", PICTURES / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
