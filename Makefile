# One command each: `make run` serves the product, `make test` proves it. Both set up what they need first.
SHELL := /bin/bash
.DELETE_ON_ERROR:
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# `make run TORCH=cpu` adds PyTorch's CPU index (Linux without a GPU); elsewhere the pinned build is right as it is.
TORCH ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run setup test lint check-js bench soak clean

run: setup
	@exec $(PY) app.py

setup: $(VENV)/.installed static/vendor/.installed

test: setup $(VENV)/.test-installed
	@$(PY) -m tests.run_all

lint: setup $(VENV)/.test-installed
	@$(PY) -m tests.run_all lint

bench: setup $(VENV)/.test-installed .venv-bench/.installed
	@$(PY) -m bench

soak: setup $(VENV)/.test-installed
	@$(PY) -m pytest -m soak tests

$(VENV)/.made:
	@$(PYTHON) tools/check_python.py
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.made
	@$(PYTHON) tools/install.py $(VENV) "$(TORCH)"
	@touch $@

$(VENV)/.test-installed: pyproject.toml package.json package-lock.json $(VENV)/.installed
	@$(PYTHON) tools/install.py $(VENV) "$(TORCH)" test
	@$(PY) tools/test_tools.py
	@touch $@

# What is measured against stands beside the product's packages, never among them.
.venv-bench/.installed: bench/peers.txt
	@$(PYTHON) -m venv .venv-bench
	@$(PYTHON) tools/install.py .venv-bench "$(TORCH)" bench/peers.txt
	@touch $@

static/vendor/.installed: package.json package-lock.json tools/browser_libraries.py $(VENV)/.installed
	@$(PY) tools/browser_libraries.py
	@touch $@

clean:
	rm -rf $(VENV) .venv-bench node_modules static/vendor
