//! The policy as an attacker reads it.

use std::sync::Arc;

use proptest::prelude::*;
use url::Url;

use super::*;

fn pattern(written: &str) -> OriginPattern {
    written.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn policy(origins: &[&str]) -> OriginPolicy {
    let origins = origins.iter().map(|written| pattern(written)).collect();
    OriginPolicy::new("browser".parse().expect("a name"), origins, false)
}

fn code(result: Result<Url, Error>) -> Option<Code> {
    result.err().map(|error| error.code)
}

#[test]
fn one_host_written_in_many_ways_is_one_host() {
    let policy =
        policy(&["https://example.com", "http://127.0.0.1:8080", "https://b\u{fc}cher.example", "http://[::1]"]);
    for url in [
        "https://example.com",
        "https://EXAMPLE.com:443/a?b#c",
        "https://example.com./",
        "https://user:password@example.com/",
        "https:example.com",
        "https:\\\\example.com\\a",
        "https://ex\tam\nple.com/",
        "https://%65xample.com/",
        "https://\u{ff45}xample\u{3002}com/",
        "wss://example.com/socket",
        "http://127.0.0.1:8080/",
        "http://127.1:8080/",
        "http://0x7f.0.0.1:8080/",
        "http://2130706433:8080/",
        "http://017700000001:8080/",
        "http://127.0.0.1.:8080/",
        "https://B\u{dc}CHER.example/",
        "https://xn--bcher-kva.example/",
        "http://[0:0:0:0:0:0:0:1]/",
    ] {
        assert_eq!(code(policy.url(url)), None, "{url}");
    }
}

#[test]
fn what_only_looks_like_a_granted_host_is_another_one() {
    let policy = policy(&["https://example.com", "https://*.example.org", "http://127.0.0.1:8080"]);
    for url in [
        "http://example.com/",
        "https://example.com:444/",
        "https://www.example.com/",
        "https://evilexample.com/",
        "https://example.com.evil.test/",
        "https://example.com@evil.test/",
        "https://example.com:443@evil.test/",
        "https://evil.test\\@example.com/",
        "https://evil.test#@example.com/",
        "https://evil.test/https://example.com/",
        "https://ex\u{430}mple.com/",
        "https://exampl\u{435}.com/",
        // It has subdomains, and is none of them.
        "https://example.org/",
        "https://evilexample.org/",
        "https://example.org.evil.test/",
        "https://www.example.org:444/",
        "http://www.example.org/",
        "http://127.0.0.2:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "ws://example.com/",
    ] {
        assert_eq!(code(policy.url(url)), Some(Code::Denied), "{url}");
    }
    assert_eq!(code(policy.url("https://a.b.example.org/")), None);
}

#[test]
fn other_schemes_are_denied_and_what_is_no_address_is_invalid() {
    let all = policy(&["*"]);
    for url in [
        "file:///etc/passwd",
        "data:text/html,x",
        "blob:https://example.com/2b3c",
        "javascript:alert(1)",
        "about:blank",
        "chrome://version",
        "view-source:https://example.com/",
        "filesystem:https://example.com/temporary/x",
        "ftp://example.com/",
        "devtools://devtools/x",
    ] {
        assert_eq!(code(all.url(url)), Some(Code::Denied), "{url}");
    }
    for url in [
        "",
        "example.com",
        "/path",
        "//example.com/",
        "https://",
        "https://./",
        "https://a..b/",
        "https://a../",
        "https://exa mple.com/",
        "https://[fe80::1%25eth0]/",
        "https://[::1/",
        "https://1.2.3.4.5/",
        "https://256.0.0.1/",
        "https://example.com:65536/",
        // Such a host would make the advice of the refusal grant something else.
        "https://a\",*/",
        "https://a\",\"*/",
    ] {
        assert_eq!(code(all.url(url)), Some(Code::Invalid), "{url}");
    }
}

#[test]
fn a_pattern_is_read_as_it_is_written_or_not_at_all() {
    for written in [
        "",
        "**",
        "example.com",
        "https://",
        "https://*",
        "https://*.",
        "https://.",
        "https://*example.com",
        "https://*.*.example.com",
        "https://www.*.com",
        "https://example.*",
        "https://*.1.2.3.4",
        "https://*.[::1]",
        "https://example.com/path",
        "https://example.com?x",
        "https://example.com#x",
        "https://user@example.com",
        "https://example.com\\.evil.test",
        "https://exa\tmple.com",
        "https://example.com ",
        " https://example.com",
        "https://%65xample.com",
        "https://example.com:0",
        "https://example.com:99999",
        "https://example.com:80:*",
        "https://example.com:*:*",
        "https://[::1]:80:*",
        "https://a..b",
        "HTTPS://example.com",
        "ftp://example.com",
        "file://",
        "*://example.com",
        "https//example.com",
    ] {
        assert!(written.parse::<OriginPattern>().is_err(), "{written}");
    }
    for (written, port, granted) in [
        ("https://example.com/", 443, true),
        ("https://example.com:8443", 443, false),
        ("https://example.com:*", 8443, true),
        ("https://Example.COM", 443, true),
        ("https://*.com", 443, true),
    ] {
        let origin = Origin { scheme: Scheme::Https, host: "example.com".to_owned(), port };
        assert_eq!(pattern(written).matches(&origin), granted, "{written}");
    }
    let here = Origin { scheme: Scheme::Http, host: "[::1]".to_owned(), port: 9 };
    assert!(pattern("http://[0::1]:*").matches(&here) && !pattern("http://[::1]").matches(&here));
}

#[test]
fn a_tunnel_is_granted_as_the_origin_it_leads_to() {
    let policy = policy(&["https://example.com", "http://*.example.org", "http://[::1]:1", "http://127.0.0.1"]);
    for (host, port, expected) in [
        ("example.com", 443, None),
        ("EXAMPLE.com.", 443, None),
        ("example.com", 80, Some(Code::Denied)),
        // A WebSocket without encryption goes through a tunnel, too.
        ("www.example.org", 80, None),
        ("example.org", 80, Some(Code::Denied)),
        ("[::1]", 1, None),
        ("[::2]", 1, Some(Code::Denied)),
        ("2130706433", 80, None),
        ("::1", 1, Some(Code::Invalid)),
        ("a b", 443, Some(Code::Invalid)),
        ("", 443, Some(Code::Invalid)),
        (".", 443, Some(Code::Invalid)),
        ("example.com@evil.test", 443, Some(Code::Invalid)),
    ] {
        assert_eq!(policy.tunnel(host, port).err().map(|error| error.code), expected, "{host}:{port}");
    }
}

#[test]
fn addresses_that_are_not_of_the_public_internet_are_private() {
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.251",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:8.8.8.8",
        "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::8.8.8.8",
        "100::1",
        "2001::1",
        "2001:0:808:808::1",
        "2001:10::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::5efe:8.8.8.8",
        "fec0::1",
        "ff02::fb",
    ] {
        assert!(is_private(address.parse().expect("an address")), "{address}");
    }
    for address in [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2002:808:808::1",
        "2606:4700:4700::1111",
        "3fff:1000::1",
    ] {
        assert!(!is_private(address.parse().expect("an address")), "{address}");
    }
}

