//! Registries that ask for a login: which login goes where, and where none goes.

use wharf_tests::{Data, Setup};

use super::*;
use crate::plugins::commands::Place;

/// `me` and `secret`.
const LOGIN: &str = "Basic bWU6c2VjcmV0";
const TOKEN: &str = "t0ken.of-some_sort";

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (named, value) = line.split_once(": ")?;
        named.eq_ignore_ascii_case(name).then_some(value)
    })
}

/// What each request had as authorization.
fn shown(server: &Upstream) -> Vec<Option<String>> {
    server.asked().iter().map(|head| header(head, "authorization").map(str::to_owned)).collect()
}

/// A registry that serves clients with this authorization, and sends all others this challenge.
fn guarded(component: &[u8], wanted: &'static str, challenge: &str) -> Upstream {
    let challenge = format!("www-authenticate: {challenge}\r\n");
    registry(component, move |head, _, connection| {
        let is_known = header(head, "authorization") == Some(wanted);
        if !is_known {
            answer(connection, "401 Unauthorized", &challenge, b"secret words");
        }
        !is_known
    })
}

/// Gives out tokens: to clients with the login, or to all.
fn tokens(to_everybody: bool) -> Upstream {
    Upstream::start(move |head, connection| {
        if to_everybody || header(head, "authorization") == Some(LOGIN) {
            Upstream::send(connection, "", json!({"access_token": TOKEN}).to_string().as_bytes());
        } else {
            answer(connection, "401 Unauthorized", "", b"");
        }
    })
}

fn bearer(realm: &str) -> String {
    format!("Bearer realm=\"{realm}\",service=\"here\",scope=\"repository:team/greeter:pull,push,delete\"")
}

/// Logins as Docker writes them, with the same for each of these.
fn written(files: &Data, hosts: &[&str]) -> RegistryLogins {
    let entry = json!({"auth": "bWU6c2VjcmV0"});
    let auths: serde_json::Map<_, _> = hosts.iter().map(|&host| (host.to_owned(), entry.clone())).collect();
    RegistryLogins::in_file(&files.write_private("config.json", json!({"auths": auths}).to_string()))
}

#[test]
fn what_everybody_may_have_comes_with_a_token_that_nobody_needs_a_login_for() {
    let issuer = tokens(true);
    let registry =
        guarded(b"abc", "Bearer t0ken.of-some_sort", &bearer(&format!("http://{}/token?x=1", issuer.authority())));
    assert_eq!(pull(&registry, ":1.2").expect("is shown").component, b"abc");
    assert_eq!(shown(&issuer), [None]);
    let asked = paths(&issuer);
    let wanted = "/token?x=1&service=here&scope=repository%3Ateam%2Fgreeter%3Apull";
    assert_eq!(asked, [wanted], "to read this one name, whatever the registry would have");
    let token = Some(format!("Bearer {TOKEN}"));
    assert_eq!(shown(&registry), [None, token.clone(), token]);
}

#[test]
fn a_login_goes_to_nobody_but_who_it_is_written_for() {
    let files = Data::alone();
    let issuer = tokens(false);
    let realm = format!("http://{}/token", issuer.authority());
    let registry = guarded(b"abc", "Bearer t0ken.of-some_sort", &bearer(&realm));
    // It is the registry's, and the registry would have it sent elsewhere.
    let logins = written(&files, &[&registry.authority(), "127.0.0.1", "tokens.example"]);
    let refused = pull_as(&registry, ":1.2", &logins).expect_err("no login for that one");
    assert!(matches!(&refused, OciError::Login { at, .. } if *at == issuer.authority()), "{refused}");
    assert!(refused.to_string().contains("config.json"), "{refused}");
    assert_eq!((shown(&issuer), shown(&registry)), (vec![None], vec![None]));
    let logins = written(&files, &[&issuer.authority()]);
    assert_eq!(pull_as(&registry, ":1.2", &logins).expect("is shown").component, b"abc");
    assert_eq!(shown(&issuer)[1].as_deref(), Some(LOGIN));
    assert!(!shown(&registry).contains(&Some(LOGIN.to_owned())), "the registry sees the token alone");
}

