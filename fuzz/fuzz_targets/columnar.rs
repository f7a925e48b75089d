//! See `ermine_fuzz::columnar`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ermine_fuzz::columnar(bytes));
