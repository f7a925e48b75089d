//! See `ermine_fuzz::model_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ermine_fuzz::model_file(bytes));