#[test]
fn a_registry_that_checks_logins_itself_gets_its_own_once_it_asks() {
    let files = Data::alone();
    let registry = guarded(b"abc", LOGIN, "Basic realm=\"here\"");
    let refused = pull_as(&registry, ":1.2", &written(&files, &["another.example"])).expect_err("no login");
    assert!(matches!(&refused, OciError::Login { at, .. } if *at == registry.authority()), "{refused}");
    assert_eq!(shown(&registry), [None]);
    let logins = written(&files, &[&registry.authority()]);
    assert_eq!(pull_as(&registry, ":1.2", &logins).expect("is shown").component, b"abc");
    let wrong = guarded(b"abc", "Basic another", "Basic realm=\"here\"");
    let refused = pull_as(&wrong, ":1.2", &written(&files, &[&wrong.authority()])).expect_err("a wrong login");
    assert!(matches!(refused, OciError::Refused { .. }), "{refused}");
    assert_eq!(shown(&wrong).len(), 2, "it is not tried again and again");
}

#[test]
fn nobody_is_asked_for_a_token_without_tls() {
    let files = Data::alone();
    for realm in ["http://tokens.example/token", "http://169.254.169.254/token", "http://me:x@127.0.0.1:1/token"] {
        let registry = guarded(b"abc", "Bearer x", &bearer(realm));
        let logins = written(&files, &["tokens.example", "169.254.169.254", "127.0.0.1:1"]);
        let refused = pull_as(&registry, ":1.2", &logins).expect_err("anybody could read it");
        assert!(matches!(refused, OciError::Realm { .. }), "{refused}");
    }
}

#[test]
fn what_is_no_token_is_not_shown_to_anybody() {
    let endless = [b"{\"token\": \"".as_slice(), &[b'x'; 100_000], b"\"}"].concat();
    let cases: [(Vec<u8>, Expected); 6] = [
        (endless, |error| matches!(error, OciError::TooLong { limit: 65_536, .. })),
        (b"{}".to_vec(), |error| matches!(error, OciError::Token { .. })),
        (b"secret".to_vec(), |error| matches!(error, OciError::Token { .. })),
        (b"{\"token\": \"\"}".to_vec(), |error| matches!(error, OciError::Token { .. })),
        (b"{\"token\": \"secret\\r\\nx: y\"}".to_vec(), |error| matches!(error, OciError::Token { .. })),
        (b"{\"token\": [\"secret\"]}".to_vec(), |error| matches!(error, OciError::Token { .. })),
    ];
    for (sent, is_it) in cases {
        let issuer = Upstream::start(move |_, connection| Upstream::send(connection, "", &sent));
        let registry = guarded(b"abc", "Bearer x", &bearer(&format!("http://{}/token", issuer.authority())));
        let refused = pull(&registry, ":1.2").expect_err("no token");
        assert!(is_it(&refused) && !wharf::with_causes(&refused).contains("secret"), "{refused:?}");
        assert_eq!(shown(&registry), [None]);
    }
}

#[test]
fn a_token_that_is_not_taken_ends_it() {
    let issuer = tokens(true);
    let registry = guarded(b"abc", "Bearer another", &bearer(&format!("http://{}/token", issuer.authority())));
    let refused = pull(&registry, ":1.2").expect_err("not taken");
    assert!(matches!(&refused, OciError::Login { at, .. } if *at == issuer.authority()), "{refused}");
    assert_eq!((shown(&registry).len(), shown(&issuer).len()), (2, 1));
}

#[test]
fn the_command_finds_logins_where_docker_has_them_and_keeps_none() {
    let place = Place::new(&Setup::bare());
    let issuer = tokens(false);
    let registry =
        guarded(&saying(true), "Bearer t0ken.of-some_sort", &bearer(&format!("http://{}/token", issuer.authority())));
    let address = format!("oci://{}/team/greeter:1.2", registry.authority());
    let add = |docker: &str| {
        let arguments = ["plugin", "add", &address];
        let command = wharf_tests::wharf(arguments).config(&place.files.path().join("wharf.toml"));
        command.data(place.data.path()).env("DOCKER_CONFIG", docker).env("RUST_LOG", "trace").run()
    };
    let nowhere = place.file("nowhere");
    let refused = add(&nowhere);
    let told = format!("`auths` in {nowhere}/config.json");
    assert!(refused.code != Some(0) && refused.err.contains(&told), "{refused:?}");
    assert!(!place.data.path().join("plugins").exists(), "nothing is kept");
    let docker = Data::alone();
    let _ = written(&docker, &[&issuer.authority()]);
    let added = add(&docker.path().display().to_string());
    assert_eq!(added.code, Some(0), "{added:?}");
    let receipt = place.json(&["plugin", "info", "greeter"]).to_string();
    let said = [added.out, added.err, receipt, refused.err].concat();
    for secret in ["secret", "bWU6c2VjcmV0", TOKEN] {
        assert!(!said.contains(secret), "{secret}: {said}");
    }
}
