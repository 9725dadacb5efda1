//! The wrapper of every host function of ours. It counts a call before the function runs, and
//! tells the audit the function, its subject, how it ended, how much it moved and how long it
//! took.
//!
//! The bindings are generated against this module as if it were wasmtime: it re-exports all
//! of it but the linker, whose functions it wraps. So no adapter can forget to count or to be
//! audited, and a new interface is counted from its first day. The wrapper knows nothing of
//! what an interface does; only `subject` has a table of functions.
//!
//! In a worker it links, in place of each function, one that asks the host for it (see `linked`).
//!
//! It links a function only if each parameter has a [`Weight`](weight::Weight) and can cross to a
//! worker. One that takes a type without them does not compile:
//!
//! ```text
//! linker.instance("example")?.func_wrap("f", |_, (path,): (PathBuf,)| Ok(()))
//! error[E0277]: the trait bound `PathBuf: Weight` is not satisfied
//! ```

pub(crate) mod crossing;
pub(crate) mod linked;
mod outcome;
mod subject;
mod tuples;
pub(crate) mod weight;

use std::{sync::Arc, time::Instant};

pub(crate) use outcome::{Refusal, Returned};
pub(crate) use subject::Parameters;
pub(crate) use wasmtime::*;
pub(crate) use weight::weigh;
use wharf_core::{
    Code,
    audit::{AuditOutcome, HostCall},
};

use self::linked::LinkedFunctions;
use crate::{budget::ExceededLimit, call::ActiveCall};
use component::ResourceTable;

/// What the bindings know as `wasmtime::component`.
pub(crate) mod component {
    use std::{future::ready, pin::Pin, sync::Arc};

    pub(crate) use wasmtime::component::*;
    use wasmtime::{Result, StoreContextMut};

    use super::{
        Parameters, Returned, StoreView, WatchedCall,
        crossing::{Crossing, to_bytes},
        function_name,
        linked::{LinkedFunctions, RunningFunction, asking},
    };

