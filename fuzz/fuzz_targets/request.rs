//! See `ermine_fuzz::request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ermine_fuzz::request(bytes));
