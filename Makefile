# The two commands of the README are `make demo` and `make test`; both set everything up by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test setup lint docs bench system-packages clean

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) tools/check_python.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(READY) lint
	$(BIN)/pytest -n 2 --dist loadgroup

clean:
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache client-vscode/node_modules client-vscode/dist
