//! The policy as an attacker reads it.

use proptest::prelude::*;

use super::*;
use crate::{Grants, HttpGrant, PluginName};

fn wanted(method: &str, url: &str) -> WantedRequest {
    let (scheme, rest) = url.split_once("://").expect("a scheme");
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    WantedRequest::read(method, scheme, authority, path).unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn pattern(written: &str) -> RequestPattern {
    written.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn plugin() -> PluginName {
    "p".parse().expect("legal")
}

fn grants(requests: &[&str]) -> Grants {
    let requests = requests.iter().map(|written| pattern(written)).collect();
    Grants { http: Some(HttpGrant { requests, ..HttpGrant::with_reason("a test") }), ..Grants::default() }
}

#[test]
fn a_pattern_grants_its_methods_its_origin_and_its_paths_together() {
    for (written, method, url, granted) in [
        ("https://example.com", "GET", "https://example.com/any/thing", true),
        ("https://example.com", "HEAD", "https://example.com", true),
        ("https://example.com", "POST", "https://example.com/", false),
        ("https://example.com", "GET", "http://example.com/", false),
        ("https://example.com", "GET", "https://example.com:8443/", false),
        ("https://example.com", "GET", "https://www.example.com/", false),
        ("https://example.com", "GET", "https://example.com.evil.test/", false),
        ("POST,PUT https://example.com/v1/*", "PUT", "https://EXAMPLE.com/v1/a/b", true),
        ("POST,PUT https://example.com/v1/*", "GET", "https://example.com/v1/a", false),
        ("POST,PUT https://example.com/v1/*", "put", "https://example.com/v1/a", false),
        ("POST,PUT https://example.com/v1/*", "PUT", "https://example.com/v2/a", false),
        ("* https://*.example.com:*", "DELETE", "https://a.example.com:9/", true),
        ("GET *", "GET", "http://[::1]:8080/", true),
        ("GET https://example.com/", "GET", "https://example.com", true),
        ("GET https://example.com/", "GET", "https://example.com/a", false),
    ] {
        assert_eq!(pattern(written).matches(&wanted(method, url)), granted, "{written} {method} {url}");
    }
}

#[test]
fn no_way_of_writing_a_path_leads_out_of_what_is_granted() {
    let granted = pattern("GET https://example.com/v1/*");
    for path in [
        "/v1/../admin",
        "/v1/%2e%2e/admin",
        "/v1/.%2E/admin",
        "/v1/%252e%252e/admin",
        "/v1/%25252e%25252e/admin",
        "/v1/..%2fadmin",
        "/v1/..%5cadmin",
        "/v1/..;a=b/admin",
        "/v1/a%00b",
        "/v1/%0d%0aX: y",
        "/v1/%ff",
        "/v1/%2525252525252e",
        "/%76%31/a",
        "//v1/a",
        "/V1/a",
        "/admin",
        "/v1",
    ] {
        assert!(!granted.matches(&wanted("GET", &format!("https://example.com{path}"))), "{path}");
    }
    for path in ["/v1/a", "/v1/a/b", "/v1/group%2Fproject", "/v1/..a/...", "/v1/%ED%95%9C", "/v1/"] {
        assert!(granted.matches(&wanted("GET", &format!("https://example.com{path}"))), "{path}");
    }
    let encoded = pattern("GET https://example.com/projects/group%2Fproject/*");
    assert!(encoded.matches(&wanted("GET", "https://example.com/projects/group%2Fproject/issues")));
    assert!(!encoded.matches(&wanted("GET", "https://example.com/projects/group/project/issues")));
}

#[test]
fn what_names_no_requests_is_refused_with_what_to_write() {
    for written in [
        "",
        "GET",
        "get https://example.com",
        "GET, POST https://example.com",
        "CONNECT https://example.com",
        "GET,TRACE https://example.com",
        "GET ftp://example.com",
        "GET https://example.com/a?b",
        "GET https://example.com/a/../b",
        "GET https://user@example.com/",
        "GET https://exa*mple.com/",
        "GET  https://example.com",
    ] {
        let error = written.parse::<RequestPattern>().expect_err(written);
        assert!(error.to_string().contains("GET https://api.example.com/v1/*"), "{error}");
    }
}

#[test]
fn what_names_no_server_and_what_makes_a_tunnel_is_never_sent() {
    for (method, scheme, authority, code) in [
        ("GET", "https", "", Code::Invalid),
        ("GET", "ftp", "example.com", Code::Invalid),
        ("GET", "https", "user@example.com", Code::Invalid),
        ("GET", "https", "example.com/../evil.test", Code::Invalid),
        ("GET", "https", "evil.test\\@example.com", Code::Invalid),
        ("GET", "https", "example.com:0", Code::Invalid),
        ("GET", "https", "a b", Code::Invalid),
        ("CONNECT", "https", "example.com", Code::Denied),
        ("TRACE", "https", "example.com", Code::Denied),
        ("trace", "https", "example.com", Code::Denied),
    ] {
        let error = WantedRequest::read(method, scheme, authority, "/").expect_err("refused");
        assert_eq!(error.code, code, "{method} {scheme}://{authority}: {error}");
    }
    // However an address is written, it is one address.
    for written in ["127.0.0.1:80", "127.1", "0x7f000001", "2130706433", "0177.0.0.1"] {
        assert_eq!(wanted("GET", &format!("http://{written}/")).server.authority, "127.0.0.1", "{written}");
    }
}

#[test]
fn a_refusal_says_the_line_that_would_allow_it_and_none_that_would_allow_more() {
    let plugin = plugin();
    let error = Grants::default().http(&plugin).map(drop).expect_err("nothing is granted");
    assert!(error.message.contains("[plugin.p.grants.http]"), "{error}");
    let grants = grants(&["https://example.com/v1/*"]);
    let granted = grants.http(&plugin).expect("granted");
    let refused = |method: &str, url: &str| granted.request(wanted(method, url)).expect_err(url).message;
    let told = refused("POST", "https://example.com/v1/a");
    assert!(told.contains("add \"POST https://example.com/v1/a\" to `requests`"), "{told}");
    for (method, path) in [("GET", "/*"), ("GET", "/a\"b"), ("*", "/"), ("GET", "/%2e%2e/")] {
        let told = refused(method, &format!("https://example.com{path}"));
        assert!(told.contains("change `requests` under [plugin.p.grants.http]"), "{told}");
    }
    assert!(refused("GET", &format!("https://example.com/{}", "x".repeat(9_000))).len() < 600);
}

#[test]
fn addresses_that_are_private_are_refused_whatever_name_leads_to_them() {
    let (plugin, granted) = (plugin(), grants(&["* *"]));
    let request =
        granted.http(&plugin).expect("granted").request(wanted("GET", "https://example.com/")).expect("granted");
    for address in [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "168.63.129.16",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "::127.0.0.1",
    ] {
        let error = request.address(address.parse().expect("an address")).expect_err(address);
        assert!(error.code == Code::Denied && error.message.contains("`private_addresses = true`"), "{error}");
    }
    assert!(request.address("93.184.216.34".parse().expect("an address")).is_ok());
}

fn secret(to: &str) -> Secret {
    let rule = SecretRule::new("token", pattern(to), "Authorization: Bearer {}").expect("a rule");
    rule.with_text("hunter2hunter2\n").expect("a secret")
}

#[test]
fn a_secret_goes_to_the_requests_that_it_is_bound_to_and_nowhere_else() {
    let plugin = plugin();
    let secrets = Secrets::new(vec![secret("* https://api.example.com/v1/*")]);
    let grants = Grants { secrets, ..grants(&["* *"]) };
    let of = |url: &str| {
        let granted = grants.http(&plugin).expect("granted");
        granted.request(wanted("POST", url)).expect("granted")
    };
    let bound = of("https://api.example.com/v1/a");
    assert_eq!(*bound.secrets()[0].value(), "Bearer hunter2hunter2");
    assert_eq!(bound.header("Authorization").expect_err("the host's own").code, Code::Denied);
    assert!(bound.header("accept").is_ok());
    for elsewhere in [
        "http://api.example.com/v1/a",
        "https://api.example.com:8443/v1/a",
        "https://example.com/v1/a",
        "https://api.example.com.evil.test/v1/a",
        "https://api.example.com/v1/../a",
        "https://api.example.com/v2/a",
    ] {
        let request = of(elsewhere);
        assert!(request.secrets().is_empty() && request.header("authorization").is_ok(), "{elsewhere}");
    }
    let shown = format!("{grants:?} {bound:?} {}", serde_json::to_string(&grants).expect("JSON"));
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_secret_that_cannot_be_used_is_refused_and_not_shown() {
    let to = || pattern("https://example.com");
    for (name, to, header) in [
        ("", to(), "A: {}"),
        ("a b", to(), "A: {}"),
        ("a", pattern("https://*.example.com"), "A: {}"),
        ("a", pattern("https://example.com:*"), "A: {}"),
        ("a", pattern("GET *"), "A: {}"),
        ("a", to(), "A"),
        ("a", to(), "A: b"),
        ("a", to(), ": {}"),
        ("a", to(), "A: {} {}"),
        ("a", to(), "A b: {}"),
        ("a", to(), "Host: {}"),
        ("a", to(), "Transfer-Encoding: {}"),
        ("a", to(), "Proxy-Authorization: {}"),
        ("a", to(), "A: x\r\nB: {}"),
    ] {
        assert!(SecretRule::new(name, to, header).is_err(), "{name} {header}");
    }
    let rule = SecretRule::new("a", to(), "A: {}").expect("a rule");
    let long = "x".repeat(9_000);
    for (text, problem) in [
        ("", InvalidSecret::Empty),
        (" \n", InvalidSecret::Empty),
        ("short", InvalidSecret::Short),
        ("two\r\nlines: x", InvalidSecret::Characters),
        ("geheim\u{e9}geheim", InvalidSecret::Characters),
        (&long, InvalidSecret::Long),
    ] {
        assert_eq!(rule.with_text(text).expect_err("refused"), problem);
    }
}

proptest! {
    #[test]
    fn nothing_that_a_plugin_asks_for_panics_or_is_granted_by_another_origin(
        method in ".{0,12}", authority in ".{0,40}", path in "(/.{0,40})?",
    ) {
        let granted = pattern("* https://example.com/v1/*");
        if let Ok(wanted) = WantedRequest::read(&method, "https", &authority, &path) {
            if granted.matches(&wanted) {
                prop_assert_eq!(wanted.origin.to_string(), "https://example.com");
                prop_assert!(wanted.path.starts_with("/v1/"));
            }
            let _ = (wanted.told(), wanted.exact_pattern());
        }
    }
}
