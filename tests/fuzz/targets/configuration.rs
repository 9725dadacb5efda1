//! What somebody wrote into `wharf.toml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wharf_tests::hostile::configuration(bytes));
