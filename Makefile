# Every target makes its own environment: Python 3.11, pip, venv and make are all it needs.
PYTHON3 ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --constraint constraints.txt
PEERS := .venv-peers
PEER_PIP := $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --constraint $(PEERS)/constraints.txt
CLUSTER := .venv-cluster
CLUSTER_PIP := $(CLUSTER)/bin/python -m pip install --quiet --disable-pip-version-check
RUNS ?= runs
# The files that have tests of a mark: to read all others takes half a minute for each process.
marked = $(shell grep -rl --include='*.py' 'mark\.$(1)' tests)

# Tests and benchmarks find public data here if they are not told otherwise; without it they skip.
export LEXASSAY_DATA ?= $(wildcard $(abspath ../shared/data))
# Where byte code is not kept, every command that a test starts compiles the code anew: .8 of 2.2 s.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo digests test check-all browser-smoke long torture laws test-coverage office browser cluster cluster-ready docs lint wheel release bench scale coverage clean messages

help:
	@echo "make demo      run an example of each family, with tables and reports"
	@echo "make digests   run the experiments that need no public data; compare their tables with known ones"
	@echo "make test      run all tests, but for those that take seconds each"
	@echo "make check-all run everything: the tests, the long suites, the wheel, the documentation"
	@echo "make long      tests that take seconds each: kills, public data, commands of the documentation"
	@echo "make torture   what is random, for longer: kills, COUNT mutated inputs of SEED"
	@echo "make laws      laws of measures and readers, on more examples"
	@echo "make test-coverage  count the lines that the tests run, in all processes"
	@echo "make browser-smoke  open one report and one page of annotation in a Chromium"
	@echo "make office    annotation sheets that LibreOffice saves"
	@echo "make browser   open reports and pages of annotation in a Chromium, some in Firefox: on a phone, in the dark, by mouse and finger"
	@echo "make cluster   results on an object store, tasks on Spark: a server of each on this machine"
	@echo "make docs      walk the tutorials in a new environment, run the notebooks, make the site"
	@echo "make messages  add new texts of the annotation pages to the catalogues of translations"
	@echo "make lint      check style and types"
	@echo "make wheel     build the wheel, install it elsewhere and use it"
	@echo "make versions  run the tests with the lowest and the newest dependencies, on all Pythons here"
	@echo "make release   build wheel and source distribution of the last commit, with all licences"
	@echo "make bench     measure speed and memory"
	@echo "make scale     TOKENS made from a seed, through bigrams to scores: seconds, memory, disk"
	@echo "make coverage  simulate the coverage of intervals, bands and tests; PART=designs: one part of it"
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
	$(BIN)/lexassay run configs/pp-verb-design.toml --runs $(RUNS)
	$(BIN)/lexassay show configs/pp-verb-design.toml answers.differences --runs $(RUNS)
	$(BIN)/python data/make_taggings.py data/pos-induction
	$(BIN)/lexassay run configs/pos-induction.toml --runs $(RUNS)
	$(BIN)/lexassay run configs/lexicon.toml --runs $(RUNS)
	$(BIN)/lexassay show configs/lexicon.toml computed_quality --runs $(RUNS)
	@echo "reports: $(RUNS)/pp-verb/report/index.html (collocations), \
	$(RUNS)/pos-induction/report/index.html (clusters), $(RUNS)/lexicon/report/index.html (lexicons)"

# The tables of the experiments that need no public data are those of benchmarks/digests.json. After a
# change that is meant: cp $(RUNS)/digests.json benchmarks/digests.json
digests: demo
	LEXASSAY_DATA= $(BIN)/python benchmarks/table_digests.py record $(RUNS)/digests.json --runs $(RUNS) --rounded
	$(BIN)/python benchmarks/table_digests.py compare benchmarks/digests.json $(RUNS)/digests.json

# One thread for each process: with two each they get into each other's way. Three of them, as tests
# that wait for a process or a lock leave a core idle.
test: export OMP_NUM_THREADS := 1
test: export OPENBLAS_NUM_THREADS := 1
test: export POLARS_MAX_THREADS := 1
test: $(VENV)/test
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal

# Everything, for a release and for a change of many areas.
check-all:
	CHECK=all .ci/run
	$(MAKE) versions

# The lowest and the newest versions of the dependencies that pyproject.toml admits, each in a new
# environment. A Python that is not here is named; another program of it: PYTHON_3.14=/opt/bin/python3
PYTHONS := 3.11 3.12 3.13 3.14
SETS := lowest-3.11 lowest-3.12 $(PYTHONS:%=newest-%)
TESTS_OF_VERSIONS :=
.PHONY: versions $(SETS:%=versions-%)
versions: $(SETS:%=versions-%)

