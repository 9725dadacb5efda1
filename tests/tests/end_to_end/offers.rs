//! What plugins offer beside tools: prompts, resources, completions, and rounds
//! of input, through the whole host.

mod addresses;
mod bombs;
mod changes;
mod claimed;
mod counted;
mod floods;
mod hostile;
mod prompts;
mod resources;
mod rounds;

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use wharf::{Caller, Context, InputGiven};
use wharf_tests::{Data, Fixture, Setup, bytes, component, context, object};

const EVENTS: &str = "[plugin.conformance.grants.events]\nreason = \"a test\"";

/// A setup with the plugin that has everything.
fn offering() -> Setup {
    Setup::new().plugin("conformance", &component("guest-conformance"), EVENTS)
}

async fn open() -> Fixture {
    offering().open().await
}

/// The caller that asks for something: the session `test`.
pub(crate) fn asking() -> Arc<Caller> {
    asking_in(context("local", "test"))
}

fn asking_in(context: Context) -> Arc<Caller> {
    Arc::new(Caller::new(context))
}

/// In the round after one that asked, with these responses.
fn given(responses: Value, state: Option<&str>) -> InputGiven {
    InputGiven { responses: object(responses), state: state.map(str::to_owned) }
}

/// The attacker, patched to be this attack.
pub(crate) fn attacker(files: &Data, attack: &str) -> PathBuf {
    let mut component = bytes("guest-offering");
    let mark = b"wharf-attack:";
    let at = component.windows(mark.len()).position(|window| window == mark).expect("the mark is in the component");
    let word = &mut component[at + mark.len()..at + 32];
    word.fill(b' ');
    word[..attack.len()].copy_from_slice(attack.as_bytes());
    files.write(&format!("{attack}.wasm"), component)
}
