//! The bindings of contract version 0.1, generated from its WIT text.

wharf_contract::bindings!(wasmtime::component::bindgen, {
    world: "everything",
    // Wasmtime with a linker of the host's own.
    wasmtime_crate: crate::watch,
    imports: {
        "wharf:plugin/state.[method]bucket.get-many": async | trappable,
        "wharf:plugin/state.[method]bucket.apply": async | trappable,
        "wharf:plugin/state.[method]bucket.scan": async | trappable,
        "wharf:plugin/state.[method]bucket.usage": async | trappable,
        "wharf:plugin/state.[method]bucket.expired-at": async | trappable,
        "wharf:plugin/process.status": async | trappable,
        "wharf:plugin/process.spawn": async | trappable,
        "wharf:plugin/process.spawn-shell": async | trappable,
        "wharf:plugin/process.list": async | trappable,
        "wharf:plugin/process.poll": async | trappable,
        "wharf:plugin/process.wait": async | trappable,
        "wharf:plugin/process.read": async | trappable,
        "wharf:plugin/process.head": async | trappable,
        "wharf:plugin/process.tail": async | trappable,
        "wharf:plugin/process.write": async | trappable,
        "wharf:plugin/process.close-input": async | trappable,
        "wharf:plugin/process.signal": async | trappable,
        "wharf:plugin/process.stop": async | trappable,
        "wharf:plugin/terminal.status": async | trappable,
        "wharf:plugin/terminal.start": async | trappable,
        "wharf:plugin/terminal.start-shell": async | trappable,
        "wharf:plugin/terminal.send": async | trappable,
        "wharf:plugin/terminal.follow": async | trappable,
        "wharf:plugin/terminal.press": async | trappable,
        "wharf:plugin/terminal.read": async | trappable,
        "wharf:plugin/terminal.close": async | trappable,
        "wharf:plugin/webview.close": async | trappable,
        "wharf:plugin/webview.perform": async | trappable,
        "wharf:plugin/webview.wait": async | trappable,
        "wharf:plugin/webview.read-result": async | trappable,
        "wharf:plugin/workspace.files": async | trappable,
        "wharf:plugin/workspace.create": async | trappable,
        "wharf:plugin/workspace.measure": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    trappable_error_type: { "wharf:plugin/types.error" => crate::failure::Failure },
    with: { "wharf:plugin/state.bucket": crate::bucket::Bucket },
});

/// What a plugin may export beside its tools: each is looked for by its name.
pub(crate) mod offered {
    wharf_contract::bindings!(wasmtime::component::bindgen, {
        inline: "
            package wharf:host;

            world offered {
                export wharf:plugin/prompts@0.1.5;
                export wharf:plugin/resources@0.1.5;
                export wharf:plugin/completion@0.1.5;
            }
        ",
        world: "wharf:host/offered",
        wasmtime_crate: crate::watch,
        exports: { default: async },
        with: { "wharf:plugin/types@0.1.5": crate::bindings::wharf::plugin::types },
    });
}
