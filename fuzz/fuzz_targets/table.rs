//! See `ermine_fuzz::table`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ermine_fuzz::table(bytes));
