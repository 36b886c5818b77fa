# The desk: every word that people and CI use. `make` alone explains them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
# Each word uses the whole machine, and some kill the servers that others use.
.NOTPARALLEL:
.PHONY: help demo up down wipe test it unit page soak fmt clippy rooms golden build docs deny ci ui browser screens figures bench load memory kill

# Places at which tests end a process. What is released is built without them.
FAILPOINTS := --features oxagen-node/failpoints

help: ## this list
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

demo: ## install and start what is missing, then one conversation through every hop, with what each store knows of it
	@dev/demo

up: ## start the servers and every role; returns when all is ready, leaves .stack/dev/env to source
	@dev/up

down: ## stop everything that `make up` and `make test` started; data stays
	@dev/down
	@dev/stack down --name test
	@dev/stack down --name cluster
	@dev/stack down --name bench
	@dev/stack down --name soak

wipe: ## stop everything and delete its data
	@dev/stack wipe
	@dev/stack wipe --name test
	@dev/stack wipe --name cluster
	@dev/stack wipe --name bench
	@dev/stack wipe --name soak

test: unit ui it kill browser ## every test: unit, integration on real servers, everything that can die dies once, the page in a browser

unit: ## the tests beside the code; they need no server
	cargo test --workspace --lib --bins
	cargo test --workspace --doc

it: ## the tests in the crates' tests folders, on real servers of their own (instance `test`)
	dev/stack up --name test --own-docker
	cargo build --workspace --bins $(FAILPOINTS)
	unset $${!OXAGEN_MODEL*} OXAGEN_URL OXAGEN_API_KEY OXAGEN_TENANT_ID OXAGEN_WORKSPACE_ID # a shell may have sourced .stack/dev/env
	set -a; source "$${OXAGEN_STACK_DIR:-.stack}/test/env"; set +a
	cargo test --workspace $(FAILPOINTS) --test '*'

kill: ## every place at which something can die, once each (instance `test`); `make kill POINTS="relay nats"` for some
	dev/stack up --name test --own-docker
	cargo build --workspace --bins $(FAILPOINTS)
	unset $${!OXAGEN_MODEL*} OXAGEN_URL OXAGEN_API_KEY OXAGEN_TENANT_ID OXAGEN_WORKSPACE_ID
	set -a; source "$${OXAGEN_STACK_DIR:-.stack}/test/env"; set +a
	"$${CARGO_TARGET_DIR:-target}/debug/oxagen-kill" $(POINTS)

bench: ## every figure beside its baseline in one run (instance `bench`, optimised build); writes docs/benchmarks.md
	$(call measure,bench $(PARTS))

load: ## four tenants with a hundred tool calls each at once for SECONDS (60), then every store is compared
	$(call measure,load --seconds $(SECONDS))

memory: ## what each role weighs after a tenth of CALLS=100000 and after all of them
	$(call measure,memory --calls $(or $(CALLS),100000))

SECONDS ?= 60
# Optimised, unless PROFILE says otherwise (`make load PROFILE=dev`).
PROFILE ?= release
define measure
dev/stack up --name bench
cargo build --profile $(PROFILE) -p oxagen-node -p oxagen-load
unset $${!OXAGEN_MODEL*} OXAGEN_URL OXAGEN_API_KEY OXAGEN_TENANT_ID OXAGEN_WORKSPACE_ID # a shell may have sourced .stack/dev/env
set -a; source "$${OXAGEN_STACK_DIR:-.stack}/bench/env"; set +a
"$${CARGO_TARGET_DIR:-target}/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/oxagen-load" $(1)
endef

soak: ## kill at random points for MINUTES=60, on servers of its own (instance `soak`); counts go on in .stack/soak.json
	dev/stack up --name soak --own-docker
	cargo build --workspace --bins $(FAILPOINTS)
	unset $${!OXAGEN_MODEL*} OXAGEN_URL OXAGEN_API_KEY OXAGEN_TENANT_ID OXAGEN_WORKSPACE_ID
	set -a; source "$${OXAGEN_STACK_DIR:-.stack}/soak/env"; set +a
	"$${CARGO_TARGET_DIR:-target}/debug/oxagen-soak" $(or $(MINUTES),60) $(POINTS)

fmt: ## is the code formatted?
	cargo fmt --all --check

clippy: ## lints, warnings are errors
	cargo clippy --workspace --all-targets --locked -- -D warnings

rooms: ## does any crate use one that it may not, and is any file too long?
	cargo xtask rooms
	cargo xtask sizes

golden: ## does what outsiders see (OpenAPI, streams, capabilities) match the checked-in files?
	cargo test --quiet --workspace --test golden # with the workspace's features, so that nothing is compiled twice

page: ## the chat page, built into gateway/ui/dist (needs npm)
	$(call packages,gateway/ui)
	cd gateway/ui
	npm run --silent build

ui: page ## the chat page built, checked and tested
	cd gateway/ui
	npm run --silent check
	npm run --silent test

browser: ui ## the chat page in Chromium, on real servers with the scripted provider (instance `test`)
	$(call stage,test)

screens: ui ## pictures of every page and card, written to docs/screens
	$(call stage,screens)

figures: ui ## what the page costs in a browser: first paint, script, piece to paint, 500 turns, memory (MINUTES=10)
	$(call stage,measure)

# A folder's npm packages, as its lock file names them.
define packages
if ! cmp -s $(1)/package-lock.json $(1)/node_modules/.installed; then
	npm ci --no-audit --no-fund --prefix $(1)
	cp $(1)/package-lock.json $(1)/node_modules/.installed
fi
endef

# Runs one of the scripts of tests/e2e on an installation of its own.
define stage
$(call packages,tests/e2e)
if ! [ -x "$${OXAGEN_CHROMIUM:-/usr/bin/chromium}" ]; then
	(apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=900 chromium) || { echo "install Chromium, or name one in OXAGEN_CHROMIUM" >&2; exit 1; }
fi
dev/stack up --name test --own-docker
cargo build --workspace --bins $(FAILPOINTS)
unset $${!OXAGEN_MODEL*} OXAGEN_URL OXAGEN_API_KEY OXAGEN_TENANT_ID OXAGEN_WORKSPACE_ID
set -a; source "$${OXAGEN_STACK_DIR:-.stack}/test/env"; set +a
cd tests/e2e
npm run --silent check
npm run --silent $(1)
endef

build: ## the programs: `oxagen`, `oxagen-scripted-model`
	cargo build --workspace --bins

docs: ## the code's documentation, as HTML
	cargo doc --workspace --no-deps

deny: ## licences, bans and sources of all dependencies (needs cargo-deny)
	cargo deny check licenses bans sources

ci: fmt clippy rooms golden test ## what CI runs, in this order
