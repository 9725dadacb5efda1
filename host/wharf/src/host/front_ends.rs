//! Front ends: how they are connected, and where refused ones are recorded.

use std::sync::Arc;

use wharf_core::{
    Error, FrontEndService,
    audit::RefusalSink,
    service::front_end::{ConnectFrontEnd, FrontEndOwner},
};

use super::Host;
use crate::{
    front_ends::{FrontEnd, ServedFrontEnds},
    recorder::refusals::Refusals,
};

impl Host {
    /// Connects a front end, such as a page or a window of the app, over a channel
    /// of the app's own: its functions are tools of one tenant for as long as what
    /// is returned lives, listed as `app_NAME__TOOL`. Each call becomes an event,
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
    /// }))?)?;
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
    /// taken, `limit` where there are as many as may be, or too much is said.
    pub fn connect_front_end(&self, owner: &FrontEndOwner, front_end: ConnectFrontEnd) -> Result<FrontEnd, Error> {
        FrontEnd::connect(&self.shared.front_ends, owner, front_end)
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
