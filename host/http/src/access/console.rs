//! People who have signed in to the console: their cookies, and the links that sign in once.
//!
//! A cookie counts for the operator's routes alone, as long as the token that opened it does.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderValue, header, uri::Authority};
use parking_lot::Mutex;
use wharf_core::Token;

use super::{client::ClientAccount, clients::HttpClients};
use crate::request::headers::single;

/// How long somebody is signed in.
pub(crate) const SIGNED_IN: Duration = Duration::from_secs(12 * 60 * 60);
/// How long a link that nobody has used can be.
const LINK: Duration = Duration::from_secs(5 * 60);
/// Links that nobody has used yet; the oldest goes.
const MOST_LINKS: usize = 16;
/// People who are signed in; who signed in first is signed out.
const MOST_SESSIONS: usize = 64;

/// Who is signed in to the console of one server. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSessions(Arc<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    // Each is held for a look through a few.
    links: Mutex<Vec<(Token, Instant)>>,
    signed_in: Mutex<Vec<SignedIn>>,
}

struct SignedIn {
    cookie: Token,
    account: Arc<ClientAccount>,
    until: Instant,
}

impl std::fmt::Debug for SignedIn {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SignedIn").field("until", &self.until).finish_non_exhaustive()
    }
}

impl ConsoleSessions {
    /// A code that signs in once, within five minutes.
    ///
    /// # Errors
    /// Where the system has no randomness.
    pub fn link(&self) -> io::Result<String> {
        let text = Token::generate()?;
        let code = Token::new(&text).map_err(io::Error::other)?;
        let mut links = self.0.links.lock();
        links.retain(|(_, until)| *until > Instant::now());
        if links.len() >= MOST_LINKS {
            links.remove(0);
        }
        links.push((code, Instant::now() + LINK));
        Ok(text)
    }

    /// Whether a code signs in. It does not again.
    pub(crate) fn redeem(&self, code: &[u8]) -> bool {
        let mut links = self.0.links.lock();
        links.retain(|(_, until)| *until > Instant::now());
        let before = links.len();
        links.retain(|(link, _)| !link.is(code));
        links.len() < before
    }

    /// Signs in. The value of the cookie.
    pub(crate) fn begin(&self, account: Arc<ClientAccount>) -> io::Result<String> {
        let text = Token::generate()?;
        let cookie = Token::new(&text).map_err(io::Error::other)?;
        let mut signed_in = self.0.signed_in.lock();
        signed_in.retain(SignedIn::holds);
        if signed_in.len() >= MOST_SESSIONS {
            signed_in.remove(0);
        }
        signed_in.push(SignedIn { cookie, account, until: Instant::now() + SIGNED_IN });
        Ok(text)
    }

    /// Whose requests show this cookie.
    pub(crate) fn client(&self, cookie: &[u8]) -> Option<Arc<ClientAccount>> {
        let signed_in = self.0.signed_in.lock();
        let found = signed_in.iter().filter(|one| one.holds()).find(|one| one.cookie.is(cookie));
        found.map(|one| Arc::clone(&one.account))
    }

    /// Signs out.
    pub(crate) fn end(&self, cookie: &[u8]) {
        self.0.signed_in.lock().retain(|one| !one.cookie.is(cookie));
    }

    /// Signs everybody out.
    pub(crate) fn end_all(&self) {
        self.0.signed_in.lock().clear();
    }
}

impl SignedIn {
    fn holds(&self) -> bool {
        self.until > Instant::now() && !self.account.ended().is_cancelled()
    }
}

/// The client of a token that may operate the host.
pub(crate) fn operator_with(clients: &HttpClients, token: &[u8]) -> Option<Arc<ClientAccount>> {
    clients.with_token(token).filter(|client| client.may_operate())
}

/// The name of the cookie of a server: those of others on this machine have other ports, and
/// browsers keep cookies of all ports together.
fn name(headers: &HeaderMap) -> Option<String> {
    let host = single(headers, &header::HOST).ok()??;
    let port = Authority::try_from(host.as_bytes()).ok()?.port_u16().unwrap_or(0);
    Some(format!("wharf-console-{port}"))
}

/// The value of the cookie that a request shows.
pub(crate) fn shown(headers: &HeaderMap) -> Option<&[u8]> {
    let name = name(headers)?;
    let lines = headers.get_all(header::COOKIE).into_iter();
    let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    pairs.map(|pair| pair.trim_ascii()).find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// The header that gives a browser a cookie of this value, or takes it away.
pub(crate) fn set_cookie(headers: &HeaderMap, value: Option<&str>, is_private: bool) -> Option<HeaderValue> {
    let seconds = if value.is_some() { SIGNED_IN.as_secs() } else { 0 };
    let secure = if is_private { "; Secure" } else { "" };
    let value = value.unwrap_or_default();
    let cookie = format!("{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}", name(headers)?);
    HeaderValue::try_from(cookie).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &'static str, cookie: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(host));
        headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
        headers
    }

    #[test]
    fn a_link_signs_in_once() {
        let sessions = ConsoleSessions::default();
        let (code, other) = (sessions.link().expect("a code"), sessions.link().expect("a code"));
        assert!(!sessions.redeem(b"0000000000000000"));
        assert!(sessions.redeem(code.as_bytes()));
        assert!(!sessions.redeem(code.as_bytes()), "again");
        assert!(sessions.redeem(other.as_bytes()), "that of another person");
    }

    #[test]
    fn of_many_links_the_latest_hold() {
        let sessions = ConsoleSessions::default();
        let codes: Vec<_> = (0..=MOST_LINKS).map(|_| sessions.link().expect("a code")).collect();
        assert!(!sessions.redeem(codes[0].as_bytes()));
        assert!(codes[1..].iter().all(|code| sessions.redeem(code.as_bytes())));
    }

    #[test]
    fn the_cookie_of_another_port_is_of_another_host() {
        let shown = |host, cookie| shown(&headers(host, cookie)).map(<[u8]>::to_vec);
        assert_eq!(shown("localhost:81", "a=b; wharf-console-80=x; wharf-console-81=y"), Some(b"y".to_vec()));
        assert_eq!(shown("localhost:8", "wharf-console-81=y"), None);
        assert_eq!(shown("wharf.example", "wharf-console-0=z"), Some(b"z".to_vec()));
    }
}
