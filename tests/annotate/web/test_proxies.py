"""The configurations of proxies in the documentation work, with the real programs and TLS."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from pipeline.annotate.web.app import open_socket
from tests.annotate.office import Office, build_office
from tests.annotate.served import PATIENCE_KILLING, ROOT, label, line_of, say, start_python
from tests.docs.walk import steps

pytestmark = pytest.mark.long

NAME = "lab.example.org"
PAGE = (ROOT / "docs" / "howto" / "annotation-network.md").read_text(encoding="utf-8")
CONFIGURATIONS = {step.argument: step.text for step in steps(PAGE) if step.kind == "file"}
NGINX = "user {user};\ndaemon off;\npid nginx.pid;\nevents {{}}\nhttp {{\n{temporary}{server}}}\n"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
CADDY = "{{\n admin off\n skip_install_trust\n auto_https disable_redirects\n}}\n{site}"


def free_port() -> int:
    with open_socket() as listener:
        port: int = listener.getsockname()[1]
        return port


@dataclass
class Site:
    """The running command, which serves pages for a proxy."""

    folder: Path
    port: int
    public: int
    links: dict[str, str]
    items: list[str]

    def client(self, authority: Path) -> httpx.Client:
        """Return a client in the network that resolves the name to this machine."""
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.public}", timeout=PATIENCE_KILLING,
            verify=ssl.create_default_context(cafile=str(authority)),
            headers={"Host": f"{NAME}:{self.public}"},
        )  # fmt: skip

    @property
    def origin(self) -> str:
        return f"https://{NAME}:{self.public}"

    def configuration(self, name: str, changes: dict[str, str]) -> str:
        """Return the configuration of the documentation, with the ports and paths of this test."""
        text = CONFIGURATIONS[name]
        for old, new in {"8642": str(self.port), "/etc/ssl": str(self.folder), **changes}.items():
            assert old in text
            text = text.replace(old, new)
        return text


def program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    openssl = program("openssl")
    folder = tmp_path_factory.mktemp("site")
    office: Office = build_office(folder)
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", folder / "lab.key", "-out", folder / "lab.pem", "-days", "2",
         "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"],
        check=True, capture_output=True,
    )  # fmt: skip
    port, public = free_port(), free_port()
    url = f"https://{NAME}:{public}/annotate/"
    words = ["annotate", str(office.config), "--port", str(port), "--public-url", url]
    process = start_python(["-m", "pipeline.cli", *words], folder)
    links: dict[str, str] = {}
    try:
        while "Stop with Ctrl+C" not in (line := line_of(process)):
            if match := re.fullmatch(r"  (\w+) +(https://\S+)\n", line):
                links[match[1]] = match[2]
        assert links.keys() == {"anna", "ben", "coordinator"}
        assert all(each.startswith(url) for each in links.values())
        work = office.work()
        items = sorted(office.ids(work))
        for who, answer in (("anna", "SVC"), ("ben", "free")):  # something to adjudicate
            say(work, who, items[0], answer)
        yield Site(folder, port, public, links, items)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_KILLING)


def has_certificate(port: int) -> bool:
    """Return whether the server has its certificate, which may take a while to create."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(("127.0.0.1", port)) as connection,
            context.wrap_socket(connection, server_hostname=NAME),
        ):
            return True
    except OSError:
        return False


@contextmanager
def running(words: list[str], folder: Path, port: int) -> Iterator[None]:
    """Run a proxy until the block ends."""
    homes = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            words, cwd=folder, stdout=output, stderr=output, env={**os.environ, **homes}
        )
    try:
        end = time.monotonic() + PATIENCE_KILLING
        while not has_certificate(port):
            messages = (folder / "output").read_text()
            assert process.poll() is None, messages
            assert time.monotonic() < end, messages
            time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_KILLING)


@contextmanager
def nginx(site: Site, folder: Path, changes: dict[str, str]) -> Iterator[Path]:
    server = site.configuration("annotate.conf", {"443": f"127.0.0.1:{site.public}", **changes})
    temporary = "".join(f"{each}_temp_path {folder};\n" for each in TEMPORARY)
    user = "root" if os.geteuid() == 0 else "nobody"
    text = NGINX.format(user=user, temporary=temporary, server=server)
    (folder / "nginx.conf").write_text(text)
    words = [program("nginx"), "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"]
    with running(words, folder, site.public):
        yield site.folder / "lab.pem"


