"""Public addresses, headers of trusted proxies, and the beginnings of links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pipeline.annotate.auth import COORDINATOR, Links, Person
from pipeline.annotate.estimates import BackgroundEstimates
from pipeline.annotate.web.app import ServerOptions, app_of, lines
from pipeline.annotate.web.connections import public_url, trusted_proxies
from pipeline.annotate.web.coordinator import routes
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import open_log
from tests.annotate.office import Desk, desk
from tests.annotate.served import label, work_in

PUBLIC = "https://lab.example.org/annotate/"
ORIGIN = "https://lab.example.org"


@pytest.mark.parametrize(
    ("text", "origin", "base"),
    [
        (PUBLIC, ORIGIN, "/annotate"),
        ("https://lab.example.org", ORIGIN, ""),
        (" https://LAB.example.org:443/ ", ORIGIN, ""),
        ("http://localhost:8080/a/b.c", "http://localhost:8080", "/a/b.c"),
        ("http://[2001:DB8::1]:80/x", "http://[2001:db8::1]", "/x"),
        ("https://lab.example.org:8443/~ana/", "https://lab.example.org:8443", "/~ana"),
        ("https://münster.example/", "https://xn--mnster-3ya.example", ""),
        ("https://192.0.2.7:444", "https://192.0.2.7:444", ""),
    ],
)
def test_public_addresses_are_normalised_as_in_browsers(text: str, origin: str, base: str) -> None:
    url = public_url(text)
    assert (url.origin, url.base, str(url)) == (origin, base, origin + base)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a URL; give an address such as https://"),
        ("lab.example.org", "is not a URL"),
        ("lab.example.org:8642", "is not a URL"),
        ("//lab.example.org/", "is not a URL"),
        ("ftp://lab.example.org/", "is not a URL"),
        ("https:///annotate", "is not a URL"),
        ("https:lab.example.org", "is not a URL"),
        ("https://lab.example.org:99999/", "is not a URL"),
        ("https://lab.example.org:x/", "is not a URL"),
        ("https://[::1", "is not a URL"),
        ("https://lab example.org/", "is not a URL"),
        ("https://lab..example.org/", "is not a URL"),
        ("https://1.2.3.4.5/", "is not a URL"),
        ("https://lab.example.org\\x", "is not a URL"),
        ("https://ana:secret@lab.example.org/", "has a user name or password; leave it out"),
        ("https://@lab.example.org/", "has a user name or password"),
        ("https://lab.example.org/?x=1", "has a query or a fragment"),
        ("https://lab.example.org/x#", "has a query or a fragment"),
        ("https://lab.example.org/a//b", "cannot be a base path; use letters"),
        ("https://lab.example.org/a/../b", "cannot be a base path"),
        ("https://lab.example.org/a b", "cannot be a base path"),
        ("https://lab.example.org/%61", "cannot be a base path"),
        ("https://lab.example.org/<b>", "cannot be a base path"),
    ],
)
def test_invalid_public_addresses_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)) as refused:
        public_url(text)
    assert "secret" not in str(refused.value)


def test_trusted_proxies_are_addresses_or_networks() -> None:
    networks = [str(each) for each in trusted_proxies(["127.0.0.1", "10.0.0.0/8", "::1"])]
    assert networks == ["127.0.0.1/32", "10.0.0.0/8", "::1/128"]
    assert trusted_proxies([]) == ()
    with pytest.raises(ConfigError, match=r"(?s)'localhost' is not an IP.*'10.0.0.1/8' is not"):
        trusted_proxies(["localhost", "127.0.0.1", "10.0.0.1/8"])


@pytest.fixture(scope="module")
def finished_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A work with a round of adjudication for eva."""
    finished = desk(tmp_path_factory.mktemp("made"), "")
    with open_log(finished.work.database) as log:
        log.execute("INSERT INTO tasks (round, annotator, id, place, asked)"
                    " SELECT 'adjudication', 'eva', id, 1, 1 FROM items LIMIT 2")  # fmt: skip
    return finished


