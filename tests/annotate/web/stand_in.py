"""A minimal server for the coordinator's page."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import pipeline.annotate.web
from pipeline.annotate.auth import Person
from pipeline.annotate.estimates import BackgroundEstimates
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web.coordinator import routes
from pipeline.annotate.web.pages import Assets, Pages

SECRET = "secret"


def app_of(work: SheetWork, certainty: BackgroundEstimates) -> Starlette:
    def address(person: Person) -> str:
        return f"/a/{person.role}-{person.name}"

    own = routes(work, address=address, certainty=certainty)
    folder = Path(pipeline.annotate.web.__file__).parent / "assets"
    app = Starlette(routes=[
        *(_under(each) for each in own),
        Mount("/assets", StaticFiles(directory=folder)),
    ])  # fmt: skip
    app.state.pages = Pages(Assets())
    return app


def _under(route: Route) -> Route:
    path = f"/c/{SECRET}{route.path.rstrip('/')}"
    return Route(path, route.endpoint, methods=sorted(route.methods or {"GET"}))