    /// A linker that counts each call and tells the audit.
    pub(crate) struct Linker<T: 'static> {
        pub(super) inner: wasmtime::component::Linker<T>,
        pub(super) view: fn(&T) -> StoreView<'_>,
        pub(super) functions: LinkedFunctions<T>,
    }

    impl<T: 'static> Linker<T> {
        pub(crate) fn instance(&mut self, name: &str) -> Result<LinkerInstance<'_, T>> {
            let Self { inner, view, functions } = self;
            Ok(LinkerInstance { inner: inner.instance(name)?, interface: name.into(), view: *view, functions })
        }

        #[expect(dead_code, reason = "the bindings name it; instances are made of the whole linker")]
        pub(crate) fn instantiate_pre(&self, component: &Component) -> Result<InstancePre<T>> {
            self.inner.instantiate_pre(component)
        }
    }

    /// The functions of one interface.
    pub(crate) struct LinkerInstance<'l, T: 'static> {
        inner: wasmtime::component::LinkerInstance<'l, T>,
        interface: Box<str>,
        view: fn(&T) -> StoreView<'_>,
        functions: &'l mut LinkedFunctions<T>,
    }

    impl<T: 'static> LinkerInstance<'_, T> {
        pub(crate) fn func_wrap<F, Params, Return>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Result<Return> + Send + Sync + 'static,
            Params: ComponentNamedList + Lift + Parameters + 'static,
            Return: ComponentNamedList + Lower + Returned + 'static,
        {
            let (called, view) = (function_name(&self.interface, name), self.view);
            self.link_at_once(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                let watch = WatchedCall::begin(view(store.data()), &called, &parameters)?;
                watch.end(function(store, parameters))
            })
        }

        pub(crate) fn func_wrap_async<Params, Return, F>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Box<dyn Future<Output = Result<Return>> + Send + '_>
                + Send
                + Sync
                + 'static,
            Params: ComponentNamedList + Lift + Parameters + 'static,
            Return: ComponentNamedList + Lower + Returned + 'static,
        {
            let (called, view) = (function_name(&self.interface, name), self.view);
            self.link_waiting(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                let watch = match WatchedCall::begin(view(store.data()), &called, &parameters) {
                    Ok(watch) => watch,
                    Err(exceeded) => return Box::new(ready(Err(exceeded.into()))) as RunningFunction<'_, Return>,
                };
                let running = Pin::from(function(store, parameters));
                Box::new(async move { watch.end(running.await) })
            })
        }

        /// Links a function that moves data of an open file. It counts like all others, but the
        /// audit does not hear of it: the record of `open-at` says enough. Its return value
        /// does not count, since reading files is free.
        pub(crate) fn func_wrap_untold<F, Params, Return>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Result<Return> + Send + Sync + 'static,
            Params: ComponentNamedList + Lift + Parameters + 'static,
            Return: ComponentNamedList + Lower + Crossing + 'static,
        {
            let view = self.view;
            self.link_at_once(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                view(store.data()).call.budget.host_call(parameters.weight())?;
                function(store, parameters)
            })
        }

        /// As [`Self::func_wrap_untold`].
        pub(crate) fn func_wrap_async_untold<Params, Return, F>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Box<dyn Future<Output = Result<Return>> + Send + '_>
                + Send
                + Sync
                + 'static,
            Params: ComponentNamedList + Lift + Parameters + 'static,
            Return: ComponentNamedList + Lower + Crossing + 'static,
        {
            let view = self.view;
            self.link_waiting(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                match view(store.data()).call.budget.host_call(parameters.weight()) {
                    Ok(()) => function(store, parameters),
                    Err(exceeded) => Box::new(ready(Err(exceeded.into()))),
                }
            })
        }

        /// Links a function that opens a stream, as [`Self::func_wrap_untold`]. A guest in a worker
        /// gets a stream of the worker's, which `of_host` makes of the one in the host.
        pub(crate) fn func_wrap_stream<F, Params, S, E>(
            &mut self,
            name: &str,
            function: F,
            of_host: fn(&mut T, Resource<S>) -> Result<Resource<S>>,
        ) -> Result<()>
        where
            T: Send,
            F: Fn(StoreContextMut<'_, T>, Params) -> Result<(Result<Resource<S>, E>,)> + Send + Sync + 'static,
            Params: ComponentNamedList + Lift + Parameters + 'static,
            S: 'static,
            E: Crossing + Send + 'static,
            (Result<Resource<S>, E>,): ComponentNamedList + Lower,
        {
            let Some(number) = self.functions.next_in_host() else {
                return self.func_wrap_untold(name, function);
            };
            let view = self.view;
            self.inner.func_wrap_async(name, move |mut store: StoreContextMut<'_, T>, parameters: Params| {
                let call = Arc::clone(view(store.data()).call);
                let parameters = to_bytes(&parameters);
                Box::new(async move {
                    let opened: Result<Resource<S>, E> = call.ask_host(number, parameters).await?;
                    Ok((match opened {
                        Ok(stream) => Ok(of_host(store.data_mut(), stream)?),
                        Err(error) => Err(error),
                    },))
                })
            })
        }

        /// Links a function about what is where the guest is. It counts, also in a worker.
        pub(crate) fn func_wrap_on_the_spot<F, Params, Return>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Result<Return> + Send + Sync + 'static,
            Params: ComponentNamedList + Lift + Parameters + 'static,
            Return: ComponentNamedList + Lower + 'static,
        {
            let view = self.view;
            self.inner.func_wrap(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                view(store.data()).call.budget.host_call(parameters.weight())?;
                function(store, parameters)
            })
        }

        /// The end of a handle is no host call.
        pub(crate) fn resource(
            &mut self,
            name: &str,
            kind: ResourceType,
            end: impl Fn(StoreContextMut<'_, T>, u32) -> Result<()> + Send + Sync + 'static,
        ) -> Result<()> {
            if let Some(number) = self.functions.next_in_host() {
                let view = self.view;
                return self
                    .inner
                    .resource(name, kind, move |store, handle| view(store.data()).call.tell_host(number, &(handle,)));
            }
            let end = Arc::new(end);
            let ending = Arc::clone(&end);
            self.functions
                .keep_at_once(&Arc::new(move |store: StoreContextMut<'_, T>, (handle,): (u32,)| ending(store, handle)));
            self.inner.resource(name, kind, move |store, handle| end(store, handle))
        }

        fn link_at_once<F, Params, Return>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: Fn(StoreContextMut<'_, T>, Params) -> Result<Return> + Send + Sync + 'static,
            Params: ComponentNamedList + Lift + Crossing + 'static,
            Return: ComponentNamedList + Lower + Crossing + 'static,
        {
            if let Some(number) = self.functions.next_in_host() {
                return self.inner.func_wrap_async(name, asking::<T, Params, Return>(self.view, number));
            }
            let function = Arc::new(function);
            self.functions.keep_at_once(&function);
            self.inner
                .func_wrap(name, move |store: StoreContextMut<'_, T>, parameters: Params| function(store, parameters))
        }

        fn link_waiting<F, Params, Return>(&mut self, name: &str, function: F) -> Result<()>
        where
            F: for<'s> Fn(StoreContextMut<'s, T>, Params) -> RunningFunction<'s, Return> + Send + Sync + 'static,
            Params: ComponentNamedList + Lift + Crossing + 'static,
            Return: ComponentNamedList + Lower + Crossing + 'static,
        {
            if let Some(number) = self.functions.next_in_host() {
                return self.inner.func_wrap_async(name, asking::<T, Params, Return>(self.view, number));
            }
            let function = Arc::new(function);
            self.functions.keep_waiting(&function);
            self.inner.func_wrap_async(name, move |store: StoreContextMut<'_, T>, parameters: Params| {
                function(store, parameters)
            })
        }
    }
}

/// The parts of a store's data that the wrapper needs.
pub(crate) struct StoreView<'d> {
    pub(crate) call: &'d Arc<ActiveCall>,
    pub(crate) table: &'d ResourceTable,
}

