# `make test` is the whole suite; `make` lists the rest.
.PHONY: help test test-rust test-python test-browser check audit python generate wheel docs site bench soak soak-server kills deny asan miri

VENV := .venv
PYTHON ?= python3
PIP := $(VENV)/bin/python -m pip
# The folder of the larger data sets. Tests that need one are skipped, and counted, where it is absent.
ERMINE_DATA ?= $(abspath $(wildcard ../shared/data))
export ERMINE_DATA
# Where Rust tests record that they were skipped.
SKIPPED := target/tmp/skipped-tests.txt

help:
	@echo "make test     all tests: Rust, the Python package in a virtual environment of its own (.venv), the studio in Chromium;"
	@echo "              lists the tests that were skipped for lack of data (ERMINE_DATA)"
	@echo "make check    formatting, lints (warnings as errors), the list of the public API, spelling and style"
	@echo "make audit    random data sets: everything that models claim, recomputed from the outside (minutes)"
	@echo "make python   the Python package, built into .venv"
	@echo "make generate the Python classes and reference pages, from what the learners declare"
	@echo "make wheel    the Python wheel in target/wheels, tested in a clean virtual environment"
	@echo "make docs     the documentation of the crate"
	@echo "make site     the documentation site in target/site/html; updates the output blocks of the guide and the chart of the README"
	@echo "make bench    side by side with other libraries; appends to bench/record (long)"
	@echo "make soak     long random testing, asan, miri and fuzzing (long; SOAK_SECONDS for the fuzzing alone)"
	@echo "make soak-server mixed good, bad, slow and aborted requests to a server for SOAK_SECONDS (600)"
	@echo "make kills    kill running programs 100 times and look for lost and damaged files"
	@echo "make deny     licenses, sources and known vulnerabilities of the dependencies"
	@echo "make asan     the Rust tests under AddressSanitizer"
	@echo "make miri     the scalar kernels under Miri, where it is installed"

test: test-rust test-python test-browser

# The same random cases every time, so that a change is what makes a difference; `make soak` draws new ones.
test-rust:
	rm -f $(SKIPPED)
	PROPTEST_RNG_SEED=1 cargo test --features ermine-cli/ipc
	@tools/skipped_tests $(SKIPPED)

check:
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --features ermine-cli/ipc -- -D warnings
	$(PYTHON) tools/public_api.py --check
	$(PYTHON) tools/check_language.py

# What models claim, over many random data sets. AUDIT is their number, AUDIT_SEED where they start.
AUDIT ?= 100
AUDIT_SEED ?= 1000
audit:
	ERMINE_AUDIT=$(AUDIT) ERMINE_AUDIT_SEED=$(AUDIT_SEED) PROPTEST_CASES=5000 cargo test -p ermine --test it -- \
		audit:: optimal_trees_are_optimal the_certified every_round_matches_the_theory no_stump_has a_fixed_polarity --include-ignored

$(VENV)/installed: crates/ermine-python/requirements-test.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -r $<
	touch $@

python: $(VENV)/installed
	. $(VENV)/bin/activate && maturin develop --release --quiet

# Clients of others talk to the server of the program that the Rust tests have built; where there is none, it is built.
PROGRAM := $(abspath $(or $(CARGO_TARGET_DIR),target))/debug/ermine
test-python: python
	test -x $(PROGRAM) || cargo build -p ermine-cli
	ERMINE_PROGRAM=$(PROGRAM) $(VENV)/bin/python -m pytest -q -rs --tb=short --disable-warnings crates/ermine-python/tests

BROWSER_TESTS := crates/ermine-studio/tests/browser
$(VENV)/browser-installed: $(BROWSER_TESTS)/requirements.txt $(VENV)/installed
	$(PIP) install --quiet -r $<
	touch $@

# In the system's Chromium; without it they are reported as skipped.
test-browser: $(VENV)/browser-installed
	test -x $(PROGRAM) || cargo build -p ermine-cli
	$(VENV)/bin/python -m pytest -q -rs --tb=short -p no:cacheprovider $(BROWSER_TESTS)

generate: python
	$(VENV)/bin/python tools/python_estimators.py

wheel: $(VENV)/installed
	rm -f target/wheels/ermine_learn-*.whl
	. $(VENV)/bin/activate && maturin build --profile dist --quiet --out target/wheels
	$(VENV)/bin/python tools/wheel_smoke.py target/wheels/ermine_learn-*.whl

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps -p ermine --features ipc,parquet

$(VENV)/site-installed: docs/requirements.txt $(VENV)/installed
	$(PIP) install --quiet -r $<
	touch $@

# Output blocks first: they are part of the pages.
site: python docs $(VENV)/site-installed
	cargo build --release -p ermine-cli
	$(VENV)/bin/python tools/docs_output.py
	$(VENV)/bin/python tools/site/benchmarks.py
	$(VENV)/bin/python tools/site/build.py

bench:
	bench/run

# Memory errors in the kernels that this processor runs. `make asan TESTS=split::` runs a part.
# Leaks are not looked for: thread pools live as long as the process.
TESTS ?=
HOST := $(shell rustc -vV | sed -n 's/^host: //p')
RUST_CRATES := --workspace --exclude ermine-python
asan:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 PROPTEST_RNG_SEED=1 \
		cargo test --target $(HOST) --target-dir target/asan $(RUST_CRATES) --lib --bins --tests $(TESTS)

# Undefined behavior in the scalar kernels: under Miri no CPU feature is detected. Only modules with unsafe code, and of them only tests that are small enough for an interpreter.
MIRI := cargo +nightly miri
MIRI_TESTS ?= simd:: buffer:: aligned:: lanes:: element:: team:: twig:: is_refused are_refused outside_the
miri:
	@if $(MIRI) --version > /dev/null 2>&1; then \
		MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4 \
			$(MIRI) test --target-dir target/miri $(RUST_CRATES) --exclude ermine-cli --lib -- $(MIRI_TESTS); \
	else \
		echo "make miri: skipped, since Miri is not installed (rustup +nightly component add miri rust-src)"; \
	fi

SOAK_SECONDS ?= 600
soak: asan miri
	PROPTEST_CASES=100000 cargo test --release --test it
	cargo run --release -p ermine-fuzz --bin soak -- $(SOAK_SECONDS)
	$(MAKE) soak-server

# Mixed valid, invalid, slow and aborted requests to a server on loopback whose models are replaced meanwhile.
soak-server:
	cargo build --release -p ermine-cli
	$(PYTHON) tools/soak_server.py --seconds $(SOAK_SECONDS)

KILLS ?= 100
kills:
	cargo build --release -p ermine-cli
	$(PYTHON) tools/kill_test.py --kills $(KILLS)

# Known vulnerabilities last: they need cargo-deny, and the network for their database.
deny:
	@if cargo deny --version > /dev/null 2>&1; then \
		cargo deny check bans licenses sources && cargo deny check advisories; \
	else \
		$(PYTHON) tools/dependencies.py; \
	fi
