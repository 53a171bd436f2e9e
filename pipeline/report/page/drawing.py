"""Still pictures drawn beside the making of the page, in a process of their own.

The drawing library holds Python's lock while it draws, so a thread would not do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from pipeline.engine.process import Worker
from pipeline.report.charts.parts.spec import Spec
from pipeline.report.page.export import still
from pipeline.report.page.vega import drawn
from pipeline.report.view import Figure, Fold


class Drawing:
    """Draws the still pictures of figures ahead; where there can be no other process, here.

    Examples
    --------
    >>> bars = {"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a"}}}
    >>> figure = Figure("bars", "One bar", bars)
    >>> with Drawing() as drawing:
    ...     drawing.ahead([figure])
    ...     drawing.of(figure)[:4]
    '<svg'
    """

    def __init__(self) -> None:
        self._drawn: dict[int, tuple[Figure, Future[str]]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="drawing")
        self._worker: Worker | None = None
        with contextlib.suppress(OSError):
            self._worker = Worker(threads=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._worker is not None:
            self._worker.stop()

    def ahead(self, blocks: Iterable[object]) -> None:
        """Begin with the figures among the blocks and in their folds."""
        for block in blocks:
            if isinstance(block, Fold):
                self.ahead(block.blocks)
            elif isinstance(block, Figure):
                self._begun(block)

    def of(self, figure: Figure) -> str:
        """Return the picture of a figure as SVG, drawn now if it was not begun ahead."""
        return self._begun(figure).result()

    def _begun(self, figure: Figure) -> Future[str]:
        # By identity: a chart is no key. The figure is held, so that no other takes its place.
        if id(figure) not in self._drawn:
            begun = self._thread.submit(self._draw, still(figure.chart))
            self._drawn[id(figure)] = (figure, begun)
        return self._drawn[id(figure)][1]

    def _draw(self, spec: Spec) -> str:
        if self._worker is not None:
            try:
                self._worker.give(drawn, spec)
                picture: str = self._worker.result()
            except EOFError:  # it died: for want of memory, say
                self._worker.stop()
                self._worker = None
            else:
                return picture
        return drawn(spec)
