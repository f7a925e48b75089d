//! See `ermine_fuzz::index`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ermine_fuzz::index(bytes));
