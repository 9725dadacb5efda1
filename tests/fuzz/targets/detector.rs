//! What a detector is told, however unlikely.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wharf_terminal_bench::hostile::detector(bytes));