/// Hosts near each other, so that some match.
fn host_name() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", "b", "evila", "xn--a", "com", "example", "1", "a-b", "_"]),
        1..5,
    )
    .prop_map(|labels| labels.join("."))
}

proptest! {
    #[test]
    fn a_pattern_never_matches_another_host(
        granted in host_name(),
        wanted in host_name(),
        below in any::<bool>(),
        granted_port in prop::option::of(prop::sample::select(vec![80_u16, 443, 8080])),
        wanted_port in prop::sample::select(vec![80_u16, 443, 8080]),
        secure in any::<bool>(),
    ) {
        let stars = if below { "*." } else { "" };
        let port = granted_port.map(|port| format!(":{port}")).unwrap_or_default();
        let Ok(pattern) = format!("https://{stars}{granted}{port}").parse::<OriginPattern>() else { return Ok(()) };
        let scheme = if secure { "https" } else { "http" };
        let Ok(url) = Url::parse(&format!("{scheme}://{wanted}:{wanted_port}/")) else { return Ok(()) };
        let Some(origin) = Origin::of(&url) else { return Ok(()) };
        let canonical = Url::parse(&format!("https://{granted}/")).expect("a URL");
        let labels: Vec<_> = canonical.host_str().expect("a host").split('.').collect();
        let wanted_labels: Vec<_> = origin.host.split('.').collect();
        let same = wanted_labels == labels;
        let inside = wanted_labels.len() > labels.len() && wanted_labels.ends_with(&labels);
        let expected = secure && granted_port.unwrap_or(443) == wanted_port && if below { inside } else { same };
        prop_assert_eq!(pattern.matches(&origin), expected, "{} {}", pattern, origin);
    }

    #[test]
    fn whatever_is_written_a_url_that_is_let_through_is_of_the_granted_host(text in ".{0,40}", before in any::<bool>()) {
        let policy = policy(&["https://example.com"]);
        let text = if before { format!("https://{text}example.com/") } else { format!("https://example.com{text}") };
        if let Ok(url) = policy.url(&text) {
            prop_assert_eq!((url.scheme().trim_start_matches("ws").trim_start_matches("http"), url.port_or_known_default()), ("s", Some(443)));
            prop_assert!(matches!(url.host_str(), Some("example.com" | "example.com.")), "{}", url);
        }
    }

    #[test]
    fn a_pattern_that_is_read_is_read_alike_again_and_never_panics(written in "[*a.:/\\[\\]0-9htps@%#?-]{0,24}") {
        if let Ok(pattern) = written.parse::<OriginPattern>() {
            prop_assert_eq!(pattern.as_str(), written.as_str());
            prop_assert_eq!(pattern.to_string().parse::<OriginPattern>().expect("a pattern"), pattern);
        }
    }
}

