//! What the query and the path of a request say.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::request::Parts,
};
use serde::de::DeserializeOwned;
use wharf_core::{Code, Error, text::line};

use crate::{failure::Failure, state::Shared};

/// What is shown of what was wrong.
const SHOWN_BYTES: usize = 512;

/// The parameters of the query.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Shared>> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Shared>) -> Result<Self, Failure> {
        let Query(parameters) = Query::try_from_uri(&parts.uri).map_err(|error| {
            Failure::invalid(line(&format!("the query is not legal: {}", error.body_text()), SHOWN_BYTES))
        })?;
        Ok(Self(parameters))
    }
}

/// The handle in the path.
pub(crate) struct Handle(pub(crate) String);

impl FromRequestParts<Arc<Shared>> for Handle {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let found = Path::<String>::from_request_parts(parts, shared).await;
        found.map(|Path(handle)| Self(handle)).map_err(|_| Failure::invalid("the path is not legal UTF-8"))
    }
}

/// The handle in the path, and the number below it.
pub(crate) struct Numbered(pub(crate) String, pub(crate) u64);

impl FromRequestParts<Arc<Shared>> for Numbered {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let found = Path::<(String, String)>::from_request_parts(parts, shared).await;
        let Path((handle, number)) = found.map_err(|_| Failure::invalid("the path is not legal UTF-8"))?;
        let number = number.parse().map_err(|_| Error::new(Code::NotFound, "there is no such call"))?;
        Ok(Self(handle, number))
    }
}

/// The handle in the path, and the name below it.
pub(crate) struct Handles(pub(crate) String, pub(crate) String);

impl FromRequestParts<Arc<Shared>> for Handles {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let found = Path::<(String, String)>::from_request_parts(parts, shared).await;
        let Path((handle, name)) = found.map_err(|_| Failure::invalid("the path is not legal UTF-8"))?;
        Ok(Self(handle, name))
    }
}
