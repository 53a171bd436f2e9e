"""Tests of one group run in one process, which shares resources that are slow to start.

pytest-xdist identifies groups by a suffix that it adds to names during collection. Since pytest 9.2
these names cannot be changed (issue 1386 of pytest-xdist): here the name alone determines the group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

GROUPED = "loadgroup"
"""Value of `--dist` if tests run by groups."""


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Hands out groups of tests, the largest first, then tests that are of none, one by one.

    Parameters
    ----------
    config, log
        As pytest-xdist gives them to the hook `pytest_xdist_make_scheduler`.
    group : callable
        From the name of a test to its group; "" if it has none.
    """

    def __init__(
        self, config: pytest.Config, log: Producer | None, group: Callable[[str], str]
    ) -> None:
        super().__init__(config, log)
        self._group = group

    def _split_scope(self, nodeid: str) -> str:
        return self._group(nodeid) or nodeid

    def remove_node(self, node: WorkerController) -> str | None:
        """Return the test in which a process crashed; it is not run again, the others are."""
        workload = self.assigned_work.pop(node)
        pending = [
            (unit, test)
            for unit in workload.values()
            for test, is_done in unit.items()
            if not is_done
        ]
        if not pending:
            return None
        unit, crashed = pending[0]
        unit[crashed] = True
        self.workqueue.update({
            scope: unit for scope, unit in workload.items() if not all(unit.values())
        })  # fmt: skip
        for each in self.assigned_work:
            self._reschedule(each)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        """Assign the next group; a process keeps its last test until no group follows."""
        super()._reschedule(node)
        if not self.workqueue and not node.shutting_down:
            node.shutdown()


def scheduler(
    config: pytest.Config, log: Producer | None, group: Callable[[str], str]
) -> GroupScheduling | None:
    """Return the scheduler if tests run by groups; None means that of pytest-xdist."""
    return GroupScheduling(config, log, group) if config.getvalue("dist") == GROUPED else None
