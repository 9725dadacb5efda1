//! What a request tells the caller that pays for it.

use wharf_core::Error;

/// Counts the bytes of a request, learns its outcome, and may end it.
pub trait RequestMeter: Send + Sync + 'static {
    /// The next bytes of the body go to the server.
    ///
    /// # Errors
    /// An error ends the request.
    fn sent(&self, bytes: u64) -> Result<(), Error>;

    /// The next bytes of the answer's body have come.
    ///
    /// # Errors
    /// An error ends the request.
    fn received(&self, bytes: u64) -> Result<(), Error>;

    /// The head of the answer has come.
    fn answered(&self, status: u16);

    /// All of the answer has come.
    fn finished(&self);

    /// The request has failed.
    fn failed(&self, error: &Error);
}
