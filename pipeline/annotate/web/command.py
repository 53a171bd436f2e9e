"""What the command serves: the pages of a work, with a line for each link."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from pipeline.annotate.certainty import Certainty
from pipeline.annotate.links import COORDINATOR, Links, Person, annotators
from pipeline.annotate.remaining import USUAL
from pipeline.annotate.web import coordinator
from pipeline.annotate.web.app import app_of
from pipeline.annotate.web.serving import is_loopback, listening, serve
from pipeline.annotate.work import Work

_OPEN = (
    "Others on the network can reach these pages, and what goes over it is not encrypted: who"
    " listens sees the secrets. Put a server with TLS before it, or use a tunnel, and give its name"
    " with --names."
)
_NAMELESS = (
    "The links below name this machine localhost, so they work on it alone: give the name or"
    " address by which others reach it with --names."
)


@dataclass(frozen=True)
class Served:
    """How a work is served.

    Parameters
    ----------
    host, port : str, int
        Where to listen; port 0 takes a free one.
    names : tuple of str
        Further names by which the server is called.
    half_width : float or None
        The wished half-width of what the coordinator's page plans for.
    renew : bool
        Whether all links are made anew.
    """

    host: str = "127.0.0.1"
    port: int = 0
    names: tuple[str, ...] = ()
    half_width: float | None = None
    renew: bool = False

    @property
    def called(self) -> str:
        """The name in the links: one by which others can call, if there is one."""
        if self.names:
            return self.names[0]
        host = "localhost" if self.host in {"0.0.0.0", "::", ""} else self.host
        return f"[{host}]" if ":" in host else host

    def warnings(self) -> Iterator[str]:
        """Yield what has to be said before others can reach the pages.

        Examples
        --------
        >>> list(Served("127.0.0.1").warnings())
        []
        >>> len(list(Served("0.0.0.0").warnings()))
        2
        >>> len(list(Served("0.0.0.0", names=("lex.example.org",)).warnings()))
        1
        """
        if is_loopback(self.host):
            return
        yield _OPEN
        if is_loopback(self.called):
            yield _NAMELESS


def serve_pages(work: Work, wanted: Served) -> int:
    """Serve until somebody stops it; print everybody's link first.

    Raises
    ------
    ConfigError
        If the address cannot be listened on.
    StoreError
        If the key of the links, or the decisions, cannot be written.
    """
    links = Links(work.folder)
    if wanted.renew:
        print(f"all links are new; the key of the old ones is kept in {links.renew()}")
    listener = listening(wanted.host, wanted.port)
    for text in filter(None, [*wanted.warnings(), links.warning]):
        print(text, file=sys.stderr)
    origin = f"http://{wanted.called}:{listener.getsockname()[1]}"

    def started() -> None:
        print("\n".join(lines(work, links, origin)), flush=True)

    with closing(Certainty(work)) as certainty:
        routes = coordinator.routes(
            work,
            address=lambda role, name: links.address(Person(role, name)),
            half_width=wanted.half_width or USUAL,
            certainty=certainty,
        )
        app = app_of(
            work, links, host=wanted.host, names=wanted.names, coordinator=routes,
            categories=work.categories,
        )  # fmt: skip
        serve(app, listener, started)
    print(f"stopped; what was decided is in {work.database}")
    return 0


def lines(work: Work, links: Links, origin: str) -> Iterator[str]:
    """Yield what the command says when the pages are there: a link for everybody."""
    yield f"{work.title}: each link is one person's, and whoever has it can label in that name."
    width = max([len(name) for name in work.annotators] + [len("coordinator")])
    for person in annotators(work):
        yield f"  {person.name:<{width}}  {origin}{links.address(person)}"
    yield f"  {'coordinator':<{width}}  {origin}{links.address(COORDINATOR)}"
    yield f"Decisions are saved in {work.database}. Ctrl+C stops."
