"""What people type as a public address, whose headers are believed, and what links begin with."""

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
    ("given", "origin", "base"),
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
def test_addresses_are_read_as_browsers_write_them(given: str, origin: str, base: str) -> None:
    found = public_url(given)
    assert (found.origin, found.base, str(found)) == (origin, base, origin + base)


@pytest.mark.parametrize(
    ("given", "said"),
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
def test_what_is_no_address_is_refused(given: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        public_url(given)
    assert "secret" not in str(refused.value)


def test_proxies_are_addresses_and_networks() -> None:
    found = [str(each) for each in trusted_proxies(["127.0.0.1", "10.0.0.0/8", "::1"])]
    assert found == ["127.0.0.1/32", "10.0.0.0/8", "::1/128"]
    assert trusted_proxies([]) == ()
    with pytest.raises(ConfigError, match=r"(?s)'localhost' is not an IP.*'10.0.0.1/8' is not"):
        trusted_proxies(["localhost", "127.0.0.1", "10.0.0.1/8"])


@pytest.fixture(scope="module")
def finished_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A work with a round of adjudication for eva."""
    made = desk(tmp_path_factory.mktemp("made"), "")
    with open_log(made.work.database) as log:
        log.execute("INSERT INTO tasks (round, annotator, id, place, asked)"
                    " SELECT 'adjudication', 'eva', id, 1, 1 FROM items LIMIT 2")  # fmt: skip
    return made


class Pages:
    """The pages of a work as the command serves them, asked from an address."""

    def __init__(self, made: Desk, url: str = "", *, client: str = "192.0.2.7", trusted: str = "",
                 names: tuple[str, ...] = ()) -> None:  # fmt: skip
        work, public = made.work, public_url(url) if url else None
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
        (found,) = set(re.findall(r"https?://[^\s\"<]*/a/[\w-]+", answer.text))
        return str(found).removesuffix(self.links.address(Person("adjudicator", "eva")))

    def posts(self, path: str = "", **headers: str) -> int:
        """Return the status of a decision that changes nothing."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        body = {"decisions": [label("x", "yes", replaces=None)]}
        return self.client.post(
            f"{path or self.ana}/decisions", json=body, headers=sent
        ).status_code


@pytest.mark.parametrize("base", ["", "/annotate", "/a", "/c/x", "/assets", "/a/a"])
def test_a_proxy_may_pass_the_path_on_or_remove_it(finished_desk: Desk, base: str) -> None:
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
    sent = {"Host": host, "Origin": origin, "Sec_Fetch_Site": site}
    assert pages.posts(**{name: each for name, each in sent.items() if each}) == status


def test_headers_of_proxies_are_believed_from_trusted_ones_alone(finished_desk: Desk) -> None:
    said = {"X-Forwarded-Host": "lab.example.org", "X-Forwarded-Proto": "https"}
    names = ("lab.example.org",)
    for trusted, client in (("", "127.0.0.1"), ("10.0.0.0/8", "192.0.2.7"), ("10.0.0.0/8", "x")):
        stranger = Pages(finished_desk, client=client, trusted=trusted, names=names)
        assert stranger.third(**said) == "http://localhost:8642"
        posted = {"X_Forwarded_Host": "lab.example.org", "Origin": ORIGIN}
        assert stranger.posts(**posted) == 403
    for client in ("10.1.2.3", "::ffff:10.1.2.3"):
        proxy = Pages(finished_desk, client=client, trusted="10.0.0.0/8", names=names)
        assert proxy.third(**said) == ORIGIN
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
    told = "\n".join(lines(work, links, str(public_url(PUBLIC))))
    assert f"{ORIGIN}/annotate{links.address(COORDINATOR)}" in told
    assert told.count(f"{ORIGIN}/annotate/a/") == 2


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
