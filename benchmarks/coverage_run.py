"""Count how often intervals and bands contain the truth, and tests reject: `make coverage`.

    python benchmarks/coverage_run.py [PART ...] [--samples 2000] [--folder runs/coverage]

Parts are simple, strata, designs, phases, tests, design_tests, bands, looks, average, lexicons, and
labels, which finds how many labels a comparison needs. Finished tasks are stored in the folder, and
a later run skips them. Samples are numbered from 0 on; borderline cells are simulated again with
five times as many other samples. Exits with 1 if a default method fails.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import polars as pl
from coverage_parts.cells import Cell
from coverage_parts.keeping import Job, PartFile
from coverage_parts.parts import DEFAULTS, LABELS, PARTS, TITLES
from coverage_parts.populations import NAMES, population
from coverage_parts.reading import verdict
from coverage_parts.results import doubtful, read_results

SAMPLES, AGAIN = 2000, 5
WORST = 10


def compute(job: Job) -> tuple[Job, list[Cell], float]:
    """Compute a job in a process of its own; return its seconds on a core, too."""
    started = time.process_time()
    cells: list[Cell] = PARTS[job.task.part].cells(job.task, job.first, job.samples)
    return job, cells, time.process_time() - started


def finish(jobs: Iterable[Job], file: PartFile, *, workers: int) -> None:
    """Compute the jobs that are not kept yet, and keep each as it is finished."""
    finished = file.read()
    missing = [job for job in jobs if job not in finished]
    context = multiprocessing.get_context("spawn")
    total = 0.0
    with ProcessPoolExecutor(max(1, min(workers, len(missing))), mp_context=context) as pool:
        for number, future in enumerate(as_completed(pool.submit(compute, job) for job in missing)):
            job, cells, seconds = future.result()
            file.add(job, cells)
            total += seconds
            text = f"{job.task.method}, {job.task.population}, {job.task.size}"
            print(
                f"{job.task.part} {number + 1}/{len(missing)}: {text}: "
                f"{seconds:.0f} s on a core, {total:.0f} in all",
                file=sys.stderr, flush=True,
            )  # fmt: skip


def run_part(
    part: str, populations: tuple[str, ...], *, samples: int, folder: Path, workers: int
) -> None:
    """Finish a part, with the cells that are borderline once more."""
    file = PartFile(folder, part)
    tasks = PARTS[part].tasks(populations)
    finish((Job(task, 0, samples) for task in tasks), file, workers=workers)
    if part != LABELS:
        borderline = doubtful(read_results(folder, part, samples=samples))
        again = (Job(task, samples, AGAIN * samples) for task in tasks if task in borderline)
        finish(again, file, workers=workers)


def present(names: Sequence[str]) -> tuple[str, ...]:
    """Return the populations that are there, and say which are not."""
    available = []
    for name in names:
        try:
            population(name)
            available.append(name)
        except FileNotFoundError as absent:
            print(f"{name} is skipped: {absent}", file=sys.stderr)
    return tuple(available)


def print_verdicts(part: str, methods: dict[str, pl.DataFrame]) -> bool:
    """Print the verdict on each method and its worst cells; return whether a default fails."""
    print(f"\n{TITLES[part]}\n")
    failed = False
    for method, cells in methods.items():
        facts = verdict(cells)
        default = (part, method) in DEFAULTS
        failed |= default and facts["verdict"] == "fails"
        name = f"{method}{' (default)' if default else ''}"
        print(
            "{name}: {verdict}; mean {mean:.4f} over {cells} cells ({low} too low, {borderline} "
            "borderline, {cautious} of {many} too cautious, {others} not judged), mean width "
            "{width:.3f}".format(name=name, others=facts["not judged"], **facts)
        )
        for row in cells.filter("judged").head(WORST).iter_rows(named=True):
            print(
                "    {share:.4f}  {population}, {size}: {what}, n = {n}; width {width:.3f}, "
                "{draws:.1f} draws, {samples} samples".format(**row)
            )
    return failed


def report_part(part: str, folder: Path, *, samples: int) -> bool:
    """Print what came of a part, write its cells as CSV; return whether a default fails."""
    if part == LABELS:
        rows = [cell for cells in PartFile(folder, part).read().values() for cell in cells]
        print(f"\n{TITLES[part]}\n")
        for row in rows:
            print("{way}: {pair}, n = {size}: power {power}, half-width {half_width}".format(**row))
        return False
    methods = read_results(folder, part, samples=samples)
    if methods:
        pl.concat(methods.values()).write_csv(folder / f"{part}.csv")
    return print_verdicts(part, methods)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run parts, print verdicts, write all cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--populations", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--folder", type=Path, default=Path("runs") / "coverage")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    populations, failed, started = present(options.populations), False, time.perf_counter()
    for part in options.parts or PARTS:
        run_part(
            part,
            populations,
            samples=options.samples,
            folder=options.folder,
            workers=options.workers,
        )
        failed |= report_part(part, options.folder, samples=options.samples)
        print(f"\n{part}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
