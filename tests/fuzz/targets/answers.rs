//! What a guest leaves in memory as its answer, however it lies there.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wharf_tests::hostile::answers(bytes));
