//! Components, and the code that passes for theirs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wharf_tests::hostile::compiled(bytes));
