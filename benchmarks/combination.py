"""Time a combination: 100,000 candidates, 80 measures, 2,000 labels, two words.

python benchmarks/combination.py [--candidates 100000] [--measures 80] [--labels 2000]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

from pipeline.kernels.nbest.combination import Labels, cross_fit, fit_all
from pipeline.kernels.ridge_logistic import Features
from pipeline.kernels.survey.study import folds_of, normal_scores


def main() -> None:
    """Print the seconds of each step, on invented candidates with Zipfian words."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--candidates", type=int, default=100_000)
    parser.add_argument("--measures", type=int, default=80)
    parser.add_argument("--labels", type=int, default=2_000)
    options = parser.parse_args()
    bits = np.random.default_rng(1)
    quality = bits.normal(size=options.candidates)
    noisy = quality + bits.normal(size=(options.measures, options.candidates))
    ranks = (-noisy).argsort(axis=1).argsort(axis=1) + 1
    words = bits.zipf(1.3, size=(2, options.candidates)) % 20_000
    y = (quality + bits.logistic(size=options.candidates) > 1.5).astype(np.float64)
    places = np.sort(bits.choice(options.candidates, options.labels, replace=False))
    started = time.perf_counter()
    features = Features(normal_scores(ranks).T, words)
    print(f"features: {time.perf_counter() - started:.1f} s")
    ids = pl.Series([f"x{number}" for number in range(options.candidates)])
    labels = Labels(places, y[places], np.ones(options.labels))
    started = time.perf_counter()
    fit = cross_fit(features, labels, folds_of(ids, folds=10, seed="s"))
    print(f"cross-fit, 10 folds, 7 penalties: {time.perf_counter() - started:.1f} s")
    started = time.perf_counter()
    fit_all(features, labels, ridge=fit.ridges[0])
    print(f"model of all labels: {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
