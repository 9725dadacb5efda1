//! Requests to one registry for one artifact, within one time for all of them.
//!
//! A login or a token is a header of the one request that it is for; none goes along
//! with a redirect.

use std::time::{Duration, Instant};

use oci_spec::image::Digest;
use serde::Deserialize;
use ureq::{Agent, Body, RequestBuilder, http::Response};
use url::Url;
use wharf_core::text;

use super::{
    challenge::Challenge,
    error::OciError,
    logins::{Login, RegistryLogins},
    manifest,
    reference::OciReference,
};
use crate::client::{REDIRECTS, agent, read_body};

/// The type of a list of manifests.
pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// What a manifest may have; those of components have some kilobytes.
const MANIFEST_BYTES: u64 = 1 << 20;
/// What the answer with a token may have.
const TOKEN_BYTES: u64 = 64 << 10;

/// Bytes of an address in an error.
const ADDRESS_BYTES: usize = 400;

/// What a registry sent as a manifest.
pub(super) struct ReceivedManifest {
    pub(super) bytes: Vec<u8>,
    /// The digest that it says this has.
    pub(super) called: Option<String>,
}

/// A request that is made anew once the registry has asked for a login.
type SendRequest<'r> = dyn Fn(&Agent, &Url, &Wanted<'_>) -> Result<Response<Body>, ureq::Error> + 'r;

/// What every request that is sent has.
struct Wanted<'a> {
    time: Duration,
    authorization: Option<&'a str>,
    redirects: u32,
}

impl Wanted<'_> {
    fn set<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        let config = request.config().http_status_as_error(false).max_redirects(self.redirects);
        let request = config.timeout_global(Some(self.time)).build();
        match self.authorization {
            Some(authorization) => request.header("authorization", authorization),
            None => request,
        }
    }
}

/// What gives out tokens answers under one of two names.
#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
}

pub(super) struct RegistrySession<'a> {
    reference: &'a OciReference,
    logins: &'a RegistryLogins,
    agent: Agent,
    deadline: Instant,
    /// What a token is asked for.
    actions: &'static str,
    /// For the registry alone.
    authorization: Option<String>,
    /// The server that checks logins, and whether one was sent there.
    door: Option<(Url, bool)>,
}

impl<'a> RegistrySession<'a> {
    pub(super) fn new(reference: &'a OciReference, time: Duration, logins: &'a RegistryLogins) -> Self {
        let agent = agent(reference.base(), time);
        let deadline = Instant::now() + time;
        Self { reference, logins, agent, deadline, actions: "pull", authorization: None, door: None }
    }

    /// A session that also writes.
    pub(super) fn to_publish(reference: &'a OciReference, time: Duration, logins: &'a RegistryLogins) -> Self {
        Self { actions: "pull,push", ..Self::new(reference, time, logins) }
    }

