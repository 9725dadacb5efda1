//! Why a component cannot be had from a registry.

use std::{error::Error, io, path::PathBuf};

use crate::sought::ListKind;

/// Why a component cannot be had from a registry. No text of it has a login or a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OciError {
    /// It cannot be reached, is not the one it should be, or leads out of TLS.
    #[error("{address} cannot be asked")]
    Request {
        /// What was asked.
        address: String,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// What was sent broke off.
    #[error("{address} broke off")]
    Broken {
        /// What was asked.
        address: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It answers with something else than what was asked for.
    #[error("{address} answers with status {status}")]
    Status {
        /// What was asked.
        address: String,
        /// The status of HTTP.
        status: u16,
    },
    /// There is none, as far as this client is shown.
    #[error("{registry} has no `{wanted}`, or shows it only after a login: see whether name and tag are right")]
    Missing {
        /// Which registry.
        registry: String,
        /// What it does not have.
        wanted: String,
    },
    /// The tag names another artifact.
    #[error(
        "{reference} names {named} already, and those who asked for it before would get another component: raise the \
         version, or say that it may be replaced"
    )]
    Moves {
        /// What was to be published.
        reference: String,
        /// What it names.
        named: String,
    },
    /// A reference by digest cannot be given a component.
    #[error("{reference} names an artifact by its digest; publish under a tag, such as `:0.1.0`")]
    Fixed {
        /// What was to be published.
        reference: String,
    },
    /// It wants the component somewhere that nobody protects, or at another server.
    #[error("{registry} wants the component at {address}, where it is not sent: it has to be the registry itself")]
    Elsewhere {
        /// Which registry.
        registry: String,
        /// Where it sends to.
        address: String,
    },
    /// It asks for a login, and there is none for it.
    #[error(
        "{registry} shows this only after a login, if it has it: write one for `{at}` under `auths` in {place} \
         (`docker login` does that where no credential helper is set)"
    )]
    Login {
        /// Which registry.
        registry: String,
        /// The server that would be sent the login.
        at: String,
        /// Where logins are looked up.
        place: String,
    },
    /// The login is not enough.
    #[error("{registry} does not take the login for `{at}` in {place}, or does not let it have this")]
    Refused {
        /// Which registry.
        registry: String,
        /// The server that was sent the login.
        at: String,
        /// Where it is.
        place: String,
    },
    /// The file of logins cannot be used.
    #[error("cannot use the logins in {path}: {problem}")]
    Logins {
        /// The file.
        path: PathBuf,
        /// What is wrong, without any of its text.
        problem: String,
    },
    /// It asks for a login of a kind that is not known.
    #[error("{registry} asks for authorization in a way that is not known; fetch the file yourself and add that")]
    Challenge {
        /// What was asked.
        registry: String,
    },
    /// It sends to where no token should come from.
    #[error("{registry} sends to {realm} for a token, which is not taken from there: it has to be an `https:` address")]
    Realm {
        /// What was asked.
        registry: String,
        /// Where it sends to.
        realm: String,
    },
    /// The answer holds no valid token.
    #[error("what {address} answers is no token")]
    Token {
        /// What was asked.
        address: String,
    },
    /// An answer that is not the component has too much.
    #[error("{address} has more than {limit} bytes, and no manifest, signature or token needs so many")]
    TooLong {
        /// What was asked.
        address: String,
        /// What it may have.
        limit: u64,
    },
    /// The component has too much.
    #[error("its layer has {bytes} bytes, and {limit} is what it may have (limit `component_bytes` of the host)")]
    TooLarge {
        /// What the manifest says.
        bytes: u64,
        /// What it may have.
        limit: u64,
    },
    /// The layer is not as long as the manifest says.
    #[error("its manifest says that the layer has {named} bytes, and {came} came or more; nothing was kept")]
    Size {
        /// What the manifest says.
        named: u64,
        /// What came, at most one more than that.
        came: u64,
    },
    /// What came is not what its digest names.
    #[error("{what} that came is {found}, and {named} was asked for; nothing was kept")]
    Digest {
        /// What came.
        what: &'static str,
        /// The digest that it should have.
        named: String,
        /// The digest that it has.
        found: String,
    },
    /// A digest that cannot be checked.
    #[error("{digest} cannot be checked: sha256, sha384 and sha512 can")]
    Algorithm {
        /// Which one.
        digest: String,
    },
    /// What came is no manifest.
    #[error("what came is no manifest of an artifact")]
    Manifest {
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// It stands for several artifacts.
    #[error("it is an index of several artifacts, and none is chosen for you; name one of them: {found}")]
    Index {
        /// The first of them.
        found: String,
    },
    /// No layer is Wasm.
    #[error("it has no layer of Wasm (`application/wasm`, as `wkg oci push` makes it) but {found}")]
    NoWasm {
        /// The types of its layers.
        found: String,
    },
    /// No layer, or more than one, is the list that was looked for.
    #[error("it has not one layer that is {what} (`{}` or `application/json`) but {found}", what.media_type())]
    NoList {
        /// What was looked for.
        what: ListKind,
        /// The types of its layers.
        found: String,
    },
    /// The list has too much.
    #[error("its layer has {bytes} bytes, and {what} has {limit} at most")]
    LongList {
        /// What was looked for.
        what: ListKind,
        /// What the manifest says.
        bytes: u64,
        /// What it may have.
        limit: u64,
    },
    /// Several layers are Wasm.
    #[error("it has more than one layer of Wasm, and a plugin is one component; its layers: {found}")]
    SeveralWasm {
        /// The types of its layers.
        found: String,
    },
}
