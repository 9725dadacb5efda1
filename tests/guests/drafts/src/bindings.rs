//! Generated from the text of the drafts in `wit/`, as a foreign toolkit does it.

#![allow(missing_docs, unsafe_code, clippy::all, reason = "generated")]
#![allow(unreachable_pub, unused_imports, clippy::unwrap_used, reason = "generated")]

/// The first draft.
pub(crate) mod draft {
    wit_bindgen::generate!({ path: "wit/keyvalue-draft", world: "wasi:keyvalue/imports" });

    /// What the steps of a call hold open.
    #[derive(Default)]
    pub(crate) struct Held {
        pub(crate) bucket: Option<wasi::keyvalue::store::Bucket>,
    }
}

/// The second draft.
pub(crate) mod draft2 {
    wit_bindgen::generate!({ path: "wit/keyvalue-draft2", world: "wasi:keyvalue/imports" });

    /// What the steps of a call hold open.
    #[derive(Default)]
    pub(crate) struct Held {
        pub(crate) bucket: Option<wasi::keyvalue::store::Bucket>,
        pub(crate) cas: Option<wasi::keyvalue::atomics::Cas>,
    }
}

mod configuration {
    wit_bindgen::generate!({ path: "wit/config", world: "wasi:config/imports" });
}

pub(crate) use configuration::wasi::config::store as config;
