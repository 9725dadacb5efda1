//! What a terminal is fed with, however hostile.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wharf_terminal_bench::hostile::stream(bytes));
