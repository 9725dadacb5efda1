//! Where every host call passes once, whatever interface it belongs to: says to
//! the audit what was called, about what, how it ended, how much it moved and
//! how long it took.
//!
//! The bindings are generated against this module as if it were wasmtime: it is
//! all of it but for the linker, whose functions are watched. So an adapter
//! cannot forget to be audited, and a new interface is from its first day.
//! Knows nothing of what an interface does, but for `asked`.

mod answered;
mod asked;

use std::{sync::Arc, time::Instant};

pub(crate) use wasmtime::*;
use wharf_core::{
    Code,
    audit::{AuditOutcome, CallAudit, HostCall},
};

use crate::{call::ActiveCall, guest::Guest};
use answered::Answered;
use asked::Asked;

/// What the bindings know as `wasmtime::component`.
pub(crate) mod component {
    use std::pin::Pin;

    pub(crate) use wasmtime::component::*;
    use wasmtime::{Result, StoreContextMut};

    use super::{Answered, Asked, Guest, Watch, function_name};

    /// A linker whose functions are watched.
    pub(crate) struct Linker<T: 'static> {
        pub(super) inner: wasmtime::component::Linker<T>,
        pub(super) view: fn(&T) -> &Guest,
    }

    impl<T: 'static> Linker<T> {
        pub(crate) fn instance(&mut self, name: &str) -> Result<LinkerInstance<'_, T>> {
            Ok(LinkerInstance { inner: self.inner.instance(name)?, interface: name.into(), view: self.view })
        }

        #[expect(dead_code, reason = "the bindings name it; instances are made of the whole linker")]
        pub(crate) fn instantiate_pre(&self, component: &Component) -> Result<InstancePre<T>> {
            self.inner.instantiate_pre(component)
        }
    }

    /// The functions of one interface, watched.
    pub(crate) struct LinkerInstance<'l, T: 'static> {
        inner: wasmtime::component::LinkerInstance<'l, T>,
        interface: Box<str>,
        view: fn(&T) -> &Guest,
    }

    impl<T: 'static> LinkerInstance<'_, T> {
        pub(crate) fn func_wrap<F, Params, Return>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Result<Return> + Send + Sync + 'static,
            Params: ComponentNamedList + Lift + Asked + 'static,
            Return: ComponentNamedList + Lower + Answered + 'static,
        {
            let (called, view) = (function_name(&self.interface, name), self.view);
            self.inner.func_wrap(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                let Some(watch) = Watch::begin(view(store.data()), &called, &parameters) else {
                    return function(store, parameters);
                };
                watch.end(function(store, parameters))
            })
        }

        pub(crate) fn func_wrap_async<Params, Return, F>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Box<dyn Future<Output = Result<Return>> + Send + '_>
                + Send
                + Sync
                + 'static,
            Params: ComponentNamedList + Lift + Asked + 'static,
            Return: ComponentNamedList + Lower + Answered + 'static,
        {
            let (called, view) = (function_name(&self.interface, name), self.view);
            self.inner.func_wrap_async(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                let Some(watch) = Watch::begin(view(store.data()), &called, &parameters) else {
                    return function(store, parameters);
                };
                let running = Pin::from(function(store, parameters));
                Box::new(async move { watch.end(running.await) })
            })
        }

        /// The end of a handle is no host call.
        pub(crate) fn resource(
            &mut self,
            name: &str,
            kind: ResourceType,
            end: impl Fn(StoreContextMut<'_, T>, u32) -> Result<()> + Send + Sync + 'static,
        ) -> Result<()> {
            self.inner.resource(name, kind, end)
        }
    }
}

/// Links what is watched.
pub(crate) fn watched(
    linker: &mut wasmtime::component::Linker<Guest>,
    link: impl FnOnce(&mut component::Linker<Guest>) -> Result<()>,
) -> Result<()> {
    let inner = std::mem::replace(linker, wasmtime::component::Linker::new(linker.engine()));
    let mut watched = component::Linker { inner, view: |guest| guest };
    let linked = link(&mut watched);
    *linker = watched.inner;
    linked
}

/// `process.spawn` of `wharf:plugin/process@0.1.4` and `spawn`,
/// `filesystem.descriptor.open-at` of `wasi:filesystem/types@0.2.12` and
/// `[method]descriptor.open-at`.
fn function_name(interface: &str, name: &str) -> Arc<str> {
    let unversioned = interface.split_once('@').map_or(interface, |(path, _)| path);
    let interface = match unversioned.split_once('/') {
        Some(("wharf:plugin", interface)) => interface,
        Some((package, _)) => package.rsplit(':').next().unwrap_or(package),
        None => unversioned,
    };
    let name = name.split_once(']').map_or(name, |(_, name)| name);
    format!("{interface}.{name}").into()
}

/// One host call that has begun.
struct Watch {
    call: Arc<ActiveCall>,
    audit: Arc<CallAudit>,
    function: Arc<str>,
    asked: Option<Box<str>>,
    began: Instant,
    from_guest: u64,
    moved: u64,
    told: bool,
}

impl Watch {
    /// Nothing where nobody listens.
    fn begin(guest: &Guest, function: &Arc<str>, parameters: &impl Asked) -> Option<Self> {
        let audit = guest.call.audit.as_ref()?;
        let asked = if audit.interest().names { asked::about(guest, function, parameters) } else { None };
        let (from_guest, moved) = guest.call.budget.traffic();
        Some(Self {
            call: Arc::clone(&guest.call),
            audit: Arc::clone(audit),
            function: Arc::clone(function),
            asked,
            began: Instant::now(),
            from_guest,
            moved,
            told: false,
        })
    }

    fn end<R: Answered>(mut self, returned: Result<R>) -> Result<R> {
        // What ends the call itself is a limit, nearly always.
        let outcome = returned.as_ref().map_or(AuditOutcome::Failed(Code::Limit), Answered::outcome);
        self.tell(outcome);
        returned
    }

    fn tell(&mut self, outcome: AuditOutcome) {
        self.told = true;
        let (from_guest, moved) = self.call.budget.traffic();
        let bytes_in = from_guest.saturating_sub(self.from_guest);
        self.audit.host_call(HostCall {
            function: Arc::clone(&self.function),
            asked: self.asked.take(),
            outcome,
            bytes_in,
            bytes_out: moved.saturating_sub(self.moved).saturating_sub(bytes_in),
            took: self.began.elapsed(),
        });
    }
}

impl Drop for Watch {
    /// The call ended while it waited here.
    fn drop(&mut self) {
        if !self.told {
            self.tell(AuditOutcome::Failed(Code::Cancelled));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_by_its_interface_without_version_and_kind() {
        for (interface, name, called) in [
            ("wharf:plugin/process@0.1.4", "spawn", "process.spawn"),
            ("wharf:plugin/state@0.1.0", "[method]bucket.get-many", "state.bucket.get-many"),
            ("wasi:filesystem/types@0.2.12", "[method]descriptor.open-at", "filesystem.descriptor.open-at"),
            ("odd", "name", "odd.name"),
        ] {
            assert_eq!(&*function_name(interface, name), called, "{interface}");
        }
    }
}
