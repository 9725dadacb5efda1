//! What a client asks a tool for, however forged.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wharf_tests::hostile::arguments(bytes));
