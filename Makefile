# Every target makes its own environment: Python 3.11, pip, venv and make are all it needs.
PYTHON3 ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --constraint constraints.txt
PEERS := .venv-peers
PEER_PIP := $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --constraint $(PEERS)/constraints.txt
RUNS ?= runs

# Tests and benchmarks find public data here if they are not told otherwise; without it they skip.
export LEXASSAY_DATA ?= $(wildcard $(abspath ../shared/data))

.PHONY: help demo test long torture laws test-coverage office docs lint wheel bench coverage clean

help:
	@echo "make demo      run an example of each family, with tables and reports"
	@echo "make test      run all tests, but for those of make long and make torture"
	@echo "make long      tests that take seconds each: kills, public data, commands of the documentation"
	@echo "make torture   what is random, for longer: kills, COUNT mutated inputs of SEED"
	@echo "make laws      laws of measures and readers, on more examples"
	@echo "make test-coverage  count the lines that the tests run, in all processes"
	@echo "make office    people in the loop, their sheets saved by LibreOffice"
	@echo "make docs      walk the tutorials in a new environment, run the notebooks, make the site"
	@echo "make lint      check style and types"
	@echo "make wheel     build the wheel, install it elsewhere and use it"
	@echo "make bench     measure speed and memory"
	@echo "make coverage  simulate the coverage of the confidence intervals"
	@echo "make clean     remove the environment and the results"

$(VENV)/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON3) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/test: $(VENV)/core
	$(PIP) --editable ".[test]"
	touch $@

$(VENV)/lint: $(VENV)/core
	$(PIP) --editable ".[test,lint]"
	touch $@

demo: $(VENV)/core
	$(BIN)/python data/make_corpus.py data/pp-verb
	$(BIN)/lexassay run configs/pp-verb.toml --runs $(RUNS)
	$(BIN)/lexassay show configs/pp-verb.toml sampled.cuts --runs $(RUNS)
	$(BIN)/python data/make_taggings.py data/pos-induction
	$(BIN)/lexassay run configs/pos-induction.toml --runs $(RUNS)
	$(BIN)/lexassay run configs/lexicon.toml --runs $(RUNS)
	$(BIN)/lexassay show configs/lexicon.toml computed_quality --runs $(RUNS)
	@echo "reports: $(RUNS)/pp-verb/report/index.html (collocations), \
	$(RUNS)/pos-induction/report/index.html (clusters), $(RUNS)/lexicon/report/index.html (lexicons)"

test: $(VENV)/test
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal

# What takes seconds a test: experiments on public data, runs that are killed or run at once, other
# people's packages, and every command of the documentation.
long: $(VENV)/test
	$(BIN)/python -m pytest -m long --numprocesses 3 --dist worksteal

# What is random, for longer: kills (LEXASSAY_KILLS=300: more of them), and COUNT mutated inputs,
# sheets, experiments, results and commands of SEED, which goes on where it stopped.
SEED ?= lexassay
COUNT ?= 1000
torture: $(VENV)/test
	$(BIN)/python -m pytest -m torture
	$(BIN)/python -m tests.mutation --seed $(SEED) --count $(COUNT)

# Laws and slow twins on four times as many examples as the tests draw.
laws: $(VENV)/test
	LEXASSAY_EXAMPLES=200 $(BIN)/python -m pytest --numprocesses 3 --dist worksteal tests/kernels tests/formats tests/schemas

# Lines that no test runs. The floor and what is left out stand in pyproject.toml.
test-coverage: $(VENV)/test
	rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run -m pytest -m "not torture" --numprocesses 3 --dist worksteal $(TESTS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# LibreOffice comes with Debian's packages where they can be had, and is said to be missing elsewhere.
office: $(VENV)/test
	@command -v soffice > /dev/null || test "$$(id -u)" != 0 || ! command -v apt-get > /dev/null \
		|| (apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq -y --no-install-recommends libreoffice-calc > /dev/null) || true
	@if command -v soffice > /dev/null; \
	then LEXASSAY_OFFICE=1 $(BIN)/python -m pytest -m "" tests/office; \
	else echo "make office: LibreOffice is not here and cannot be installed: nothing was tested"; fi

lint: $(VENV)/lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

$(VENV)/docs: $(VENV)/core
	$(PIP) --editable ".[docs]"
	touch $@

# The site goes to site/html. A link that leads nowhere is a failure, and so is a cell of a notebook.
docs: $(VENV)/docs
	$(BIN)/python -m tests.docs.walk --fresh docs/tutorials/*.md
	$(BIN)/python -m sphinx --fresh-env --nitpicky --fail-on-warning --keep-going -q docs site/html

wheel: $(VENV)/core
	$(BIN)/python tests/house/wheel.py

$(VENV)/bench: $(VENV)/core
	$(PIP) --editable ".[test,bench]"
	touch $@

# Peers that need another pandas than ours, one of them a C compiler; without it the rest runs.
$(PEERS)/ready: pyproject.toml constraints.txt
	test -x $(PEERS)/bin/python || $(PYTHON3) -m venv $(PEERS)
	grep -v '^pandas==' constraints.txt > $(PEERS)/constraints.txt
	$(PEER_PIP) --editable .
	$(PEER_PIP) --no-binary association-measures,python-louvain --editable ".[peers]" \
		|| $(PEER_PIP) nltk gensim duckdb scikit-learn bcubed==1.5 clusim==0.4
	touch $@

bench: $(VENV)/bench $(PEERS)/ready
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/from_files.py
	$(BIN)/python benchmarks/comparisons.py
	$(BIN)/python benchmarks/stratified_differences.py
	$(BIN)/python benchmarks/lexicon_scale.py
	$(PEERS)/bin/python benchmarks/count_peers.py
	$(PEERS)/bin/python benchmarks/score_peers.py
	$(PEERS)/bin/python benchmarks/exact_tests.py
	$(PEERS)/bin/python benchmarks/clustering.py
	$(BIN)/python benchmarks/token_rows.py

coverage: $(VENV)/core
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/stratified_coverage.py
	$(BIN)/python benchmarks/lexicon_simulation.py

clean:
	rm -rf $(VENV) $(PEERS) runs build dist *.egg-info .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis .mutations site
