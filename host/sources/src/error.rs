//! Why a text names no source of a component.

/// Why a text names no source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It is no address.
    #[error("`{0}` is no address")]
    Address(String),
    /// What comes could be another component, put there on the way.
    #[error(
        "what comes over `http:` may be changed on its way: use `https:`, or a file; only this machine may be asked so"
    )]
    Unprotected,
    /// A scheme that is not known.
    #[error("`{0}:` is not known: name a file, an `https:` address or an `oci:` reference")]
    Scheme(String),
    /// It is no file's name, and all of a reference but its scheme.
    #[error("`{0}` names something in a registry: write oci://{0}, or ./{0} where it is a file")]
    NoScheme(String),
    /// It names nothing in a registry.
    #[error("`{0}` names nothing in a registry: write oci://REGISTRY/NAME:TAG or oci://REGISTRY/NAME@sha256:HEX")]
    Reference(String),
    /// This build asks no registry.
    #[error(
        "`{0}` is in a registry, and this build of Wharf asks none: build the crate `wharf` with the feature `oci`, or \
         fetch the file yourself"
    )]
    NoRegistries(String),
    /// It says neither which tag nor which digest.
    #[error("`{0}` does not say which version: add `:TAG`, which may move, or `@sha256:HEX`, which does not")]
    Unversioned(String),
    /// A password would be kept in the receipt.
    #[error(
        "an address with a user or password is not taken, since it is kept with the plugin; fetch the file yourself"
    )]
    Password,
}
