//! Where the host's functions are for the guest that is linked: in this process, or in the host
//! while the guest runs in a worker.
//!
//! Host and worker are the same program and link in the same order, so the number of a function
//! names it on both sides.

use std::{future::ready, pin::Pin, sync::Arc};

use wasmtime::{Result, StoreContextMut};

use super::{
    StoreView,
    crossing::{Crossing, from_bytes, to_bytes},
};

/// What a function comes to, in a while.
pub(crate) type RunningFunction<'s, R> = Box<dyn Future<Output = Result<R>> + Send + 's>;

/// A function that a guest in a worker has asked for.
pub(crate) enum AskedOfHost<'s> {
    /// It needs the data of the call until it is over.
    Within(RunningFunction<'s, Vec<u8>>),
    /// It goes on beside the call.
    Beside(RunningFunction<'static, Vec<u8>>),
}

/// A function of the host, from and to bytes.
type FunctionOfBytes<T> = Box<dyn for<'s> Fn(StoreContextMut<'s, T>, &[u8]) -> AskedOfHost<'s> + Send + Sync>;

/// The functions that were linked.
pub(crate) enum LinkedFunctions<T: 'static> {
    /// They are here. A guest in a worker has each called by its number.
    Here(Vec<FunctionOfBytes<T>>),
    /// They are in the host, and so many have been linked.
    InHost(u16),
}

impl<T: 'static> LinkedFunctions<T> {
    /// Of a host.
    pub(crate) fn here() -> Self {
        Self::Here(Vec::new())
    }

    /// Of a worker.
    pub(crate) fn in_host() -> Self {
        Self::InHost(0)
    }

    /// Calls one for a guest in a worker. An error ends the call.
    pub(crate) fn asked<'s>(&self, number: u16, store: StoreContextMut<'s, T>, bytes: &[u8]) -> AskedOfHost<'s> {
        let known = match self {
            Self::Here(functions) => functions.get(usize::from(number)),
            Self::InHost(_) => None,
        };
        match known {
            Some(function) => function(store, bytes),
            None => failed(wasmtime::format_err!("a function that the host does not have")),
        }
    }

    /// The number of the function that is linked next, where the functions are in the host.
    pub(super) fn next_in_host(&mut self) -> Option<u16> {
        match self {
            Self::Here(_) => None,
            Self::InHost(next) => {
                let number = *next;
                *next = next.checked_add(1).expect("fewer functions than there are numbers");
                Some(number)
            }
        }
    }

    /// Takes the numbers of so many functions that no guest can name, where the functions are in the host.
    pub(crate) fn skip_in_host(&mut self, count: u16) -> bool {
        match self {
            Self::Here(_) => false,
            Self::InHost(next) => {
                *next += count;
                true
            }
        }
    }

    fn keep(&mut self, function: FunctionOfBytes<T>) {
        if let Self::Here(functions) = self {
            functions.push(function);
        }
    }

    /// Keeps a function that no guest can name, and that goes on beside the call.
    pub(crate) fn keep_beside<F, Params: Crossing, R, Return: Crossing + 'static>(&mut self, function: F)
    where
        F: Fn(&mut T, Params) -> Result<R> + Send + Sync + 'static,
        R: Future<Output = Return> + Send + 'static,
    {
        self.keep(Box::new(move |mut store, bytes| {
            let parameters = from_bytes(bytes).map_err(wasmtime::Error::new);
            match parameters.and_then(|parameters| function(store.data_mut(), parameters)) {
                Ok(running) => AskedOfHost::Beside(Box::new(async move { Ok(to_bytes(&running.await)) })),
                Err(error) => failed(error),
            }
        }));
    }

    /// Keeps a function that does not wait.
    pub(crate) fn keep_at_once<F, Params: Crossing, Return: Crossing>(&mut self, function: &Arc<F>)
    where
        F: Fn(StoreContextMut<'_, T>, Params) -> Result<Return> + Send + Sync + 'static,
    {
        let function = Arc::clone(function);
        self.keep(Box::new(move |store, bytes| {
            let parameters = from_bytes(bytes).map_err(wasmtime::Error::new);
            let returned = parameters.and_then(|parameters| function(store, parameters));
            AskedOfHost::Within(Box::new(ready(returned.map(|returned| to_bytes(&returned)))))
        }));
    }

    /// Keeps a function that may wait.
    pub(crate) fn keep_waiting<F, Params: Crossing, Return: Crossing + 'static>(&mut self, function: &Arc<F>)
    where
        F: for<'s> Fn(StoreContextMut<'s, T>, Params) -> RunningFunction<'s, Return> + Send + Sync + 'static,
    {
        let function = Arc::clone(function);
        self.keep(Box::new(move |store, bytes| match from_bytes(bytes) {
            Ok(parameters) => {
                let running = Pin::from(function(store, parameters));
                AskedOfHost::Within(Box::new(async move { Ok(to_bytes(&running.await?)) }))
            }
            Err(malformed) => failed(wasmtime::Error::new(malformed)),
        }));
    }
}

fn failed<'s>(error: wasmtime::Error) -> AskedOfHost<'s> {
    AskedOfHost::Within(Box::new(ready(Err(error))))
}

/// What a worker links in place of a function of the host: it has the host call that one.
pub(super) fn asking<T, Params: Crossing, Return: Crossing + 'static>(
    view: fn(&T) -> StoreView<'_>,
    number: u16,
) -> impl for<'s> Fn(StoreContextMut<'s, T>, Params) -> RunningFunction<'s, Return> + Send + Sync + 'static
where
    T: 'static,
{
    move |store, parameters| {
        let call = Arc::clone(view(store.data()).call);
        let bytes = to_bytes(&parameters);
        Box::new(async move { call.ask_host(number, bytes).await })
    }
}
