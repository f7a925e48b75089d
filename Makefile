# `make test` is the whole suite; `make` lists the rest.
.PHONY: help test test-rust test-python check python docs bench soak

VENV := .venv
PYTHON ?= python3
PIP := $(VENV)/bin/python -m pip
# The folder of the larger data sets. Tests that need one are skipped, and counted, where it is absent.
ERMINE_DATA ?= $(abspath $(wildcard ../shared/data))
export ERMINE_DATA
# Where Rust tests record that they were skipped.
SKIPPED := target/tmp/skipped-tests.txt

help:
	@echo "make test     all tests: Rust, then the Python package in a virtual environment of its own (.venv);"
	@echo "              lists the tests that were skipped for lack of data (ERMINE_DATA)"
	@echo "make check    formatting and lints, warnings as errors"
	@echo "make python   the Python package, built into .venv"
	@echo "make docs     the documentation of the crate"
	@echo "make bench    side by side with other libraries; appends to bench/record (long)"
	@echo "make soak     long random testing and fuzzing (long; needs cargo-fuzz)"

test: test-rust test-python

# The same random cases every time, so that a change is what makes a difference; `make soak` draws new ones.
test-rust:
	rm -f $(SKIPPED)
	PROPTEST_RNG_SEED=1 cargo test
	@tools/skipped_tests $(SKIPPED)

check:
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --features ermine/parquet -- -D warnings

$(VENV)/installed: crates/ermine-python/requirements-test.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -r $<
	touch $@

python: $(VENV)/installed
	. $(VENV)/bin/activate && maturin develop --release --quiet

test-python: python
	$(VENV)/bin/python -m pytest -q -rs --tb=short --disable-warnings crates/ermine-python/tests

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps -p ermine --features parquet

bench:
	bench/run

SOAK_SECONDS ?= 600
soak:
	PROPTEST_CASES=100000 cargo test --release --test it
	mkdir -p fuzz/corpus/model_file
	for file in crates/ermine/tests/golden/models/*.ermine; do head -c -4 $$file > fuzz/corpus/model_file/$$(basename $$file); done
	cd fuzz && for target in model_file table; do \
		RUSTC_BOOTSTRAP=1 cargo fuzz run $$target -- -max_total_time=$(SOAK_SECONDS) -rss_limit_mb=2048 || exit 1; done
