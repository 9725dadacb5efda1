//! Front ends: how they are connected, and where refused ones are recorded.

use std::sync::Arc;

use wharf_core::{
    Answer, Error, FrontEndService,
    audit::{AuditOutcome, RefusalSink, RunningCall},
    service::{
        Caller, HomeQuestion, HomeRequest,
        front_end::{ConnectFrontEnd, FrontEndOwner},
    },
};

use super::Host;
use crate::{
    front_ends::{FrontEnd, OtherTool, ServedFrontEnds},
    recorder::refusals::Refusals,
};

impl Host {
    /// Connects a front end, such as a page or a window of the app, over a channel
    /// of the app's own: its functions are tools of one tenant for as long as what
    /// is returned lives, listed as `app_NAME__TOOL`, at all hosts of a cluster. Each call becomes an event,
    /// and waits for its answer; it gets the same context, checks, limits and line
    /// of audit as any other. Dropping it ends the calls that wait with `gone`.
    ///
    /// [`ToolService::tools`] lists them for viewers of this tenant alone. Compiles the schemas, which takes up
    /// to a few milliseconds for each.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use serde_json::{from_value, json};
    /// use wharf::{CallRequest, Context, Host, TenantId, front_end::{FrontEndEvent, FrontEndOwner}};
    /// # let configuration = wharf::Configuration::parse("[plugin.browser]\nenabled = false\n\
    /// #     [plugin.content-store]\nenabled = false\n[plugin.playbook]\nenabled = false", ".".as_ref())?;
    ///
    /// let host = Host::builder(configuration).open().await?;
    /// let owner = FrontEndOwner { tenant: TenantId::local(), client: "my-window".into() };
    /// let mut window = host.connect_front_end(&owner, from_value(json!({
    ///     "name": "editor",
    ///     "tools": [{
    ///         "name": "selection",
    ///         "description": "Returns the text that the user has selected.",
    ///         "input_schema": {"type": "object"},
    ///     }],
    /// }))?).await?;
    ///
    /// let context = Context::new(TenantId::local(), "my-session".parse()?);
    /// let call = host.call(CallRequest::new(context, "app_editor__selection", Default::default()));
    /// let serve = async {
    ///     if let Some(FrontEndEvent::Call(call)) = window.next().await {
    ///         let answer = from_value(json!({"content": [{"text": "To be or not to be"}]}))?;
    ///         window.answer(call.number, answer)?;
    ///     }
    ///     Ok::<_, Box<dyn std::error::Error>>(())
    /// };
    /// let (answer, served) = tokio::join!(call, serve);
    /// served?;
    /// assert_eq!(answer?.content[0].as_text(), Some("To be or not to be"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `invalid` for a definition that is refused, `conflict` where the name is
    /// taken, `limit` where there are as many as may be, or too much is said; `unavailable` where
    /// the database of the cluster does not answer.
    pub async fn connect_front_end(
        &self,
        owner: &FrontEndOwner,
        front_end: ConnectFrontEnd,
    ) -> Result<FrontEnd, Error> {
        FrontEnd::connect(&self.shared.front_ends, owner, front_end).await
    }

    /// Has the host that a front end is connected at make a call.
    pub(super) async fn call_at_other(
        &self,
        tool: &OtherTool,
        name: &str,
        caller: &Arc<Caller>,
        running: RunningCall,
        asked: HomeQuestion,
    ) -> Result<Answer, Error> {
        let asking = async {
            let host = self.shared.front_ends.host_of(&tool.front_end).await?;
            tracing::debug!(target: "wharf::cell", tool = name, host = host.host(), "a call is passed on to the host of its front end");
            let request = HomeRequest { caller: Arc::clone(caller), asked };
            self.ask_other(&*host, &self.shared.app_limits, request).await?.into_call()
        };
        let answered: Result<_, Error> = asking.await;
        running.ended(AuditOutcome::of(&answered));
        answered
    }

    /// The front ends of this host, for transports.
    #[must_use]
    pub fn front_end_service(&self) -> Arc<dyn FrontEndService> {
        Arc::new(ServedFrontEnds::new(&self.shared.front_ends))
    }

    /// The sink that records, for the audit, requests that showed no token which opens them.
    #[must_use]
    pub fn refusal_sink(&self) -> Arc<dyn RefusalSink> {
        Refusals::new(Arc::clone(&self.shared.recorder))
    }
}
