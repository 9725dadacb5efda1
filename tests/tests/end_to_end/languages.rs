//! Plugins that are made with the kit of each language: the same promises, held by the same calls.
//!
//! Rust's guests are always there. `cargo xtask test --only kits` makes those of the other languages
//! and names them in `WHARF_KIT_GUESTS`, as `python=/path/suite.wasm` with `;` between two; without
//! it, only Rust is tested here.

mod hostile;
mod promises;

use std::path::PathBuf;

use serde_json::{Value, json};
use wharf::{Answer, Error};
use wharf_tests::{Fixture, Setup, component, context, found};

/// The plugin's name in each test, whatever language it is made of.
const SUITE: &str = "suite";

/// The guests of one language.
struct Guest {
    language: String,
    /// Whose tools attack, by the names of `tests/guests/hostile`.
    attacker: PathBuf,
    /// What offers more than tools, by the names of `tests/guests/conformance`.
    offering: PathBuf,
}

impl Guest {
    /// Those of every language that there are.
    fn all() -> Vec<Self> {
        let (attacker, offering) = (component("guest-hostile"), component("guest-conformance"));
        let mut all = vec![Self { language: "rust".to_owned(), attacker, offering }];
        let named = std::env::var("WHARF_KIT_GUESTS").unwrap_or_default();
        for guest in named.split(';').filter(|guest| !guest.is_empty()) {
            let (language, path) = guest.split_once('=').expect("WHARF_KIT_GUESTS is LANGUAGE=PATH;…");
            let path = PathBuf::from(path);
            assert!(path.is_file(), "{} is missing: run `cargo xtask test --only kits`", path.display());
            all.push(Self { language: language.to_owned(), attacker: path.clone(), offering: path });
        }
        all
    }

    /// The attacker with these tables of grants, on a host of its own.
    async fn open(&self, setup: Setup, grants: &[&str]) -> Attacked {
        let lines: Vec<_> =
            grants.iter().map(|name| format!("[plugin.{SUITE}.grants.{name}]\nreason = \"a test\"")).collect();
        let fixture = setup.plugin(SUITE, &self.attacker, &lines.join("\n")).open().await;
        Attacked { language: self.language.clone(), fixture }
    }
}

/// A host with the attacker of one language.
struct Attacked {
    language: String,
    fixture: Fixture,
}

impl Attacked {
    async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, Error> {
        self.fixture.call(&format!("{SUITE}__{tool}"), arguments).await
    }

    async fn call_in(&self, session: &str, tool: &str, arguments: Value) -> Result<Answer, Error> {
        self.fixture.call_in(&context("local", session), &format!("{SUITE}__{tool}"), arguments).await
    }

    async fn found(&self, tool: &str, arguments: Value) -> Value {
        found(self.call(tool, arguments).await)
    }

    /// Fails while calls beside it are in flight, which all finish.
    async fn failure(&self, tool: &str, arguments: Value) -> Error {
        let beside: Vec<_> = (0..4)
            .map(|index| {
                let context = context("local", &format!("beside-{index}"));
                self.fixture.start(&context, "hostile__sleep", json!({"milliseconds": 30}))
            })
            .collect();
        let outcome = self.call(tool, arguments).await;
        for call in beside {
            found(call.outcome().await);
        }
        self.works().await;
        outcome.expect_err(&format!("{}: {tool}", self.language))
    }

    /// The host answers, and nothing of an earlier call is left.
    async fn works(&self) {
        self.fixture.works().await;
        assert_eq!(self.fixture.host.load(), (0, 0), "{}", self.language);
    }
}
