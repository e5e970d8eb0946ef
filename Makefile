# The two commands of the README are `make demo` and `make test`; both set everything up by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
EXTENSION := client-vscode/energy-lsp.vsix
EDITOR_PACKAGES := chromium ripgrep libkrb5-dev
CLIENT_PACKAGES := neovim emacs-nox elpa-eglot

.PHONY: demo test setup lint docs bench clean test-python test-extension test-editor

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) tools/check_python.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)

# One screen, two to three minutes on a quiet machine; `make demo CALIBRATE=no` leaves the first of them, learning this machine, out.
demo: export COLUMNS = 80
demo: $(READY)
	@$(BIN)/python tools/demo.py

test: lint test-python test-extension test-editor

lint: $(READY)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin
	$(BIN)/lint-imports --no-cache

test-python: $(READY)
	@tools/debian_packages.sh $(CLIENT_PACKAGES)
	$(BIN)/pytest -n 2 --dist loadgroup

test-extension: client-vscode/node_modules/.package-lock.json
	cd client-vscode && npm run --silent check && npm run --silent lint && npm run --silent unit && npm run --silent audit

test-editor: $(EXTENSION)
	@tools/debian_packages.sh $(EDITOR_PACKAGES)
	tests/vscode/setup.sh
	node --test --test-concurrency=1 tests/vscode/

$(EXTENSION): $(READY) client-vscode/node_modules/.package-lock.json FORCE
	tools/build_vsix.sh $(BIN)/python

client-vscode/node_modules/.package-lock.json: client-vscode/package-lock.json
	cd client-vscode && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

docs: $(READY)
	$(BIN)/python tools/build_docs.py
	$(BIN)/python tools/build_rule_docs.py
	$(BIN)/python tools/build_vscode_settings.py
	$(BIN)/python tools/build_shell_files.py
	$(BIN)/python tools/build_benchmarks.py

# The documentation as a site with a search, in .cache/site; --strict fails on links that lead nowhere.
.PHONY: docs-site changelog
docs-site: docs
	$(BIN)/zensical build --strict --clean

changelog: $(READY)
	$(BIN)/towncrier build --yes --version $(VERSION)

FORCE:

clean:
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache client-vscode/node_modules client-vscode/dist client-vscode/server $(EXTENSION)

# The pictures in docs/ and in the extension's README, taken by the editor tests.
.PHONY: screenshots
screenshots: export SCREENSHOTS = $(CURDIR)/docs/screenshots
screenshots: test-editor
	mkdir -p client-vscode/media/screenshots
	cp docs/screenshots/hover-measured.png client-vscode/media/screenshots/hover.png
	cp docs/screenshots/quick-fix.png docs/screenshots/report.png docs/screenshots/edit-hint-fix.png client-vscode/media/screenshots/

# Studies of the field, repeated at a size that runs here; pages beside the scripts in benchmarks/studies.
.PHONY: study-greenlight study-fecom study-smaragdine study-georgiou
study-greenlight: $(READY)
	$(BIN)/python benchmarks/studies/greenlight.py

study-fecom: $(READY)
	$(BIN)/python benchmarks/studies/fecom.py $(RECORDS)

study-smaragdine: $(READY)
	$(BIN)/python benchmarks/bert_study.py
	$(BIN)/python benchmarks/studies/smaragdine.py
	$(BIN)/python tools/build_benchmarks.py

study-georgiou: $(READY)
	$(BIN)/python benchmarks/studies/georgiou.py $(TORCH)