$(SETS:%=versions-%): versions-%:
	@python=$(or $(PYTHON_$(lastword $(subst -, ,$*))),python$(lastword $(subst -, ,$*))); \
	if ! $$python -c "" 2> /dev/null; \
	then echo "make $@: $$python is not here: nothing was tested"; exit 0; fi; \
	folder=.venv-versions/$*; rm -rf $$folder; set -e; $$python -m venv $$folder; \
	case $* in lowest-*) $$python tests/house/lowest.py;; esac > $$folder/versions.txt; \
	echo "make $@: $$($$python --version)"; \
	$$folder/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
	  --constraint $$folder/versions.txt --editable ".[test]"; \
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 $$folder/bin/python -m pytest \
	  --numprocesses 2 --dist worksteal $(TESTS_OF_VERSIONS)

# What takes half a second a test: experiments on public data, runs that are killed or run at once, other
# people's packages, and every command of the documentation.
long: $(VENV)/test
	$(BIN)/python -m pytest -m long --numprocesses 2 --dist worksteal $(call marked,long)

# Those of one folder of the tests: make long-kernels
long-%: $(VENV)/test
	$(BIN)/python -m pytest -m long --numprocesses 2 --dist worksteal tests/$*

# What is random, for longer: kills (LEXASSAY_KILLS=300: more of them), and COUNT mutated inputs,
# sheets, experiments, results and commands of SEED, which goes on where it stopped.
SEED ?= lexassay
COUNT ?= 1000
torture: $(VENV)/test
	$(BIN)/python -m pytest -m torture -o faulthandler_timeout=0 --numprocesses 2 $(call marked,torture)
	$(BIN)/python -m tests.mutation --seed $(SEED) --count $(COUNT)

# Laws and slow twins on ten times as many examples as the tests draw.
laws: $(VENV)/test
	LEXASSAY_EXAMPLES=100 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal tests/kernels tests/formats tests/schemas

# Lines that no test runs. The floor and the omitted lines are in pyproject.toml.
test-coverage: $(VENV)/test
	rm -f .coverage .coverage.*
	LEXASSAY_EXAMPLES=50 $(BIN)/python -m coverage run -m pytest -m "not torture and not browser" --numprocesses 2 --dist worksteal $(TESTS)
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

$(VENV)/browser: $(VENV)/core
	$(PIP) --editable ".[test,browser]"
	touch $@

# Browsers come as LibreOffice does.
.PHONY: chromium firefox-esr
chromium firefox-esr:
	@command -v $@ > /dev/null || test "$$(id -u)" != 0 || ! command -v apt-get > /dev/null \
		|| (apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq -y --no-install-recommends $@ > /dev/null) || true

# A report and a page of annotation, in half a minute.
browser-smoke: $(VENV)/browser chromium
	@if command -v chromium > /dev/null; \
	then $(BIN)/python -m pytest -m smoke tests/browser; \
	else echo "make browser-smoke: Chromium is not here and cannot be installed: nothing was tested"; fi

# axe-core comes from npm; without it its tests are skipped.
AXE := axe-core@4.14.1
# Rarely, Chromium does not answer. The test that waits for it ends its process after 300 seconds.
# Therefore the tests that failed run once more, one by one: a defect of a page fails twice.
BROWSER := $(BIN)/python -m pytest -m browser tests/browser -o faulthandler_timeout=300
browser: $(VENV)/browser chromium firefox-esr
	@test -d $(VENV)/$(AXE) || ! command -v npm > /dev/null || npm install --silent --no-save \
		--no-audit --no-fund --ignore-scripts --prefix $(VENV)/$(AXE) $(AXE) || true
	@if command -v chromium > /dev/null; \
	then export LEXASSAY_AXE=$(VENV)/$(AXE)/node_modules/axe-core/axe.min.js; \
		$(BROWSER) --numprocesses 2 --dist loadgroup \
		|| $(BROWSER) --last-failed --last-failed-no-failures none; \
	else echo "make browser: Chromium is not here and cannot be installed: nothing was tested"; fi

# The server and PySpark have demands of their own on other libraries, so they get an environment of their own.
$(CLUSTER)/core: pyproject.toml constraints.txt
	test -x $(CLUSTER)/bin/python || $(PYTHON3) -m venv $(CLUSTER)
	grep -Ev '^(python-dateutil|pandas)==' constraints.txt > $(CLUSTER)/constraints.txt
	$(CLUSTER_PIP) --only-binary :all: --constraint $(CLUSTER)/constraints.txt --editable ".[test]"
	touch $@

