"""Bundle the library that draws the figures of a page, with the licences of all that is in it.

python docs/update_vendor.py

The library comes with the package that draws the still pictures, so both are of one version; the
licences are fetched from where the packages are published, by npm.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import tempfile
from pathlib import Path

import vl_convert

from pipeline.report.page.html import LIBRARY, LICENCES, OFFERED, VEGA_LITE, VERSIONS

FOLDER = Path(__file__).parents[1] / "pipeline" / "report" / "assets" / "vendor"
FREE = {"BSD-3-Clause", "ISC", "MIT", "Apache-2.0", "BSD-2-Clause", "0BSD", "Unlicense"}

COMMANDS = {
    *("@types/estree", "@types/geojson", "ansi-regex", "ansi-styles", "cliui", "commander"),
    *("emoji-regex", "escalade", "get-caller-file", "get-east-asian-width", "iconv-lite", "rw"),
    *("safer-buffer", "string-width", "strip-ansi", "wrap-ansi", "y18n", "yargs", "yargs-parser"),
}
"""What packages need for their command lines and types alone: nothing of it is in the bundle."""


def bundle() -> bytes:
    """Return the library, packed; the same for the same version."""
    script = vl_convert.javascript_bundle(OFFERED, VEGA_LITE)
    return gzip.compress(script.encode("utf-8"), 9, mtime=0)


def versions() -> dict[str, str]:
    """Return the versions of what is in it."""
    return {
        "vega": vl_convert.get_vega_version(),
        "vega-lite": VEGA_LITE,
        "vega-embed": vl_convert.get_vega_embed_version(),
    }


def licences(packages: dict[str, str]) -> str:
    """Return the licences of packages and of all that they need."""
    with tempfile.TemporaryDirectory() as name:
        pinned = [f"{package}@{version}" for package, version in packages.items()]
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *pinned]
        subprocess.run(command, cwd=name, check=True, stdout=subprocess.DEVNULL)
        files = sorted(Path(name).glob("node_modules/**/package.json"))
        texts: dict[str, list[str]] = {}
        for path in filter(_is_package, files):
            who, text = _licence(path)
            if who.partition(" ")[0] not in COMMANDS:
                texts.setdefault(text, []).append(who)
    parts = [f"{', '.join(sorted(set(whose)))}\n\n{text}\n" for text, whose in texts.items()]
    return f"\n{'-' * 79}\n\n".join(parts)


def _is_package(path: Path) -> bool:
    """Return whether a file describes a package, and not a folder of one."""
    above = path.parent.parent
    scoped = above.name.startswith("@") and above.parent.name == "node_modules"
    return above.name == "node_modules" or scoped


def _licence(path: Path) -> tuple[str, str]:
    """Return name, version and kind of a package, and the text of its licence."""
    package = json.loads(path.read_text(encoding="utf-8"))
    kind = package.get("license", "")
    if not set(re.findall(r"[\w.-]+", kind)) & FREE:
        raise SystemExit(f"{package['name']}: licence {kind!r}")
    texts = [each for each in path.parent.iterdir() if each.name.upper().startswith("LICEN")]
    text = texts[0].read_text(encoding="utf-8").strip() if texts else "(no text in the package)"
    return f"{package['name']} {package['version']} ({kind})", text


def main() -> None:
    """Write library, versions and licences."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / LIBRARY).write_bytes(bundle())
    current = versions()
    (FOLDER / VERSIONS).write_text(json.dumps(current, indent=2) + "\n", encoding="utf-8")
    (FOLDER / LICENCES).write_text(licences(current), encoding="utf-8")


if __name__ == "__main__":
    main()