/// Asks about what these patterns name.
#[derive(Debug)]
struct Asked(Vec<OriginPattern>);

impl OriginRules for Asked {
    fn asking(&self, origin: &Origin) -> Vec<OriginPattern> {
        self.0.iter().filter(|pattern| pattern.matches(origin)).cloned().collect()
    }
}

#[test]
fn a_page_reaches_what_a_person_has_to_allow_only_once_they_have() {
    let patterns = ["https://*.bank.example", "http://localhost:*", "https://pay.bank.example"];
    let asked = Asked(patterns.map(|pattern| pattern.parse().expect("a pattern")).into());
    let policy = policy(&["*"]).guarded(Arc::new(asked));
    let origin = |text: &str| Origin::of_text(text).expect("an origin");
    let denied = |checked: Result<(), Error>| checked.is_err_and(|error| error.code == Code::Denied);

    policy.origin(&origin("https://example.com")).expect("nobody is asked");
    policy.tunnel("bank.example", 443).expect("nobody is asked");
    let told = policy.origin(&origin("https://www.bank.example")).expect_err("nobody has allowed it");
    assert!(told.message.contains("navigate"), "{told}");
    assert!(denied(policy.tunnel("www.bank.example", 443)) && denied(policy.tunnel("localhost", 8080)));
    assert!(policy.url("https://www.bank.example/").is_err());

    policy.let_through(&origin("https://www.bank.example"));
    policy.url("https://www.bank.example/").expect("a person has");
    policy.tunnel("static.bank.example", 443).expect("the same pattern names it");
    assert!(denied(policy.origin(&origin("https://pay.bank.example"))), "another one does, too");
    assert!(denied(policy.tunnel("localhost", 8080)));
    policy.let_through(&origin("https://pay.bank.example"));
    policy.origin(&origin("https://pay.bank.example")).expect("a person has");
    policy.let_through(&origin("http://localhost:8080"));
    policy.tunnel("localhost", 8080).expect("a socket of that origin");
}
