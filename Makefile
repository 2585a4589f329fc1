# Everything a fresh machine needs is Python 3.11+ and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test test-slow check audit audit-rivals bench docs clean

help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras: reinstalled only when the project's metadata changes.
$(VENV)/.%-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[$*]'
	@touch $@

demo: $(VENV)/.publish-installed  ## the main job on bundled data; writes demo-report/out/report.html
	$(BIN)/discreet demo --output demo-report

test: $(VENV)/.test-installed     ## all tests
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow"

test-slow: $(VENV)/.test-installed  ## the long statistical runs
	$(BIN)/python -m pytest -n auto -m slow tests

check: $(VENV)/.check-installed   ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: $(VENV)/.cli-installed     ## attack every claim and the zoo for long; writes audit-report/scoreboard.html
	$(BIN)/discreet audit --tier nightly --zoo --output audit-report/scoreboard.html

audit-rivals: $(VENV)/.test-installed  ## the same auditor pointed at other libraries, in their own environments
	$(BIN)/python bench/rivals_audit.py

bench: $(VENV)/.test-installed    ## speed beside the rivals, which live in their own environment
	$(BIN)/python bench/noise.py
	$(BIN)/python bench/accounting.py
	$(BIN)/python bench/tables.py
	$(BIN)/python bench/ledger.py
	$(BIN)/python bench/smooth.py
	$(BIN)/python bench/smooth_speed.py
	$(BIN)/python bench/smooth_graphs.py
	$(BIN)/python bench/workloads.py
	$(BIN)/python bench/hierarchy.py
	$(BIN)/python bench/selector.py
	$(BIN)/python bench/private_keys.py
	$(BIN)/python bench/synthetic.py
	$(BIN)/python bench/multiplicative_weights.py
	$(BIN)/python bench/learn_convex.py
	$(BIN)/python bench/naive_bayes.py
	$(BIN)/python bench/learn_cpu.py

docs: $(VENV)/.docs-installed     ## the site, in site/
	$(BIN)/python tools/threats_page.py
	$(BIN)/mkdocs build --strict

clean:           ## remove everything that make created
	rm -rf $(VENV) .venv-rivals* site demo-report audit-report build dist bench/.cache
