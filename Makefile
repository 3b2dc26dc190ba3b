# Needs make and Python 3.11 or newer; everything else is installed into .venv.
# Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
WORKERS ?= 3

PARTS := 1/6 2/6 3/6 4/6 5/6 6/6

BENCHMARKS := filters checks workbench

# Half of the clients need version 1 of the SDK of the protocol, the others and Recall version 2.
CLIENTS := .clients

# langchain-tests brings plug-ins of pytest that would change every other test.
ADAPTERS := .adapters

PLUG_IN := plugins/recall-man

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# One process compiles the tests, since each of those that run them would compile all.
COMPILE := $(BIN)/python -m pytest -q -p no:xdist --collect-only >/dev/null 2>&1
# Tests that start processes and watch folders wait for them, hence three workers on two cores. In their own order, the
# long files of tests come before the many short ones of tests/unit.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# The tests of plug-ins run if they, or what they rest on, differ from where the branch began, or from the commit before
# where none did; and wherever git cannot tell, as in a shallow checkout.
RESTED_ON := plugins 'recall_core/ports*' 'recall_core/marks*'
PLUG_IN_TESTS = $(shell \
    base=$$(git merge-base HEAD origin/HEAD 2>&1) && \
    { [ "$$base" != "$$(git rev-parse HEAD)" ] || base=$$(git rev-parse --verify --quiet HEAD^); } && \
    git diff --quiet "$$base" -- $(RESTED_ON) && [ -z "$$(git status --porcelain -- $(RESTED_ON))" ] || echo plugins)

# Where Python may keep no bytecode, every process that a test starts would compile the program again.
demo test nightly: export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo test check house format generated nightly clients adapters mutants bench quality install clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F '|' '{ printf "  %-14s %s\n", $$1, $$2 }'

demo: $(VENV)/.runtime ## index Python's own reference and library, then search them in the workbench
	@$(BIN)/python -m recall_tui.demo

test: $(VENV)/.installed ## run the tests, without the slow ones, and those of plug-ins if they may be affected
	-@$(COMPILE)
	$(PYTEST) -m "not slow" tests $(PLUG_IN_TESTS)

check: $(VENV)/.installed ## lint, formatting, spelling, types, import layers and the house ratchet
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell recall_core recall_tui plugins/recall-man/recall_man benchmarks docs examples *.md
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.house --check

house: $(VENV)/.installed ## record the figures of the house once they are better; make check lets none get worse
	@$(BIN)/python -m benchmarks.house --record

format: $(VENV)/.installed ## put the code in its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generated: $(VENV)/.installed ## write the JSON Schema and the tables of docs that are taken from the code
	@$(BIN)/python docs/generate.py

clients: $(VENV)/.installed $(CLIENTS)/.installed ## call every tool of recall mcp with the clients of agents, each of which it installs
	$(BIN)/python -m pytest -m slow tests/e2e/test_mcp_clients.py

adapters: $(ADAPTERS)/.installed ## run the tests of LangChain and others on the adapters, in an environment of their own
	$(ADAPTERS)/bin/python -m pytest -p no:benchmark tests/adapters

nightly: $(VENV)/.installed ## run every test, the slow ones too, with many more examples, in parts: make nightly PART=1/6
	-@$(COMPILE)
	-@$(MAKE) --no-print-directory $(CLIENTS)/.installed
	@failed=; $(MAKE) --no-print-directory adapters || failed=" adapters"; for part in $(or $(PART),$(PARTS)); do \
	    echo "nightly: part $$part"; \
	    RECALL_HYPOTHESIS=nightly $(PYTEST) -v --part $$part || failed="$$failed $$part"; \
	done; test -z "$$failed" || { echo "nightly: failed in part$$failed"; exit 1; }

mutants: $(VENV)/.installed ## make 400 small faults and list those that no test notices, an hour or more: make mutants PART=1/4
	@$(BIN)/python -m benchmarks.mutants $(if $(PART),--part $(PART))

bench: $(VENV)/.installed ## measure speed beside SQLite, NumPy and whichever peers are installed, half an hour
	@$(BIN)/python -m benchmarks.speed --stores .bench --out .bench/speed.json
	@for each in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$each || exit 1; done

quality: $(VENV)/.installed ## measure the ranking beside named peers on judged collections: make quality DATA=DIR
	@$(PIP) -e '.[peers]'
	@$(BIN)/python -m benchmarks.quality $(if $(DATA),--data $(DATA))
	@$(BIN)/python -m benchmarks.changes $(if $(DATA),--data $(DATA))

install: $(VENV)/.installed ## prepare .venv for development

clean: ## remove .venv, the demo store and every cache
	rm -rf $(VENV) $(CLIENTS) $(ADAPTERS) .demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .mutants .bench build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The development set contains the runtime set, so it marks both as installed.
$(VENV)/.installed: pyproject.toml $(PLUG_IN)/pyproject.toml constraints.txt $(BIN)/python
	@echo "installing Recall and its development tools into $(VENV)"
	@$(PIP) --no-compile -e '.[dev]' -e $(PLUG_IN)
	@touch $(VENV)/.runtime $@

$(CLIENTS)/.installed: pyproject.toml constraints.txt tests/mcp_clients/sdk1.txt $(BIN)/python
	@echo "installing clients of the Model Context Protocol into $(CLIENTS)"
	@$(BIN)/python -m venv --clear $(CLIENTS)/sdk1
	@$(BIN)/python -m venv --clear $(CLIENTS)/sdk2
	@$(CLIENTS)/sdk1/bin/python -m pip install --quiet --disable-pip-version-check -r tests/mcp_clients/sdk1.txt
	@$(CLIENTS)/sdk2/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[clients]'
	@touch $@

$(ADAPTERS)/.installed: pyproject.toml constraints.txt $(BIN)/python
	@echo "installing ecosystems that have an adapter into $(ADAPTERS)"
	@$(BIN)/python -m venv --clear $(ADAPTERS)
	@$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[ecosystems]'
	@touch $@

$(VENV)/.runtime: pyproject.toml $(PLUG_IN)/pyproject.toml constraints.txt $(BIN)/python
	@echo "installing Recall into $(VENV)"
	@$(PIP) --no-compile -e '.[local]' -e $(PLUG_IN) || { echo "the local embedder cannot be installed here; going on without it"; $(PIP) --no-compile -e . -e $(PLUG_IN); }
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Recall needs Python 3.11 or newer, and $(PYTHON) is %d.%d. Try: make PYTHON=python3.13" % sys.version_info[:2])'
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(PIP) --upgrade pip || echo "pip cannot be upgraded here; going on with the one that Python has, which takes longer"
