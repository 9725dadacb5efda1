//! What a request to the proxy asks for, in one reading: what is checked here is
//! what is connected to, and what the server is told.

use hyper::{Method, Uri};
use url::Url;
use wharf_core::{Code, Error, Origin, OriginPolicy, Server, text::line};

/// How much of a target is told.
const TOLD_BYTES: usize = 2 * 1024;

/// What was asked for, for a person.
pub(super) fn told(method: &Method, uri: &Uri) -> String {
    let target = uri.to_string();
    match *method {
        Method::CONNECT => line(&target, TOLD_BYTES),
        _ => line(target.split('#').next().unwrap_or_default(), TOLD_BYTES),
    }
}

/// Reads and checks what a request asks for.
pub(super) fn granted(policy: &OriginPolicy, method: &Method, uri: &Uri) -> Result<Server, Error> {
    let authority = uri
        .authority()
        .ok_or_else(|| invalid("this is a proxy: it takes whole URLs and CONNECT, and has no pages of its own"))?
        .as_str();
    if authority.contains('@') {
        return Err(invalid("an address with a user's name in it is not served"));
    }
    let tunnel = *method == Method::CONNECT;
    if !tunnel && uri.scheme_str() != Some("http") {
        return Err(invalid("only `http:` is served without a tunnel"));
    }
    // No port is usual where no scheme is known.
    if tunnel && uri.port().is_none() {
        return Err(invalid("a tunnel names host and port"));
    }
    let url = Url::parse(&format!("http://{authority}/")).map_err(|_| invalid("this names no server"))?;
    let (Some(origin), Some(server)) = (Origin::of(&url), Server::of(&url)) else {
        return Err(invalid("this names no server"));
    };
    if tunnel {
        policy.tunnel(&origin.host, origin.port)?;
    } else {
        policy.origin(&origin)?;
    }
    Ok(server)
}

fn invalid(message: &str) -> Error {
    Error::new(Code::Invalid, message)
}

#[cfg(test)]
mod tests {
    use url::Host;

    use super::*;

    fn policy(origins: &[&str]) -> OriginPolicy {
        let origins = origins.iter().map(|origin| origin.parse().expect("an origin")).collect();
        OriginPolicy::new("browser".parse().expect("a name"), origins, false)
    }

    fn asked(policy: &OriginPolicy, method: &str, uri: &str) -> Result<Server, Code> {
        let uri: Uri = uri.parse().map_err(|_| Code::Invalid)?;
        granted(policy, &method.parse().expect("a method"), &uri).map_err(|error| error.code)
    }

    #[test]
    fn a_target_is_granted_by_the_host_that_is_connected_to() {
        let policy = policy(&["http://example.com", "https://example.com", "http://127.0.0.1:8080"]);
        let target = asked(&policy, "GET", "http://EXAMPLE.com/a?b").expect("granted");
        assert_eq!((target.port, target.authority.as_str()), (80, "example.com"));
        assert_eq!(target.host, Host::Domain("example.com".to_owned()));
        let target = asked(&policy, "CONNECT", "example.com:443").expect("granted");
        assert_eq!((target.port, target.authority.as_str()), (443, "example.com:443"));
        // However an address is written, it is one address.
        for written in ["127.0.0.1:8080", "127.1:8080", "0x7f000001:8080", "2130706433:8080", "0177.0.0.1:8080"] {
            let target = asked(&policy, "GET", &format!("http://{written}/")).expect("granted");
            assert_eq!(target.host.to_string(), "127.0.0.1", "{written}");
            assert_eq!(target.authority, "127.0.0.1:8080");
            assert!(asked(&policy, "CONNECT", written).is_ok(), "{written}");
        }
    }

    #[test]
    fn what_is_no_plain_request_for_a_granted_server_goes_no_further() {
        let policy = policy(&["http://example.com", "https://example.com"]);
        for (method, uri, code) in [
            ("GET", "/", Code::Invalid),
            ("OPTIONS", "*", Code::Invalid),
            ("GET", "https://example.com/", Code::Invalid),
            ("GET", "ftp://example.com/", Code::Invalid),
            ("GET", "http://user@example.com/", Code::Invalid),
            ("GET", "http://example.com@evil.test/", Code::Invalid),
            ("GET", "http://evil.test/example.com", Code::Denied),
            ("GET", "http://example.com.evil.test/", Code::Denied),
            ("GET", "http://example.com:0/", Code::Invalid),
            ("GET", "http://example.com:81/", Code::Denied),
            ("GET", "http://example.com:443/", Code::Denied),
            ("GET", "http://[::1]/", Code::Denied),
            ("CONNECT", "example.com", Code::Invalid),
            ("CONNECT", "evil.test:443", Code::Denied),
            ("CONNECT", "example.com:22", Code::Denied),
            ("CONNECT", "[::ffff:127.0.0.1]:443", Code::Denied),
        ] {
            assert_eq!(asked(&policy, method, uri).expect_err("refused"), code, "{method} {uri}");
        }
    }
}
