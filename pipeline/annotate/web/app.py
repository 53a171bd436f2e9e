"""The server of a work's pages, as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from inspect import iscoroutinefunction
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipeline.annotate.links import Links
from pipeline.annotate.web.annotator import Annotator
from pipeline.annotate.web.assets import Assets
from pipeline.annotate.web.errors import HANDLERS
from pipeline.annotate.web.pages import Pages
from pipeline.annotate.web.people import People
from pipeline.annotate.web.readers import Readers
from pipeline.annotate.web.security import Guard, Hosts
from pipeline.annotate.web.sizes import Limited
from pipeline.annotate.work import Work
from pipeline.annotate.writer import Writer


def app_of(
    work: Work,
    links: Links,
    *,
    host: str = "127.0.0.1",
    names: Collection[str] = (),
    coordinator: Sequence[Route] = (),
    categories: Mapping[str, Sequence[str]] | None = None,
) -> Starlette:
    """Return the server of a work's pages.

    Parameters
    ----------
    work : Work
        The work.
    links : Links
        Its secrets.
    host : str
        Where the server listens.
    names : collection of str
        Further names that it answers to.
    coordinator : sequence of Route
        The coordinator's pages: their paths begin with ``/``, which is ``/c/S`` here. Who has not
        the coordinator's secret gets none of them.
    categories : mapping of str to sequence of str
        Category to the labels that count as it.
    """
    writer, readers, assets = Writer(work.database), Readers(work.database), Assets()
    people, pages = People(work, links, readers), Pages(assets)
    annotator = Annotator(people, writer, pages, categories or {})

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        writer.start()
        yield
        await to_thread.run_sync(writer.stop)  # what waits is written
        readers.close()

    app = Starlette(
        routes=[
            *annotator.routes(),
            *(_behind(each, people) for each in coordinator),
            Route("/assets/{name}", assets.serve),
        ],
        middleware=[Middleware(Guard, hosts=Hosts(host, names)), Middleware(Limited)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # an address that is nearly one is none
    app.state.writer, app.state.readers, app.state.pages = writer, readers, pages
    return app


def _behind(route: Route, people: People) -> Route:
    """Return a route of the coordinator's, behind the coordinator's secret."""
    endpoint: Callable[[Request], Awaitable[Response] | Response] = route.endpoint

    async def behind(request: Request) -> Response:
        people.coordinates(request)
        if iscoroutinefunction(endpoint):
            found: Any = await endpoint(request)
        else:
            found = await run_in_threadpool(endpoint, request)
        return found  # type: ignore[no-any-return]

    path = "/c/{secret}" + route.path.rstrip("/")
    return Route(path, behind, methods=sorted(route.methods or {"GET"}))
