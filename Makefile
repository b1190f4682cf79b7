# One word does it. `make setup` is a prerequisite of everything; `make help` lists the words.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := $(VENV)/bin
KERNEL := $(wildcard src/quire/records/*.pyx src/quire/records/*.pxd)
.DEFAULT_GOAL := help
.PHONY: help setup demo test check fmt lint types rooms docs sim compat bench fuzz soak build clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(VENV)/.ready ## the environment in .venv; afterwards .venv/bin/quire is the command

$(VENV)/.ready: pyproject.toml setup.py $(KERNEL)
	@test -n "$(PYTHON)" || { echo "quire needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 1; }
	@echo "quire: making $(VENV) with $(PYTHON) and building the kernels (one to two minutes the first time)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check -e '.[dev]'
	@$(BIN)/quire version
	@touch $@

demo: setup ## a node killed while it is written to, a log torn, recovered, compacted, dumped
	@$(BIN)/python -m quire.tools.demo

test: setup ## all tests
	@$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

check: setup ## format, lint, types, rooms, docs: all that CI asks before the tests
	@echo "quire: format" && $(BIN)/ruff format --check --quiet .
	@echo "quire: lint" && $(BIN)/ruff check --quiet .
	@echo "quire: types" && $(BIN)/mypy
	@echo "quire: rooms" && $(BIN)/lint-imports --no-cache
	@echo "quire: docs and tidiness" && $(BIN)/python -m pytest -q tests/tidy

fmt: setup ## format the code and mend what can be mended
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint types rooms docs: check ## parts of check

sim: setup ## the node in simulated worlds, SEEDS (1000) of each WORKLOAD; SEED=17 runs one again
	@$(BIN)/python -m quire.tools.simulate $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1000)) $(if $(WORKLOAD),--workload $(WORKLOAD))

compat: setup ## unchanged clients and tools of others against a node, each fetched for the test
	@$(BIN)/python -m pytest -q -rs -m compat tests/compat $(PYTEST_ARGS)

bench: setup ## every question in bench/, one number each, beside the named peers
	@$(BIN)/python bench/run.py $(BENCH_ARGS)

fuzz: setup ## the decoders against mutated bytes, for SECONDS (60)
	@$(BIN)/python tests/fuzz/decoders.py --seconds $(or $(SECONDS),60)

soak: setup ## the crash test over many more seeds than the test suite takes; SEEDS=5000
	@QUIRE_CRASH_SEEDS=$(or $(SEEDS),5000) $(BIN)/python -m pytest -n auto -q tests/crash

build: setup ## source distribution and wheel in dist/
	@$(BIN)/python -m pip wheel --no-deps -w dist .

clean: ## all that was made here, .venv included
	@rm -rf $(VENV) build dist src/*.egg-info src/quire/records/kernel.c src/quire/records/*.so .mypy_cache .ruff_cache .pytest_cache
