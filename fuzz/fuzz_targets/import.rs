//! See `ermine_fuzz::import`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ermine_fuzz::import(bytes));
