//! The library of ciphers that SQLCipher links.
//!
//! SQLCipher prepares it when SQLite starts, also where no database is encrypted. What it then does by itself is more than
//! SQLCipher needs: it reads a configuration from a place that is fixed when it is built, which could have it load
//! further code, and makes the texts of all its errors.

use std::{ffi::c_int, ptr, sync::Once};

// Links the library.
use openssl_sys as _;

/// Of `openssl/crypto.h`: no texts of errors, which SQLCipher never shows, and no configuration.
const NO_LOAD_CRYPTO_STRINGS: u64 = 0x0000_0001;
const NO_LOAD_CONFIG: u64 = 0x0000_0080;

static PREPARED: Once = Once::new();

#[expect(unsafe_code, reason = "a function of the C library that no crate wraps")]
unsafe extern "C" {
    fn OPENSSL_init_crypto(options: u64, settings: *const std::ffi::c_void) -> c_int;
}

/// Prepares the library, once, before anything else uses it. Where that fails, it prepares itself.
#[expect(unsafe_code, reason = "a function of the C library that no crate wraps")]
pub(super) fn prepare() {
    PREPARED.call_once(|| {
        // SAFETY: it takes options and, where they are absent, no settings. It may be called by any thread.
        unsafe { OPENSSL_init_crypto(NO_LOAD_CRYPTO_STRINGS | NO_LOAD_CONFIG, ptr::null()) };
    });
}
