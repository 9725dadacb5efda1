//! [`Limits`]: what reading one document may cost.

/// What reading one document may cost. Memory in use stays within a small
/// multiple of these; what is beyond them is an error, never a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the document as it was given. Default 16 MiB.
    pub input_bytes: usize,
    /// Bytes of the text that is made of it. Default 8 MiB.
    pub text_bytes: usize,
    /// Bytes that compressed parts unpack to, all together, counted while they
    /// are unpacked; what headers claim counts for nothing. Default 64 MiB.
    pub unpacked_bytes: usize,
    /// Parts: entries of an archive, objects and pages of a PDF, sheets, slides.
    /// Default 65,536.
    pub parts: usize,
    /// How deep elements may be nested (XML, HTML, JSON, page trees). Default 128.
    pub depth: usize,
    /// Blocks that are told apart; what follows belongs to the last of them,
    /// with a warning. Default 1,048,576.
    pub blocks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes: 16 << 20,
            text_bytes: 8 << 20,
            unpacked_bytes: 64 << 20,
            parts: 1 << 16,
            depth: 128,
            blocks: 1 << 20,
        }
    }
}
