# make demo   the whole idea on a small example (installs what it needs first)
# make test   the test suite                    (installs what it needs first)
# make sample the store in sample_memory/, made anew from its transcripts
# make lint   ruff
# make llama  another try at building llama-cpp-python after it failed
# make clean  everything that the targets above made

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test sample lint llama clean

demo: $(VENV)/.ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash scripts/demo.sh

test: $(VENV)/.ready
	@$(BIN)/python -m pytest

sample: $(VENV)/.ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash scripts/sample.sh

lint: $(VENV)/.ready
	@$(BIN)/ruff check .

$(VENV)/.ready: pyproject.toml scripts/install.sh
	@bash scripts/install.sh $(VENV)
	@touch $@

llama:
	@rm -f $(VENV)/.ready $(VENV)/.llama-failed
	@$(MAKE) --no-print-directory $(VENV)/.ready

clean:
	rm -rf $(VENV) .demo build dist .pytest_cache .hypothesis .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
