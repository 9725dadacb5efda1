//! The files of the console that are part of this program, and the way to a link that signs in.

use std::io;

use wharf_http::ConsoleFile;

use crate::host::Host;

/// The files of the console; none where this was built without it, which `cargo xtask console` changes.
pub static CONSOLE_FILES: &[ConsoleFile] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

impl Host {
    /// Says where the console of this host is served, for `wharf console`: `make` makes an address
    /// that signs in once.
    pub fn serve_console(&self, make: impl Fn() -> io::Result<String> + Send + Sync + 'static) {
        self.set_console(Some(Box::new(make)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_takes_less_than_a_megabyte() {
        let bytes: usize = CONSOLE_FILES.iter().map(|file| file.content.len()).sum();
        assert!(bytes < 1 << 20, "{bytes}");
        if let Some(first) = CONSOLE_FILES.first() {
            assert!(CONSOLE_FILES.iter().any(|file| file.name == "index.html"), "{}", first.name);
        }
    }
}
