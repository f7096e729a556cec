# `make tune` and `make test` do all their own set-up, in .venv, on any machine with Python 3.11-3.13.
# Packages go into .venv, the table of `make tune` into this folder. Outside it, results go into
# your data folder (or AUTOTUNE_DB) and binaries into your cache folder (or AUTOTUNE_CACHE); pip
# keeps its own cache. Set PYTHON=… to choose the interpreter.

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check -q

# CuPy and cuBLAS are large, so they come only where a driver can use them, for the major version
# that the driver speaks. Tests also compile for GPUs without one, which takes NVRTC alone.
DRIVER := $(firstword $(wildcard /dev/nvidiactl) $(shell command -v nvidia-smi 2>/dev/null))
CUDA   := $(if $(DRIVER),$(shell nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: \(1[23]\).*/\1/p'))
GPU_EXTRA  := $(if $(DRIVER),cuda$(or $(CUDA),13))
TEST_EXTRA := $(or $(GPU_EXTRA),nvrtc13)

# A virtual environment that was moved, or whose Python is gone, is made anew.
ifneq ($(shell $(BIN)/python -c 'print(open("$(VENV)/made").read())' 2>/dev/null),$(CURDIR))
$(shell rm -f $(VENV)/made)
endif

.PHONY: tune test lint docs clean help
.DELETE_ON_ERROR:

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

tune: $(VENV)/tune-$(or $(GPU_EXTRA),host)  ## tune the quickstart study; ends with a table
	$(BIN)/autotune tune studies/quickstart.toml
	@echo "next: $(BIN)/autotune lookup table.json m=4000 n=4096 k=4096"

test: $(VENV)/test-$(TEST_EXTRA)  ## run every test that this machine can run
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadgroup $(PYTEST)

lint: $(VENV)/lint  ## style, types and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/test-$(TEST_EXTRA)  ## write the pages that follow from the code
	$(BIN)/python docs/generate.py

clean:  ## remove the virtual environment and every cache
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# Each stamp says that one set of packages is installed; it is older than a changed pyproject.toml.
$(VENV)/tune-host: $(VENV)/made pyproject.toml
	@echo "installing autotune (no NVIDIA driver here, so without CUDA packages) …"
	@$(PIP) install -e . && touch $@

$(VENV)/tune-%: $(VENV)/made pyproject.toml
	@echo "installing autotune with $* …"
	@$(PIP) install -e ".[$*]" && touch $@

$(VENV)/test-%: $(VENV)/made pyproject.toml
	@echo "installing autotune with $* and the test tools …"
	@$(PIP) install -e ".[$*]" --group test && touch $@

$(VENV)/lint: $(VENV)/made pyproject.toml
	@echo "installing autotune and the lint tools …"
	@$(PIP) install -e . --group lint --group test && touch $@

$(VENV)/made:
	@sh .ci/find-python "$(PYTHON)" > /dev/null
	@echo "making $(VENV) with $$(sh .ci/find-python "$(PYTHON)") …"
	@"$$(sh .ci/find-python "$(PYTHON)")" -m venv --clear $(VENV)
	@$(PIP) install --upgrade "pip>=25.1" && printf '%s' "$(CURDIR)" > $@