/// Links functions of ours, and adds them to `functions`.
pub(crate) fn watched<T: 'static>(
    linker: &mut wasmtime::component::Linker<T>,
    functions: &mut LinkedFunctions<T>,
    view: fn(&T) -> StoreView<'_>,
    link: impl FnOnce(&mut component::Linker<T>) -> Result<()>,
) -> Result<()> {
    let inner = std::mem::replace(linker, wasmtime::component::Linker::new(linker.engine()));
    let mut watched =
        component::Linker { inner, view, functions: std::mem::replace(functions, LinkedFunctions::here()) };
    let linked = link(&mut watched);
    (*linker, *functions) = (watched.inner, watched.functions);
    linked
}

/// `process.spawn` of `wharf:plugin/process@0.1.4` and `spawn`,
/// `filesystem.descriptor.open-at` of `wasi:filesystem/types@0.2.12` and
/// `[method]descriptor.open-at`. The first word is the capability that is asked for.
fn function_name(interface: &str, name: &str) -> Arc<str> {
    let unversioned = interface.split_once('@').map_or(interface, |(path, _)| path);
    let interface = match unversioned.split_once('/') {
        Some(("wharf:plugin", interface)) => interface,
        Some(("wasi:keyvalue", _)) => "state.keyvalue",
        Some(("wasi:config", _)) => "settings.config",
        Some((package, _)) => package.rsplit(':').next().unwrap_or(package),
        None => unversioned,
    };
    let name = name.split_once(']').map_or(name, |(_, name)| name);
    format!("{interface}.{name}").into()
}

/// One host call that was counted and has begun.
struct WatchedCall {
    call: Arc<ActiveCall>,
    /// Where the audit listens: the beginning of its record.
    record: Option<CallRecord>,
}

struct CallRecord {
    function: Arc<str>,
    subject: Option<Box<str>>,
    began: Instant,
    from_guest: u64,
    moved: u64,
}

impl WatchedCall {
    /// Counts the call and its parameters.
    fn begin(view: StoreView<'_>, function: &Arc<str>, parameters: &impl Parameters) -> Result<Self, ExceededLimit> {
        let call = Arc::clone(view.call);
        let record = call.audit().map(|audit| {
            audit.asked_host();
            let names = audit.interest().names;
            let subject = if names { subject::of(view.table, function, parameters) } else { None };
            let (from_guest, moved) = call.budget.traffic();
            CallRecord { function: Arc::clone(function), subject, began: Instant::now(), from_guest, moved }
        });
        let mut watch = Self { call, record };
        match watch.call.budget.host_call(parameters.weight()) {
            Ok(()) => Ok(watch),
            Err(exceeded) => {
                watch.tell(AuditOutcome::Failed(Code::Limit));
                Err(exceeded)
            }
        }
    }

    /// Counts the return value.
    fn end<R: Returned>(mut self, returned: Result<R>) -> Result<R> {
        let returned = returned.and_then(|returned| {
            self.call.budget.moved(returned.weight())?;
            Ok(returned)
        });
        // An error that ends the call itself is nearly always a limit.
        let outcome = returned.as_ref().map_or(AuditOutcome::Failed(Code::Limit), Returned::outcome);
        self.tell(outcome);
        returned
    }

    fn tell(&mut self, outcome: AuditOutcome) {
        let (Some(record), Some(audit)) = (self.record.take(), self.call.audit()) else { return };
        let (from_guest, moved) = self.call.budget.traffic();
        let bytes_in = from_guest.saturating_sub(record.from_guest);
        audit.host_call(HostCall {
            function: record.function,
            asked: record.subject,
            outcome,
            bytes_in,
            bytes_out: moved.saturating_sub(record.moved).saturating_sub(bytes_in),
            took: record.began.elapsed(),
        });
    }
}

impl Drop for WatchedCall {
    /// The call ended while it waited here.
    fn drop(&mut self) {
        self.tell(AuditOutcome::Failed(Code::Cancelled));
    }
}

#[cfg(test)]
mod tests;
