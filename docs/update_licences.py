"""Write LICENCES.md: the licences of all packages that lexassay needs.

    python docs/update_licences.py dist/lexassay-VERSION.cdx.json

The bill of materials is that of `make release`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "LICENCES.md"
KNOWN = {"polars-hash": "MIT", "altair": "BSD-3-Clause", "jinja2": "BSD-3-Clause",
         "loky": "BSD-3-Clause", "scipy": "BSD-3-Clause", "pyspark": "Apache-2.0",
         "pandas": "BSD-3-Clause", "py4j": "BSD-3-Clause", "grpcio": "Apache-2.0",
         "grpcio-status": "Apache-2.0", "googleapis-common-protos": "Apache-2.0"}  # fmt: skip
"""Licences that packages do not state in a standard way, and those of the extra spark, which is
not in the bill of materials."""
INSTALLERS = {"pip", "setuptools", "wheel"}
HEAD = """# Licences of what lexassay needs

lexassay is Apache-2.0. These are all packages that it needs with the extras `web`, `cloud`, `icu`
and `spark`. `make release` writes a bill of materials (CycloneDX) with their versions.

| licence | packages |
|---|---|
"""
END = """
The wheels of NumPy and SciPy contain OpenBLAS (BSD-3-Clause) and libgfortran (GPL-3.0 with the GCC
Runtime Library Exception). Reports contain Vega, Vega-Lite, Vega-Embed and SlickGrid, whose
licences are in `pipeline/report/assets/vendor`.
"""


def licence(component: dict[str, object]) -> str:
    """Return the licence of a package as SPDX writes it; the classifier without its head else."""
    name = str(component["name"]).lower()
    if name in KNOWN:
        return KNOWN[name]
    stated: object = component.get("licenses", [])
    licences = []
    for each in stated if isinstance(stated, list) else []:
        own = each.get("license", {})
        licences.append(each.get("expression") or own.get("id") or own.get("name", ""))
    names = [re.sub(r"^License :: OSI Approved :: ", "", text) for text in licences]
    return next(iter(sorted(names, key=lambda text: " License" in text)), "not stated")


def page(components: list[dict[str, object]]) -> str:
    """Return the page."""
    groups: dict[str, list[str]] = {}
    for each in components:
        if each["name"] not in INSTALLERS:
            groups.setdefault(licence(each), []).append(str(each["name"]).lower())
    for name in sorted(KNOWN.keys() - {each for names in groups.values() for each in names}):
        groups.setdefault(KNOWN[name], []).append(name)
    rows = sorted(groups.items(), key=lambda row: (-len(row[1]), row[0]))
    return HEAD + "".join(f"| {what} | {', '.join(sorted(who))} |\n" for what, who in rows) + END


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(Path(sys.argv[1]).read_text())["components"]))