@contextmanager
def caddy(site: Site, folder: Path, changes: dict[str, str]) -> Iterator[Path]:
    name = f"{NAME}:{site.public}"
    text = site.configuration("Caddyfile", {NAME: name, **changes})
    (folder / "Caddyfile").write_text(CADDY.format(site=text))
    words = [program("caddy"), "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
    with running(words, folder, site.public):
        own = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        yield own if "internal" in text else site.folder / "lab.pem"


VARIANTS: dict[str, tuple[Callable[..., object], dict[str, str]]] = {
    "nginx": (nginx, {}),
    "nginx, which removes the path": (nginx, {"{port};": "{port}/;"}),
    "nginx, which hides the name": (nginx, {"proxy_set_header Host $host;": ""}),
    "caddy": (caddy, {}),
    "caddy, which removes the path": (caddy, {"handle ": "handle_path "}),
    "caddy with its own certificate": (caddy, {"tls {folder}/lab.pem {folder}/lab.key": "tls internal"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", VARIANTS)
def test_the_pages_work_behind_the_documented_proxy(site: Site, tmp_path: Path, kind: str) -> None:
    proxy, changes = VARIANTS[kind]
    replacements = {
        old.format(port=site.port, folder=site.folder): new.format(port=site.port, folder=site.folder)
        for old, new in changes.items()
    }  # fmt: skip
    with proxy(site, tmp_path, replacements) as authority, site.client(authority) as client:  # type: ignore[attr-defined]
        look = Browser(site, client)
        look.card_and_decision("anna")
        look.coordinator()
        look.strangers()


@dataclass
class Browser:
    """The requests of people through the proxy."""

    site: Site
    client: httpx.Client

    def get(self, address: str, **headers: str) -> httpx.Response:
        """Request an address with the name of the site."""
        path = urlsplit(address)._replace(scheme="", netloc="").geturl()
        return self.client.get(path, headers=headers, extensions={"sni_hostname": NAME})

    def post(self, path: str, body: object, origin: str, **headers: str) -> httpx.Response:
        return self.client.post(
            urlsplit(path)._replace(scheme="", netloc="").geturl(), json=body,
            headers={"Origin": origin, **headers}, extensions={"sni_hostname": NAME},
        )  # fmt: skip

    def card_and_decision(self, who: str) -> None:
        link = self.site.links[who]
        page = self.get(link)
        assert page.status_code == 200
        assert f'"address":"{urlsplit(link).path}"' in page.text
        self.assets(page.text)
        assert {*self.get(f"{link}/cards").json()} == {"cards", "progress"}
        body = {"decisions": [label(self.site.items[1], "SVC", replaces=None)]}
        for origin in ("https://evil.example.org", f"https://{NAME}:1", f"http://{NAME}", "null"):
            assert self.post(f"{link}/decisions", body, origin).status_code == 403
        saved = self.post(f"{link}/decisions", body, self.site.origin)
        assert saved.json()["outcomes"][0]["status"] == "saved"

    def assets(self, page: str) -> None:
        """Load the files that a page needs, with the imports of its scripts."""
        todo = re.findall(r'(?:src|href)="(/[^"]+)"', page)
        assert len(todo) >= 2
        loaded: set[str] = set()
        while todo:
            address = todo.pop()
            assert address.startswith("/annotate/assets/")
            response = self.get(address)
            assert response.status_code == 200, address
            loaded.add(address)
            imported = re.findall(r'from "(\./[^"]+)"', response.text)
            todo += [each for name in imported if (each := urljoin(address, name)) not in loaded]

    def coordinator(self) -> None:
        link = self.site.links["coordinator"]
        assert self.get(f"{link}/state").status_code == 200
        body = {"who": "third", "name": "Eva", "unsure": False}
        assert self.post(f"{link}/adjudication", body, "https://evil.org").status_code == 403
        assert self.post(f"{link}/adjudication", body, self.site.origin).status_code == 200
        page = self.get(link)
        self.assets(page.text)
        assert f'data-address="{urlsplit(link).path}"' in page.text
        (third,) = set(re.findall(r"https?://[^\s\"<]*/a/[\w-]+", page.text))
        assert third.startswith(f"{self.site.origin}/annotate/a/")
        assert self.get(third).status_code == 200
        forged = {"X-Forwarded-Host": "evil.example.org", "X-Forwarded-Proto": "gopher"}
        again = self.get(link, **forged)
        assert third in again.text
        assert "evil.example.org" not in again.text

    def strangers(self) -> None:
        assert self.get(f"{self.site.origin}/annotate/a/none").status_code == 404
        local = f"http://localhost:{self.site.port}"
        link = urlsplit(self.site.links["anna"]).path
        for path in (link, link.removeprefix("/annotate")):
            forged = {"X-Forwarded-Host": "evil.example.org"}
            assert httpx.get(local + path, headers=forged).status_code == 200
            assert httpx.get(local + path, headers={"Host": "evil.example.org"}).status_code == 403
            body: dict[str, list[object]] = {"decisions": []}
            target = f"{local}{path}/decisions"
            assert httpx.post(target, json=body, headers={"Origin": local}).status_code == 200
            assert (
                httpx.post(target, json=body, headers={"Origin": "http://a.org"}).status_code == 403
            )


def test_the_documentation_has_both_configurations() -> None:
    assert CONFIGURATIONS.keys() == {"annotate.conf", "Caddyfile"}
