//! What a server says of itself.

/// What the server tells a client about itself.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// For programs.
    pub name: String,
    /// For people.
    pub title: String,
    /// Of the host.
    pub version: String,
    /// For the model: what this server is for. Left out where empty.
    pub instructions: String,
}
