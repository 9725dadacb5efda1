//! What a guest returns from a call, as the bytes that it leaves in its memory: read by the
//! engine as every answer is.

use std::cell::RefCell;

use serde_json::json;
use tokio::runtime::Runtime;
use wharf::{CallLimits, CallRequest, Host, PluginSpec};

use super::{assert_told, definitions::assert_content, is_own, is_visible};
use crate::{Crafted, Setup, context, object};

/// More does not fit before what the guest keeps itself.
const MAX_BYTES: usize = 1000;

/// Copies the hexadecimal text of its arguments, `{"x":"…"}`, to address 16, where nothing of
/// its own lies, and returns that place as where its answer is: small numbers in the bytes
/// point into them.
const RETURN_BYTES: &str = r#"
  (local.set 2 (i32.add (local.get 2) (i32.const 6)))
  (local.set 3 (i32.shr_u (i32.sub (local.get 3) (i32.const 8)) (i32.const 1)))
  (local.set 4 (i32.const 0))
  (block $done (loop $next
    (br_if $done (i32.ge_u (local.get 4) (local.get 3)))
    (i32.store8 offset=16 (local.get 4) (i32.or
      (i32.shl (call $digit (i32.load8_u (local.get 2))) (i32.const 4))
      (call $digit (i32.load8_u offset=1 (local.get 2)))))
    (local.set 2 (i32.add (local.get 2) (i32.const 2)))
    (local.set 4 (i32.add (local.get 4) (i32.const 1)))
    (br $next)))
  (return (i32.const 16))"#;

const DIGIT: &str = r#"
  (func $digit (param i32) (result i32)
    (select (i32.sub (local.get 0) (i32.const 48)) (i32.sub (local.get 0) (i32.const 87))
      (i32.lt_u (local.get 0) (i32.const 58))))"#;

/// A host with that guest.
struct Answering {
    runtime: Runtime,
    host: Host,
    limits: CallLimits,
}

impl Answering {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let guest = Crafted { module: DIGIT.into(), ..Crafted::calling(RETURN_BYTES) };
        let host = runtime.block_on(async {
            let host = Host::builder(Setup::bare().configuration()).open().await.expect("a host opens");
            let name = "returning".parse().expect("a name");
            host.load_plugin(PluginSpec::new(name, guest.bytes())).await.expect("the guest is in order");
            host
        });
        Self { runtime, host, limits: CallLimits::default() }
    }

    fn ask(&self, bytes: &[u8]) {
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let request = CallRequest::new(context("local", "test"), "returning__run", object(json!({"x": text})));
        match self.runtime.block_on(self.host.call(request)) {
            Err(error) => assert_told(&error.message),
            Ok(answer) => {
                assert!(answer.bytes() <= self.limits.output_bytes && is_own(&answer.meta), "{answer:?}");
                answer.content.iter().for_each(assert_content);
                let shown = answer.structured.as_ref().is_none_or(|structured| is_visible(&structured.to_string()));
                assert!(shown, "{answer:?}");
            }
        }
    }
}

thread_local! {
    /// Opening it takes longer than a thousand calls.
    static ANSWERING: RefCell<Option<Answering>> = const { RefCell::new(None) };
}

/// The answer of a guest, as its bytes lie in memory from address 16 on.
pub fn answers(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
    ANSWERING.with_borrow_mut(|answering| answering.get_or_insert_with(Answering::new).ask(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: usize = 16;

    #[test]
    fn what_the_guest_is_told_to_return_is_what_the_host_reads() {
        let answering = Answering::new();
        let word = |word: usize| u32::try_from(word).expect("small").to_le_bytes();
        // ok, one part; nothing structured, no error, no meta; then the part and its texts.
        let (part, mime, data) = (AT + 40, AT + 68, AT + 78);
        let mut bytes: Vec<u8> = [0, part, 1, 0, 0, 0, 0, 0, 0, 0].into_iter().flat_map(word).collect();
        bytes.extend([mime, 10, data, 5, 0, 0, 0].into_iter().flat_map(word));
        bytes.extend_from_slice(b"text/plainhello");
        answering.ask(&bytes);
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let request = CallRequest::new(context("local", "test"), "returning__run", object(json!({"x": text})));
        let answer = answering.runtime.block_on(answering.host.call(request)).expect("an answer");
        assert_eq!(answer.content[0].as_text(), Some("hello"));
    }
}
