//! What the query and the path of a request say.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::request::Parts,
};
use serde::de::DeserializeOwned;
use wharf_core::{Code, Error, text::line};

use crate::{failure::HttpFailure, state::ServerState};

/// What is shown of what was wrong.
const SHOWN_BYTES: usize = 512;

/// The parameters of the query.
pub(crate) struct QueryParameters<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<ServerState>> for QueryParameters<T> {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let Query(parameters) = Query::try_from_uri(&parts.uri).map_err(|error| {
            HttpFailure::invalid(line(&format!("the query is not legal: {}", error.body_text()), SHOWN_BYTES))
        })?;
        Ok(Self(parameters))
    }
}

/// The handle in the path.
pub(crate) struct PathHandle(pub(crate) String);

impl FromRequestParts<Arc<ServerState>> for PathHandle {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let found = Path::<String>::from_request_parts(parts, server).await;
        found.map(|Path(handle)| Self(handle)).map_err(|_| HttpFailure::invalid("the path is not legal UTF-8"))
    }
}

/// The handle in the path, and the number below it.
pub(crate) struct PathHandleAndNumber(pub(crate) String, pub(crate) u64);

impl FromRequestParts<Arc<ServerState>> for PathHandleAndNumber {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let found = Path::<(String, String)>::from_request_parts(parts, server).await;
        let Path((handle, number)) = found.map_err(|_| HttpFailure::invalid("the path is not legal UTF-8"))?;
        let number = number.parse().map_err(|_| Error::new(Code::NotFound, "there is no such call"))?;
        Ok(Self(handle, number))
    }
}

/// The handle in the path, and the name below it.
pub(crate) struct PathHandlePair(pub(crate) String, pub(crate) String);

impl FromRequestParts<Arc<ServerState>> for PathHandlePair {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let found = Path::<(String, String)>::from_request_parts(parts, server).await;
        let Path((handle, name)) = found.map_err(|_| HttpFailure::invalid("the path is not legal UTF-8"))?;
        Ok(Self(handle, name))
    }
}
