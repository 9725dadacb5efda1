//! Signing in, and out.

use serde_json::json;
use wharf_tests::wharf;

use super::{Operated, Reply};

/// The cookie that an answer gives.
fn cookie(reply: &Reply) -> String {
    let given = reply.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {reply:?}"));
    let (cookie, rest) = given.split_once("; ").expect("attributes");
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(rest.contains(attribute), "{given}");
    }
    format!("Cookie: {cookie}\r\n")
}

impl Operated {
    fn signed_in(&self) -> String {
        let reply = self.request("POST", "/console/session", "", Some(json!({"token": self.token})));
        assert_eq!(reply.status, 204, "{reply:?}");
        cookie(&reply)
    }

    fn page(&self) -> String {
        format!("Origin: http://{}\r\n", self.server.address)
    }
}

#[test]
fn who_signs_in_with_the_operators_token_has_a_cookie_until_they_sign_out() {
    let host = Operated::start("");
    let wrong = host.request("POST", "/console/session", "", Some(json!({"token": host.server.token})));
    assert!(wrong.status == 401 && wrong.header("set-cookie").is_none(), "an agent's token: {wrong:?}");
    let (one, other) = (host.signed_in(), host.signed_in());
    assert_eq!(host.request("GET", "/v1/operator/hosts", &one, None).status, 200);
    // A page changes something only where it is this server's own.
    let call = "/v1/operator/calls/none";
    assert_eq!(host.request("DELETE", call, &one, None).status, 401, "whose page is not said");
    let own = format!("{one}{}", host.page());
    assert_eq!(host.request("DELETE", call, &own, None).status, 404);
    assert_eq!(host.request("DELETE", "/console/session", &own, None).status, 204);
    assert_eq!(host.request("GET", "/v1/operator/hosts", &one, None).status, 401, "signed out");
    assert_eq!(host.request("GET", "/v1/operator/hosts", &other, None).status, 200, "another person");
    let own = format!("{other}{}", host.page());
    assert_eq!(host.request("DELETE", "/console/session?everywhere=true", &own, None).status, 204);
    assert_eq!(host.request("GET", "/v1/operator/hosts", &other, None).status, 401);
}

#[test]
fn a_link_of_the_command_signs_in_once() {
    let host = Operated::start("");
    let data = &host.server.data;
    let run = wharf(["console", "--print"]).config(&data.path().join("wharf.toml")).data(data.path()).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let (place, code) = run.out.trim().split_once('#').expect("a code behind the address");
    assert_eq!(place, format!("http://{}/console", host.server.address));
    let sign_in = || host.request("POST", "/console/session", "", Some(json!({"code": code})));
    let first = sign_in();
    assert_eq!(first.status, 204, "{first:?}");
    assert_eq!(host.request("GET", "/v1/operator/hosts", &cookie(&first), None).status, 200);
    let second = sign_in();
    assert!(second.status == 401 && second.body.contains("wharf console"), "{second:?}");
}

#[test]
fn the_console_is_served_with_a_policy_that_lets_nothing_else_in() {
    let host = Operated::start("");
    let page = host.request("GET", "/console", "", None);
    assert_eq!(page.status, 200, "{page:?}");
    let policy = page.header("content-security-policy").expect("a policy");
    for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "connect-src 'self'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert!(!page.body.contains("<script>"), "no script within the page: {}", page.body);
    assert!(!page.body.contains("//"), "nothing from another server: {}", page.body);
    let script = host.request("GET", "/console/console.js", "", None);
    assert_eq!((script.status, script.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
    assert_eq!(host.request("GET", "/console/../operator-token", "", None).status, 404);
}
