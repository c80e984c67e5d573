# Two commands on a bare machine with Python 3.11 or later: `make run` and `make test`. README.md says more.

PYTHON = python3
HOST = $(or $(BRIGADE_HOST),127.0.0.1)
GIVEN_PORT := $(PORT)
PORT = $(or $(BRIGADE_PORT),$(GIVEN_PORT),8000)

run: export BRIGADE_HOST := $(HOST)
run: export BRIGADE_PORT := $(PORT)

.PHONY: run test check bench install optimum lock clean

run:      ## start everything on this machine; PORT=8001 HOST=127.0.0.1 PYTHON=python3.12
	@$(PYTHON) brigade/bootstrap.py run
test:     ## checks, every test, a real browser, PostgreSQL and Redis
	@$(PYTHON) brigade/bootstrap.py test
check:    ## ruff, mypy, Django's own checks, migrations
	@$(PYTHON) brigade/bootstrap.py check
bench:    ## the benchmarks
	@$(PYTHON) brigade/bootstrap.py bench
install:  ## only make .venv, with the tools for tests
	@$(PYTHON) brigade/bootstrap.py install
optimum:  ## how far the planner is from the exact optimum of small cases (installs OR-tools)
	@$(PYTHON) brigade/bootstrap.py optimum
lock: install  ## pin requirements.in and requirements-dev.in anew
	@.venv/bin/python -m brigade.lock
clean:    ## remove .venv (data in var/ stays)
	rm -rf .venv