$(CLUSTER)/store: $(CLUSTER)/core
	$(CLUSTER_PIP) --only-binary :all: --constraint $(CLUSTER)/constraints.txt --editable ".[cloud]" 'moto[server]'
	touch $@

# PySpark comes as source; what builds it comes from where everything comes from.
$(CLUSTER)/spark: $(CLUSTER)/core
	$(CLUSTER_PIP) --only-binary :all: --no-binary pyspark --constraint $(CLUSTER)/constraints.txt --editable ".[spark]"
	touch $@

# What cannot be installed is said; without it the rest runs.
cluster-ready: $(CLUSTER)/core
	@$(MAKE) --no-print-directory $(CLUSTER)/store \
		|| echo "make cluster: moto or obstore cannot be installed here: no object store is tested"
	@if ! command -v java > /dev/null; then echo "make cluster: Java is not here: nothing runs on Spark"; \
	else $(MAKE) --no-print-directory $(CLUSTER)/spark \
		|| echo "make cluster: PySpark cannot be built here: nothing runs on Spark"; fi

# Tests of what is not here are skipped, and say what it is. Those on Spark stay in one process, beside
# which another one does those on the object store.
cluster: cluster-ready
	$(CLUSTER)/bin/python -m pytest -m cluster tests/cluster -rs --numprocesses 2 --dist loadgroup

# Texts of the annotation pages: every catalogue gets those that are new, to be translated by hand.
PAGES := pipeline/annotate
KEYWORDS := -k t -k text -k phrase -k translatable -k tn:1,2 -k text_n:1,2
messages: $(VENV)/test
	cd $(PAGES) && $(abspath $(BIN))/pybabel -q extract --sort-output -F web/languages/babel.cfg $(KEYWORDS) \
	  --add-location=file --omit-header -o $(abspath $(VENV))/messages.pot .
	for code in de fr es; do $(BIN)/pybabel -q update -i $(VENV)/messages.pot -l $$code -w 100 \
	  -o $(PAGES)/web/languages/$$code.po --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date; \
	  grep -vE '^"(Report-Msgid|POT-Creation|PO-Revision|Last-Translator|Language-Team|Generated-By)' \
	  $(PAGES)/web/languages/$$code.po | sed '1{/^$$/d;}' > $(VENV)/$$code.po; \
	  mv $(VENV)/$$code.po $(PAGES)/web/languages/$$code.po; done

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

$(VENV)/release: $(VENV)/core
	$(PIP) --editable ".[release]"
	touch $@

# Nothing is uploaded.
release: $(VENV)/release
	$(BIN)/python -m tests.house.release

$(VENV)/bench: $(VENV)/core
	$(PIP) --editable ".[test,bench,browser]"
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
	$(BIN)/python benchmarks/estimates.py
	$(BIN)/python benchmarks/lexicon_scale.py
	$(PEERS)/bin/python benchmarks/count_peers.py
	$(PEERS)/bin/python benchmarks/score_peers.py
	$(PEERS)/bin/python benchmarks/exact_tests.py
	$(PEERS)/bin/python benchmarks/clustering.py
	$(BIN)/python benchmarks/token_rows.py
	$(BIN)/python benchmarks/annotators.py
	@if command -v chromium > /dev/null; \
	then $(BIN)/python benchmarks/explorer_page.py && $(BIN)/python benchmarks/annotate_page.py; \
	else echo "benchmarks/explorer_page.py, annotate_page.py: Chromium is not here: no page was measured"; fi

# A text of TOKENS words that is made on the way; killed, the same command goes on.
TOKENS ?= 1000000
scale: $(VENV)/core
	$(BIN)/python benchmarks/scale.py $(TOKENS) --folder $(RUNS)/scale-$(TOKENS) --memory 4GB --curve

# A part is kept in $(RUNS)/coverage task by task, so that a run that was stopped goes on. One thread in
# each of two processes: more get into each other's way.
coverage: export OMP_NUM_THREADS := 1
coverage: export OPENBLAS_NUM_THREADS := 1
coverage: export POLARS_MAX_THREADS := 1
coverage: $(VENV)/core
ifeq ($(PART),)
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/designs.py
	$(BIN)/python benchmarks/planned_labels.py
	$(BIN)/python benchmarks/lexicon_simulation.py
	$(BIN)/python benchmarks/lexicon_coverage.py
endif
	$(BIN)/python benchmarks/coverage_run.py $(PART) --folder $(RUNS)/coverage; kept=$$?; \
	test -n "$(PART)" || $(BIN)/python benchmarks/coverage_chapter.py --folder $(RUNS)/coverage; \
	exit $$kept

clean:
	rm -rf $(VENV) $(PEERS) $(CLUSTER) .venv-versions runs build dist *.egg-info .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis .mutations site
