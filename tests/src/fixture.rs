//! A host on a data directory, and calls of it.

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wharf::{Answer, CallRequest, Code, Context, Error};

use crate::{Data, TestedHost, context, in_time, object, until_async};

/// A host and its data directory.
#[derive(Debug)]
pub struct Fixture {
    /// The host.
    pub host: TestedHost,
    /// Where its data is.
    pub data: Data,
}

/// A call that runs beside the test.
#[derive(Debug)]
pub struct Running {
    task: JoinHandle<Result<Answer, Error>>,
    /// Takes it back.
    pub cancel: CancellationToken,
}

impl Running {
    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// The result.
    ///
    /// # Errors
    /// What the call ended with.
    ///
    /// # Panics
    /// Where it did not end, or panicked.
    pub async fn outcome(self) -> Result<Answer, Error> {
        in_time("the call ends", self.task).await.expect("the call does not panic")
    }

    /// Drops the future of the call, wherever it stands, and waits until it is
    /// gone.
    ///
    /// # Panics
    /// Where it had panicked.
    pub async fn drop_it(self) {
        self.task.abort();
        if let Err(error) = self.task.await {
            assert!(error.is_cancelled(), "{error}");
        }
    }
}

impl Fixture {
    /// Calls a tool in the session `test`.
    ///
    /// # Errors
    /// What the call ended with.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, Error> {
        self.call_in(&context("local", "test"), tool, arguments).await
    }

    /// Calls a tool in a context.
    ///
    /// # Errors
    /// What the call ended with.
    pub async fn call_in(&self, context: &Context, tool: &str, arguments: Value) -> Result<Answer, Error> {
        if let Some(named) = self.host.as_named() {
            return named.call(context, tool, arguments).await;
        }
        self.host.call(CallRequest::new(context.clone(), tool, object(arguments))).await
    }

    /// Starts a call without waiting for it.
    #[must_use]
    pub fn start(&self, context: &Context, tool: &str, arguments: Value) -> Running {
        if let Some(named) = self.host.as_named() {
            let (context, tool, cancel) = (context.clone(), tool.to_owned(), CancellationToken::new());
            let taken_back = cancel.clone();
            let task = tokio::spawn(async move {
                let called = taken_back.run_until_cancelled(named.call(&context, &tool, arguments)).await;
                called.unwrap_or_else(|| Err(Error::new(Code::Cancelled, "the call was taken back")))
            });
            return Running { task, cancel };
        }
        let request = CallRequest::new(context.clone(), tool, object(arguments));
        let (host, cancel) = (self.host.clone(), request.caller.cancel.clone());
        Running { task: tokio::spawn(async move { host.call(request).await }), cancel }
    }

    /// The host answers an ordinary call.
    ///
    /// # Panics
    /// Where it does not.
    pub async fn works(&self) {
        let answer = self.call("echo__echo", json!({"text": "still here"})).await.expect("an ordinary call works");
        assert_eq!(answer.content[0].as_text(), Some("still here"));
    }

    /// Waits until so many calls run and so many wait.
    ///
    /// # Panics
    /// Where that does not come.
    pub async fn load_is(&self, running: u64, waiting: u64) {
        until_async(format_args!("{running} calls run and {waiting} wait"), async || {
            let load = match self.host.as_named() {
                Some(named) => named.load().await,
                None => self.host.load(),
            };
            if load == (running, waiting) { Ok(()) } else { Err(load) }
        })
        .await;
    }
}
