# Two commands on a bare machine with Python 3.11 or later: `make run` and `make test`. README.md says more.

PYTHON = python3
HOST = $(or $(BRIGADE_HOST),127.0.0.1)
GIVEN_PORT := $(PORT)
PORT = $(or $(BRIGADE_PORT),$(GIVEN_PORT),8000)

run model: export BRIGADE_HOST := $(HOST)
run model: export BRIGADE_PORT := $(PORT)
unexport PYTHONDONTWRITEBYTECODE  # without bytecode every start takes seconds longer

OURS = .venv/bin/python
INSTALL = $(PYTHON) brigade/install_requirements.py requirements.txt
APART = $(PYTHON) brigade/install_requirements.py --into .venv-model requirements-model.txt
PIN = .venv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-emit-index-url \
	--no-emit-find-links --annotation-style line --generate-hashes --custom-compile-command 'make lock'
OLD = import sys; sys.exit(sys.version_info < (3, 11) and "brigade: this is Python %d.%d, and 3.11 or later is \
	needed: try `make run PYTHON=python3.11`" % sys.version_info[:2])

BENCHES = engine models planner grids released exports live clicks locks states ticks

MINUTES = 60

.PHONY: $(BENCHES) backup run restart test test-all check bench load soak faults install optimum model lock sbom docs messages pictures three vega audit clean python app

run: app  ## start everything on this machine; PORT=8001 HOST=127.0.0.1 PYTHON=python3.12
	@$(OURS) -m brigade.runner
restart: app  ## exchange the programs of a `make run` of this folder one after the other; who plays goes on
	@$(OURS) -m brigade.restart
test test-all check: install  ## checks and tests; test-all: every case, on both databases; check: only checks
	@$(OURS) -m tests.run $@
backup: app  ## one file with everything, made while it runs: make backup FILE=backup.tar
	@$(OURS) manage.py back_up $(FILE)
bench: install  ## the benchmarks, or one of them: make bench live
	@$(OURS) -m tests.run bench $(filter $(BENCHES),$(MAKECMDGOALS))
$(BENCHES): bench
	@:
load: install  ## how many people it carries, and what twice as many get: make load OPTIONS="--to 500 --web 1"
	@$(OURS) -m tests.live.load $(OPTIONS)
soak: install  ## half as many people for MINUTES=60: what grows meanwhile
	@$(OURS) -m tests.live.load --soak $(MINUTES) $(OPTIONS)
faults: install  ## play while all dies, and see that nothing is lost: make faults OPTIONS="--database postgres"
	@$(OURS) -m tests.live.kills $(OPTIONS)
install: python  ## only make .venv, with the tools for tests
	@$(INSTALL) requirements-dev.txt
optimum: python  ## how far the planner is from the exact optimum of small cases (installs OR-tools)
	@$(INSTALL) requirements-optimum.txt
	@$(OURS) manage.py optimum
model: export CMAKE_ARGS = -DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF
model: export UV_BUILD_CONSTRAINT = requirements-model-build.txt
model: app  ## make run with a small real language model, no key (needs a C++ compiler; the first time ten minutes)
	@$(APART)
	@BRIGADE_SMALL_MODEL=yes $(OURS) -m brigade.runner
lock: install  ## pin all requirements anew, each file by its hash; licences and bill of materials follow
	@for one in "" -dev -docs -optimum -model -model-build -uv; do $(PIN) requirements$$one.in --output-file requirements$$one.txt || exit; done
	@$(MAKE) --no-print-directory sbom
sbom: install  ## write docs/licences.md and docs/sbom.json from what requirements.txt pins
	@$(OURS) -m tests.supply_chain
docs: python  ## a searchable site of docs/ in docs/site/html; the console links to it after the next start
	@$(INSTALL) requirements-docs.txt
	@$(OURS) -m sphinx -M html . docs/site -c docs -q -W --keep-going
	@echo "docs/site/html/docs/index.html"
messages: install  ## gather what participants read, and compile its translations (locale/)
	@$(OURS) -m tests.messages
pictures: install  ## put the pictures of dishes together (fetches the set that they come from)
	@$(OURS) -m tests.pictures
three: install  ## cut what the scene in three dimensions uses out of three.js anew (fetches it from npm)
	@$(OURS) -m tests.three
vega: install  ## join what draws figures in browsers anew (fetches Vega-Lite from npm)
	@$(OURS) -m tests.vega
audit: install  ## known vulnerabilities of what is pinned: asks OSV, or the copy of its last answer
	@$(OURS) -m tests.audit
clean:    ## remove .venv, that of `make model` and the site of `make docs` (data in var/ stays)
	rm -rf .venv .venv-model docs/site

app: python
	@$(INSTALL)
python:
	@$(PYTHON) -c '$(OLD)'