    /// The digest of the manifest that the reference names, if it names one.
    pub(super) fn tagged(&mut self) -> Result<Option<Digest>, OciError> {
        match self.manifest() {
            Ok(manifest) => super::digest::of(&manifest.bytes).map(Some),
            Err(OciError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a blob, unless it is there.
    pub(super) fn upload(&mut self, digest: &Digest, bytes: &[u8]) -> Result<(), OciError> {
        let known = self.address("blobs", digest.as_ref())?;
        let is_there =
            self.send(&known, 0, &|agent, address, wanted| wanted.set(agent.head(address.as_str())).call())?;
        if is_there.status().as_u16() == 200 {
            return Ok(());
        }
        let begin = self.address("blobs", "uploads/")?;
        let begun =
            self.send(&begin, 0, &|agent, address, wanted| wanted.set(agent.post(address.as_str())).send_empty())?;
        done(&begin, &begun, 202)?;
        let place = begun.headers().get("location").and_then(|place| place.to_str().ok()).unwrap_or_default();
        let elsewhere =
            |address: &str| OciError::Elsewhere { registry: authority(self.reference.base()), address: line(address) };
        let mut place = begin.join(place).map_err(|_| elsewhere(place))?;
        // The login goes along, and the component may be nobody else's yet.
        if (place.scheme(), authority(&place)) != (begin.scheme(), authority(&begin)) {
            return Err(elsewhere(place.as_str()));
        }
        place.query_pairs_mut().append_pair("digest", digest.as_ref());
        let sent = self.send(&place, 0, &|agent, address, wanted| {
            wanted.set(agent.put(address.as_str())).header("content-type", "application/octet-stream").send(bytes)
        })?;
        done(&place, &sent, 201)
    }

    /// Puts a manifest under a tag, or under its digest. Whether the registry says that it lists it among
    /// the referrers of its subject.
    pub(super) fn put_manifest(&mut self, version: &str, kind: &str, bytes: &[u8]) -> Result<bool, OciError> {
        let address = self.address("manifests", version)?;
        let sent = self.send(&address, 0, &|agent, address, wanted| {
            wanted.set(agent.put(address.as_str())).header("content-type", kind).send(bytes)
        })?;
        done(&address, &sent, 201)?;
        Ok(sent.headers().contains_key("oci-subject"))
    }

    /// Sends a request, with the authorization that the registry asks for.
    fn send(&mut self, address: &Url, redirects: u32, request: &SendRequest<'_>) -> Result<Response<Body>, OciError> {
        loop {
            let response = self.send_once(address, self.authorization.as_deref(), redirects, request)?;
            match response.status().as_u16() {
                401 if self.authorization.is_none() => self.authorize(&response)?,
                401 | 403 => return Err(self.refused()),
                _ => return Ok(response),
            }
        }
    }

    fn send_once(
        &self,
        address: &Url,
        authorization: Option<&str>,
        redirects: u32,
        request: &SendRequest<'_>,
    ) -> Result<Response<Body>, OciError> {
        let time = self.deadline.saturating_duration_since(Instant::now());
        request(&self.agent, address, &Wanted { time, authorization, redirects })
            .map_err(|source| OciError::Request { address: told(address), source: Box::new(source) })
    }

    /// The manifest of the reference, as it came.
    pub(super) fn manifest(&mut self) -> Result<ReceivedManifest, OciError> {
        self.manifest_of(self.reference.version())
    }

    /// That of another tag or digest of the same name.
    pub(super) fn manifest_of(&mut self, version: &str) -> Result<ReceivedManifest, OciError> {
        let address = self.address("manifests", version)?;
        let response = self.get(&address, manifest::ACCEPTED)?;
        let called = response.headers().get("docker-content-digest").and_then(|digest| digest.to_str().ok());
        let called = called.map(str::to_owned);
        Ok(ReceivedManifest { bytes: whole(&address, response, MANIFEST_BYTES)?, called })
    }

    /// A list of manifests, as it came.
    pub(super) fn index(&mut self, kind: &str, which: &str) -> Result<Vec<u8>, OciError> {
        let address = self.address(kind, which)?;
        let response = self.get(&address, INDEX)?;
        whole(&address, response, MANIFEST_BYTES)
    }

    /// A blob, at most one byte more than `size`.
    pub(super) fn blob(&mut self, digest: &Digest, size: u64, came: &mut dyn FnMut(u64)) -> Result<Vec<u8>, OciError> {
        let address = self.address("blobs", digest.as_ref())?;
        let response = self.get(&address, "*/*")?;
        let read = read_body(response, size, came);
        read.map_err(|source| OciError::Broken { address: told(&address), source })
    }

    fn address(&self, kind: &str, which: &str) -> Result<Url, OciError> {
        let base = self.reference.base();
        let wanted = || OciError::Missing { registry: authority(base), wanted: format!("{kind} {which}") };
        base.join(&format!("{kind}/{which}")).map_err(|_| wanted())
    }

    fn get(&mut self, address: &Url, accepted: &str) -> Result<Response<Body>, OciError> {
        let redirects = if address.scheme() == "https" { REDIRECTS } else { 0 };
        let response = self.send(address, redirects, &reading(accepted))?;
        if response.status().as_u16() == 404 {
            let wanted = address.path().trim_start_matches("/v2/").to_owned();
            return Err(OciError::Missing { registry: authority(address), wanted });
        }
        done(address, &response, 200)?;
        Ok(response)
    }

    /// Gets the authorization that the registry asks for: as a user where a login
    /// is written, else anonymously.
    fn authorize(&mut self, asked: &Response<Body>) -> Result<(), OciError> {
        let base = self.reference.base();
        let values = asked.headers().get_all("www-authenticate").iter().filter_map(|value| value.to_str().ok());
        self.authorization = Some(match Challenge::read(base, values)? {
            Challenge::Basic => {
                let login = self.logins.find(base)?;
                self.door = Some((base.clone(), login.is_some()));
                login.ok_or_else(|| self.refused())?.header().to_owned()
            }
            Challenge::Bearer { realm, service } => self.token(realm, service.as_deref())?,
        });
        Ok(())
    }

    /// A token to read this one name, whatever else the registry asks for.
    fn token(&mut self, mut realm: Url, service: Option<&str>) -> Result<String, OciError> {
        let scope = format!("repository:{}:{}", self.reference.repository(), self.actions);
        realm.set_fragment(None);
        let at = realm.clone();
        realm.query_pairs_mut().extend_pairs(service.map(|service| ("service", service))).append_pair("scope", &scope);
        let login = self.logins.find(&at)?;
        self.door = Some((at.clone(), login.is_some()));
        let login = login.as_ref().map(Login::header);
        let response = self.send_once(&realm, login, 0, &reading("application/json"))?;
        if matches!(response.status().as_u16(), 401 | 403) {
            return Err(self.refused());
        }
        done(&at, &response, 200)?;
        let bytes = whole(&at, response, TOKEN_BYTES)?;
        // What a parser says of it might quote the token.
        let refused = || OciError::Token { address: told(&at) };
        let TokenAnswer { token, access_token } = serde_json::from_slice(&bytes).map_err(|_| refused())?;
        let token = token.or(access_token).filter(|token| is_token(token)).ok_or_else(refused)?;
        Ok(format!("Bearer {token}"))
    }

    /// The error for a login that is not enough, or is missing.
    fn refused(&self) -> OciError {
        let base = self.reference.base();
        let (registry, place) = (authority(base), self.logins.place());
        match &self.door {
            Some((at, true)) => OciError::Refused { registry, at: authority(at), place },
            Some((at, false)) => OciError::Login { registry, at: authority(at), place },
            None => OciError::Login { at: registry.clone(), registry, place },
        }
    }
}

/// A request for what is read.
fn reading(accepted: &str) -> impl Fn(&Agent, &Url, &Wanted<'_>) -> Result<Response<Body>, ureq::Error> {
    move |agent, address, wanted| wanted.set(agent.get(address.as_str())).header("accept", accepted).call()
}

fn done(address: &Url, response: &Response<Body>, wanted: u16) -> Result<(), OciError> {
    match response.status().as_u16() {
        status if status == wanted => Ok(()),
        status => Err(OciError::Status { address: told(address), status }),
    }
}

/// Host and port, as logins are written for them.
fn authority(address: &Url) -> String {
    let host = address.host_str().unwrap_or_default();
    address.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// An address as errors tell it.
fn told(address: &Url) -> String {
    line(address.as_str())
}

/// Of what a registry chose, a line, and no query.
fn line(address: &str) -> String {
    text::line(address.split(['?', '#']).next().unwrap_or(address), ADDRESS_BYTES)
}

/// RFC 6750: what may stand in the header.
fn is_token(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A short answer.
fn whole(address: &Url, response: Response<Body>, limit: u64) -> Result<Vec<u8>, OciError> {
    let bytes = read_body(response, limit, &mut |_| {});
    let bytes = bytes.map_err(|source| OciError::Broken { address: told(address), source })?;
    if bytes.len() as u64 > limit {
        return Err(OciError::TooLong { address: told(address), limit });
    }
    Ok(bytes)
}
