//! Functions that were compiled before.
//!
//! An author builds a component again and again. Most of it is the interpreter of its language, which no
//! build changes. So the hosts of authors keep what the compiler made of each function. It finds one again
//! by the SHA-256 of the function before it is compiled and of all settings (Cranelift's incremental
//! cache), so a function that changed is compiled.
//!
//! What was kept comes from a compiler that had read another component. A component that took the compiler
//! over could leave code to the next one. It could as well leave it in its own code, which runs in the same
//! process; so only a host that runs the plugins of its own author keeps functions.

use std::{
    borrow::Cow,
    collections::HashMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use parking_lot::Mutex;
use wasmtime::CacheStore;

/// The most that is kept: CPython takes a third of it.
pub(crate) const MAX_BYTES: usize = 128 << 20;

/// A digest of 32 bytes, as the compiler hands it over.
type FunctionKey = [u8; 32];
/// Before each function: its key, and its length in four bytes, the lowest first.
const HEAD_BYTES: usize = size_of::<FunctionKey>() + size_of::<u32>();

/// What was kept, and what is new.
#[derive(Debug, Default)]
pub(crate) struct KeptFunctions {
    kept: Bytes,
    known: HashMap<FunctionKey, KnownFunction>,
    new: Mutex<HashMap<FunctionKey, Vec<u8>>>,
}

#[derive(Debug)]
struct KnownFunction {
    place: Range<usize>,
    is_used: AtomicBool,
}

impl KeptFunctions {
    /// Reads what [`KeptFunctions::to_keep`] made, up to where it is cut off.
    pub(crate) fn read(kept: Bytes) -> Arc<Self> {
        let (mut known, mut at) = (HashMap::new(), 0_usize);
        while let Some((key, place)) = function_at(&kept, at) {
            at = place.end;
            known.insert(key, KnownFunction { place, is_used: AtomicBool::new(false) });
        }
        Arc::new(Self { kept, known, new: Mutex::default() })
    }

    /// What to keep from now on: what was used, then the rest as far as there is room. Nothing where all was
    /// known.
    pub(crate) fn to_keep(&self) -> Option<Bytes> {
        let new = self.new.lock();
        if new.is_empty() {
            return None;
        }
        let known = |is_used: bool| {
            let chosen = self.known.iter().filter(move |(_, known)| known.is_used.load(Relaxed) == is_used);
            chosen.filter_map(|(key, known)| Some((key, self.kept.get(known.place.clone())?)))
        };
        let mut to_keep = Vec::new();
        let made = new.iter().map(|(key, function)| (key, function.as_slice()));
        for (key, function) in made.chain(known(true)).chain(known(false)) {
            let Ok(length) = u32::try_from(function.len()) else { continue };
            if to_keep.len() + HEAD_BYTES + function.len() <= MAX_BYTES {
                to_keep.extend_from_slice(key);
                to_keep.extend_from_slice(&length.to_le_bytes());
                to_keep.extend_from_slice(function);
            }
        }
        Some(to_keep.into())
    }
}

/// The function at this place, where it is whole.
fn function_at(kept: &[u8], at: usize) -> Option<(FunctionKey, Range<usize>)> {
    let (key, rest) = kept.get(at..)?.split_first_chunk::<{ size_of::<FunctionKey>() }>()?;
    let (length, rest) = rest.split_first_chunk::<{ size_of::<u32>() }>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let begins = at + HEAD_BYTES;
    (length <= rest.len()).then(|| (*key, begins..begins + length))
}

impl CacheStore for KeptFunctions {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let known = self.known.get(key)?;
        known.is_used.store(true, Relaxed);
        self.kept.get(known.place.clone()).map(Cow::Borrowed)
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        let Ok(key) = key.try_into() else { return false };
        self.new.lock().insert(key, value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{CompileTarget, Compiled};

    const TARGET: CompileTarget = CompileTarget { stack_bytes: 1 << 20, small_memories: false };

    /// A component with two functions, of which one returns `number`.
    fn component(number: u32) -> Vec<u8> {
        let text = format!(
            "(component (core module $m
                (func (export \"same\") (param i32) (result i32) local.get 0 i32.const 7 i32.mul)
                (func (export \"other\") (result i32) i32.const {number}))
             (core instance (instantiate $m)))"
        );
        wat::parse_str(text).expect("a component")
    }

    fn compiled(number: u32, kept: Option<Bytes>) -> Compiled {
        TARGET.compile(&component(number), kept).expect("compiles")
    }

    #[test]
    fn a_function_that_did_not_change_is_not_compiled_again_and_the_code_is_the_same() {
        let first = compiled(1, Some(Bytes::new()));
        let kept = first.functions.expect("all is new");
        assert_eq!(first.code, compiled(1, None).code, "what keeps functions changes no code");
        let again = compiled(1, Some(kept.clone()));
        assert!(again.functions.is_none(), "nothing is new");
        assert_eq!(again.code, first.code);
        let changed = compiled(2, Some(kept.clone()));
        assert_eq!(changed.code, compiled(2, None).code);
        let before = KeptFunctions::read(kept).known.len();
        let after = KeptFunctions::read(changed.functions.expect("one is new")).known.len();
        assert_eq!(after, before + 1, "one function is another, and what the first one had is still kept");
    }

    #[test]
    fn what_is_cut_off_or_no_function_is_left_out() {
        let store = KeptFunctions::read(Bytes::new());
        for number in 0..3_u8 {
            assert!(store.insert(&[number; 32], vec![number; 100]));
        }
        assert!(!store.insert(b"short", Vec::new()), "that is no digest");
        let kept = store.to_keep().expect("three are new");
        for length in 0..kept.len() {
            let read = KeptFunctions::read(kept.slice(..length));
            assert_eq!(read.known.len(), length / (HEAD_BYTES + 100), "{length}");
        }
        let mut wrong = compiled(1, Some(Bytes::new())).functions.expect("new").to_vec();
        let at = function_at(&wrong, 0).expect("one").1;
        wrong[at].fill(0xff);
        assert_eq!(compiled(1, Some(wrong.into())).code, compiled(1, None).code, "what is no function is compiled");
    }

    #[test]
    fn what_was_not_used_goes_where_there_is_no_room() {
        let store = KeptFunctions::read(Bytes::new());
        store.insert(&[1; 32], vec![1; MAX_BYTES / 2]);
        let store = KeptFunctions::read(store.to_keep().expect("new"));
        store.insert(&[2; 32], vec![2; MAX_BYTES / 2]);
        let store = KeptFunctions::read(store.to_keep().expect("new"));
        assert!(store.get(&[1; 32]).is_none());
        assert!(store.get(&[2; 32]).is_some());
    }
}
