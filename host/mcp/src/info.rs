//! What a server says of itself.

/// What the server tells a client about itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerInfo {
    /// For programs.
    pub name: String,
    /// For people; the name where nothing else is said.
    pub title: String,
    /// Of the host.
    pub version: String,
    /// For the model: what this server is for. Left out where empty.
    pub instructions: String,
}

impl ServerInfo {
    /// A server of this name and version, which says nothing more of itself.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let name = name.into();
        Self { title: name.clone(), name, version: version.into(), instructions: String::new() }
    }
}
