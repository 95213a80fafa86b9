# Everything happens inside this folder: packages go to .venv, versions come from requirements.lock.
#
#   make demo      the whole way of a lead, with sandbox CRMs (make demo STAY=1 leaves it up)
#   make test      the whole test suite, PostgreSQL included
#   make check     lint, format, types, import rules
#   make bench     the benchmarks
#   make install   the virtual environment for working on the code
#   make lock      take the newest versions that pyproject.toml allows into requirements.lock

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo test check bench install lock

bin := .venv/bin
pip := PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore $(bin)/python -m pip -qq
# The build tools come from the lock as well, hence no isolation.
install := $(pip) install -c requirements.lock hatchling editables && \
	$(pip) install -c requirements.lock --no-build-isolation -e

help:
	@sed -n 's/^#   //p' Makefile

demo: .venv/for-use
	@$(bin)/leadrota demo $(if $(filter 1,$(STAY)),--stay)

test: .venv/for-work
	@$(bin)/python -m pytest -n 3 -q

check: .venv/for-work
	@$(bin)/ruff check .
	@$(bin)/ruff format --check .
	@$(bin)/mypy
	@$(bin)/lint-imports --no-cache

bench: .venv/for-work
	@$(bin)/python -m benchmarks

install: .venv/for-work

# The stamps are written last, so that an interrupted installation is done again.
.venv/for-use: pyproject.toml requirements.lock | .venv/bin/python
	@echo "Installing Lead Rota into .venv"
	@$(install) .
	@touch $@

.venv/for-work: pyproject.toml requirements.lock | .venv/bin/python
	@echo "Installing Lead Rota and its test tools into .venv"
	@$(install) '.[dev]'
	@touch $@ .venv/for-use

lock:
	@rm -rf .venv
	@$(MAKE) --no-print-directory .venv/bin/python
	@$(pip) install hatchling editables
	@$(pip) install --no-build-isolation -e '.[dev]'
	@$(pip) freeze --exclude-editable >requirements.lock.new
	@mv requirements.lock.new requirements.lock
	@touch .venv/for-use .venv/for-work

# Every Python of the PATH is tried, since a name may stand for one that is not installed or that
# lacks venv. PYTHON=/path/to/python chooses another.
.venv/bin/python:
	@python=$$( \
		try() { "$$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' \
			>/dev/null 2>&1 && echo "$$1" && exit 0; }; \
		if [ -n "$(PYTHON)" ]; then try "$(PYTHON)"; exit 0; fi; \
		IFS=:; \
		for name in python3.13 python3.12 python3.11 python3.14 python3; do \
			for folder in $$PATH; do \
				if [ -x "$$folder/$$name" ]; then try "$$folder/$$name"; fi; \
			done; \
		done); \
	if [ -z "$$python" ]; then \
		echo "Lead Rota needs Python 3.11 or newer with the venv module, and found none." >&2; \
		echo "Install one (Debian: apt install python3 python3-venv) or name it:" >&2; \
		echo "  make $(firstword $(MAKECMDGOALS)) PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi; \
	rm -rf .venv; "$$python" -m venv .venv
