"""What differs between two runs, where one of them has not made a stage."""

from __future__ import annotations

from pipeline.runner.plan.differences import stages_differ
from pipeline.runner.store.storage import storage_at
from tests.runner.laboratory import Laboratory, change

FURTHER = """
[stages.further]
use = "sample.random"
candidates = "candidates"
rate = 0.1
"""


def reasons(laboratory: Laboratory) -> dict[str, tuple[str, ...]]:
    """Return how the stages of the newest run differ from the one before."""
    new, old = laboratory.records()[:2]
    storage = storage_at(laboratory.root)
    return {each.stage: each.reasons for each in stages_differ((storage, old), (storage, new))}


def test_a_stage_that_one_run_did_not_have(laboratory: Laboratory) -> None:
    laboratory.run()
    laboratory.config.write_text(laboratory.config.read_text() + FURTHER)
    laboratory.run()
    assert reasons(laboratory) == {"further": ("absent -> done",)}
    change(laboratory.config, FURTHER, "")
    laboratory.run()
    assert reasons(laboratory) == {"further": ("done -> absent",)}


def test_a_stage_that_failed(laboratory: Laboratory) -> None:
    laboratory.run()
    change(laboratory.folder / "gold.tsv", "in:N0_0\tv0\t", "in:N0_0\tv0\tperhaps")
    assert laboratory.call("run").code == 1
    assert reasons(laboratory) == {
        "gold": ("done -> failed",),
        "precision": ("done -> absent",),
        "comparison": ("done -> absent",),
    }


def test_results_that_are_gone(laboratory: Laboratory) -> None:
    """The records say that the tables differ, but those of the first run were removed."""
    laboratory.run()
    laboratory.run("--set", "stages.sample.rate=0.9")
    gone = laboratory.records()[1].stages["sample"].fingerprint[:24]
    (laboratory.root / "sample" / gone / "manifest.json").unlink()
    assert reasons(laboratory)["sample"] == ("done -> done",)
