//! What a plugin says of itself, however it lies.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wharf_tests::hostile::definitions(bytes));
