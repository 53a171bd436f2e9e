"""What results that are not used cost on an object store: requests and seconds of commands.

.venv-cluster/bin/python benchmarks/listing.py [ARTEFACTS]     100,000 if not given

The server (moto) runs in this process and is filled past the network: artefacts of a stage and
records of runs. The experiment itself is small. Seconds are those of the server, too, which walks
through all its keys to list a few; requests are what counts.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.cluster.ports import free_port
from tests.cluster.proxy import Proxy

BUCKET, PLACE = "words", "s3://words/runs"
EXPERIMENT = """name = "small"
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score"]
"""
HEADER = "l1\tl2\tf\tf1\tf2\tN\n"


def command(folder: Path, *words: str) -> float:
    """Run a command; return its seconds."""
    whole = [sys.executable, "-m", "pipeline.cli", *words, "--runs", PLACE]
    started = time.perf_counter()
    subprocess.run(whole, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def fill(artefacts: int) -> None:
    """Put artefacts of a stage, three objects each, and a record of a run for every ten."""
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends

    backend, draw = s3_backends[DEFAULT_ACCOUNT_ID]["aws"], random.Random(1)
    for number in range(artefacts):
        above = f"runs/small/scores/{draw.randrange(16**24):024x}"
        for name in ("manifest.json", "scores/part-00000.parquet", "scores/part-00001.parquet"):
            backend.put_object(BUCKET, f"{above}/{name}", b"{}")
        if number % 10 == 0:
            record = f"runs/small/history/20200101T{number // 10:06}-abcd"
            backend.put_object(BUCKET, f"{record}.json", b"{}")
            backend.put_object(BUCKET, f"{record}.jsonl", b"")


def measure(folder: Path, proxy: Proxy) -> dict[str, tuple[int, float]]:
    """Return requests and seconds of each command."""
    costs: dict[str, tuple[int, float]] = {}
    for name, words in {
        "plan": ("plan", "small.toml"),
        "status": ("status", "small.toml"),
        "run": ("run", "small.toml", "--no-report"),
        "plan, options changed": ("plan", "small.toml", "--set", 'stages.scores.measures=["mi"]'),
    }.items():
        proxy.requests.clear()
        seconds = command(folder, *words)
        costs[name] = len(proxy.requests), seconds
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("artefacts", nargs="?", type=int, default=100_000)
    artefacts = parser.parse_args().artefacts
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", free_port(), verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    proxy = Proxy(server._port)
    address = f"http://127.0.0.1:{proxy.port}"
    keys = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "secret"}
    os.environ |= {"AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", **keys}
    os.environ |= {"AWS_REGION": "us-east-1", "LEXASSAY_STORE_LEASE": "4000"}
    urllib.request.urlopen(urllib.request.Request(f"{address}/{BUCKET}", method="PUT")).close()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"LEXASSAY_STORE_CACHE": f"{name}/cache"}
        os.environ |= {"PYTHONPATH": str(Path(__file__).parents[1])}
        (folder / "small.toml").write_text(EXPERIMENT)
        rows = (f"a{each}\tb{each}\t2\t3\t4\t1000\n" for each in range(100))
        (folder / "pairs.tsv").write_text(HEADER + "".join(rows))
        for _ in range(2):
            command(folder, "run", "small.toml", "--no-report")
        few = measure(folder, proxy)
        fill(artefacts)
        many = measure(folder, proxy)
    print(f"{'':<24}{'among 1':>20}{f'among {artefacts:,}':>24}")
    for title, (requests, seconds) in few.items():
        there = f"{many[title][0]} requests {many[title][1]:.1f} s"
        print(f"{title:<24}{f'{requests} requests {seconds:.1f} s':>20}{there:>24}")
    proxy.close()
    server.stop()


if __name__ == "__main__":
    main()
