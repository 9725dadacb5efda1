//! The bindings of contract version 0.1, generated from its WIT text.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "everything",
    imports: {
        "wharf:plugin/state.[method]bucket.get-many": async | trappable,
        "wharf:plugin/state.[method]bucket.apply": async | trappable,
        "wharf:plugin/state.[method]bucket.scan": async | trappable,
        "wharf:plugin/state.[method]bucket.usage": async | trappable,
        "wharf:plugin/state.[method]bucket.expired-at": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    with: { "wharf:plugin/state.bucket": crate::bucket::Bucket },
});