class Pages:
    """The pages of a work as the command serves them, for a client at an address."""

    def __init__(self, finished: Desk, url: str = "", *, client: str = "192.0.2.7", trusted: str = "",
                 names: tuple[str, ...] = ()) -> None:  # fmt: skip
        work, public = finished.work, public_url(url) if url else None
        self.links = Links(work.folder)
        coordinator = routes(
            work, address=self.links.address,
            certainty=BackgroundEstimates(work), public=str(public or ""),
        )  # fmt: skip
        app = app_of(
            work, self.links, coordinator=coordinator, public=public, names=names,
            trusted=trusted_proxies([trusted] if trusted else []),
        )  # fmt: skip
        self.client = TestClient(app, base_url="http://localhost:8642", client=(client, 9))
        self.ana = self.links.address(Person("annotator", "ana"))
        self.coordinator = self.links.address(COORDINATOR)

    def third(self, **headers: str) -> str:
        """Return the adjudicator's link on the coordinator's page."""
        answer = self.client.get(self.coordinator, headers=headers)
        assert answer.status_code == 200, answer.text
        (link,) = set(re.findall(r"https?://[^\s\"<]*/a/[\w-]+", answer.text))
        return str(link).removesuffix(self.links.address(Person("adjudicator", "eva")))

    def posts(self, path: str = "", **headers: str) -> int:
        """Return the status of a decision that changes nothing."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        body = {"decisions": [label("x", "yes", replaces=None)]}
        return self.client.post(
            f"{path or self.ana}/decisions", json=body, headers=fields
        ).status_code


@pytest.mark.parametrize("base", ["", "/annotate", "/a", "/c/x", "/assets", "/a/a"])
def test_pages_work_with_and_without_the_base_path(finished_desk: Desk, base: str) -> None:
    pages = Pages(finished_desk, f"{ORIGIN}{base}/")
    for start in {"", base}:
        page = pages.client.get(f"{start}{pages.ana}")
        assert page.status_code == 200
        assert f'"address":"{base}{pages.ana}"' in page.text
        (style,) = re.findall(r'href="(/[^"]+\.css[^"]*)"', page.text)
        assert style.startswith(f"{base}/assets/")
        assert pages.client.get(style).status_code == 200
        assert pages.client.get(start + style.removeprefix(base)).status_code == 200
        assert pages.client.get(f"{start}{pages.ana}/cards").status_code == 200
        assert pages.posts(start + pages.ana, Origin=ORIGIN) == 200
        whole = pages.client.get(f"{start}{pages.coordinator}").text
        assert f'data-address="{base}{pages.coordinator}"' in whole
        assert pages.client.get(f"{start}/a/none").status_code == 404
    assert pages.third() == f"{ORIGIN}{base}"
    assert pages.client.get(f"/other{pages.ana}").status_code == 404


@pytest.mark.parametrize(
    ("host", "origin", "site", "status"),
    [
        ("lab.example.org", ORIGIN, None, 200),
        ("lab.example.org", ORIGIN, "same-origin", 200),
        ("lab.example.org", None, "same-origin", 200),
        ("lab.example.org", "null", "same-origin", 200),
        ("127.0.0.1:8642", ORIGIN, None, 200),
        ("localhost:8642", "http://localhost:8642", None, 200),
        ("[::1]:8642", "http://[::1]:8642", None, 200),
        ("localhost:8642", "http://localhost:1", None, 403),
        ("lab.example.org", "http://lab.example.org", None, 403),
        ("lab.example.org", f"{ORIGIN}:444", None, 403),
        ("lab.example.org", f"{ORIGIN}.evil.org", None, 403),
        ("lab.example.org", ORIGIN, "cross-site", 403),
        ("lab.example.org", ORIGIN, "same-site", 403),
        ("lab.example.org", "https://evil.org", "same-origin", 403),
        ("lab.example.org", None, None, 403),
        ("lab.example.org", "null", None, 403),
        ("named.example.org", "http://named.example.org", None, 403),
        ("evil.org", ORIGIN, None, 403),
    ],
)
def test_only_the_public_origin_and_this_machine_may_write(
    finished_desk: Desk, host: str, origin: str | None, site: str | None, status: int
) -> None:
    pages = Pages(finished_desk, PUBLIC, names=("named.example.org",))
    fields = {"Host": host, "Origin": origin, "Sec_Fetch_Site": site}
    assert pages.posts(**{name: each for name, each in fields.items() if each}) == status


def test_headers_of_proxies_are_used_only_from_trusted_ones(finished_desk: Desk) -> None:
    forwarded = {"X-Forwarded-Host": "lab.example.org", "X-Forwarded-Proto": "https"}
    names = ("lab.example.org",)
    for trusted, client in (("", "127.0.0.1"), ("10.0.0.0/8", "192.0.2.7"), ("10.0.0.0/8", "x")):
        stranger = Pages(finished_desk, client=client, trusted=trusted, names=names)
        assert stranger.third(**forwarded) == "http://localhost:8642"
        posted = {"X_Forwarded_Host": "lab.example.org", "Origin": ORIGIN}
        assert stranger.posts(**posted) == 403
    for client in ("10.1.2.3", "::ffff:10.1.2.3"):
        proxy = Pages(finished_desk, client=client, trusted="10.0.0.0/8", names=names)
        assert proxy.third(**forwarded) == ORIGIN
        assert (
            proxy.third(**{"X-Forwarded-Host": "evil.org, lab.example.org"})
            == "http://lab.example.org"
        )
        assert proxy.third(**{"X-Forwarded-Proto": "gopher"}) == "http://localhost:8642"
        posted = {"X_Forwarded_Host": "lab.example.org", "Origin": ORIGIN}
        assert proxy.posts(**posted) == 200
        refused = proxy.client.get(proxy.ana, headers={"X-Forwarded-Host": "evil.org"})
        assert refused.status_code == 403
    both = Pages(
        finished_desk, PUBLIC, client="10.1.2.3", trusted="10.0.0.0/8", names=("other.example.org",)
    )
    assert both.third(**{"X-Forwarded-Host": "other.example.org"}) == f"{ORIGIN}/annotate"


def test_printed_links_begin_with_the_public_address(tmp_path: Path) -> None:
    work = work_in(tmp_path)
    links = Links(tmp_path)
    text = "\n".join(lines(work, links, str(public_url(PUBLIC))))
    assert f"{ORIGIN}/annotate{links.address(COORDINATOR)}" in text
    assert text.count(f"{ORIGIN}/annotate/a/") == 2


def test_warnings_name_what_is_not_encrypted() -> None:
    def warnings_of(url: str, host: str = "127.0.0.1") -> list[str]:
        return list(ServerOptions(host, public=public_url(url)).warnings())

    assert warnings_of(PUBLIC) == warnings_of("http://localhost:8080/") == []
    assert "http://lab.example.org is not encrypted" in warnings_of("http://lab.example.org")[0]
    assert "past the proxy" in warnings_of(PUBLIC, "0.0.0.0")[0]
    assert [len(warnings_of(PUBLIC, "0.0.0.0")), len(warnings_of("http://a.org", "0.0.0.0"))] == [
        1,
        1,
    ]
