//! Tools of connected front ends, and what each tenant sees of all tools.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use wharf_core::{
    Answer, CallRequest, Error, FrontEndService, RequestMemory, TenantId, ToolDefinition, ToolService, Tracer,
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
    /// [`Host::tools_of`] lists these tools; [`ToolService::tools`] of the host
    /// itself has those that all tenants see. Compiles the schemas, which takes up
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

    /// Who hears, for the audit, of requests that showed no token which opens anything.
    #[must_use]
    pub fn refusal_sink(&self) -> Arc<dyn RefusalSink> {
        Refusals::new(Arc::clone(&self.shared.recorder))
    }

    /// The tools that this tenant sees: those of plugins and of the app, and those
    /// of its own front ends.
    #[must_use]
    pub fn tools_of(&self, tenant: &TenantId) -> Arc<dyn ToolService> {
        Arc::new(ToolsOfTenant { host: self.clone(), tenant: tenant.clone(), made: Mutex::default() })
    }
}

struct ToolsOfTenant {
    host: Host,
    tenant: TenantId,
    // A lock of the standard library: held to compare pointers, or to make a list.
    made: Mutex<Option<Lists>>,
}

/// The list of all tenants, that of this one's front ends, and both together.
type Lists = [Arc<[ToolDefinition]>; 3];

#[async_trait::async_trait]
impl ToolService for ToolsOfTenant {
    fn tools(&self) -> Arc<[ToolDefinition]> {
        let of_all = self.host.tools();
        let Some(own) = self.host.shared.front_ends.definitions(&self.tenant) else { return of_all };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some([all, owned, both]) if Arc::ptr_eq(all, &of_all) && Arc::ptr_eq(owned, &own) => Arc::clone(both),
            _ => {
                let mut both: Vec<_> = of_all.iter().chain(own.iter()).cloned().collect();
                both.sort_by(|one, other| one.name.cmp(&other.name));
                let both: Arc<[_]> = both.into();
                *made = Some([of_all, own, Arc::clone(&both)]);
                both
            }
        }
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.host.shared.rooms.announcements.listen_to_tools_of_tenant(&self.tenant))
    }

    fn of_tenant(&self, tenant: &TenantId) -> Option<Arc<dyn ToolService>> {
        Some(self.host.tools_of(tenant))
    }

    fn tracer(&self) -> Option<Tracer> {
        self.host.tracer()
    }

    fn request_memory(&self) -> Option<RequestMemory> {
        self.host.request_memory()
    }

    fn plugin_of(&self, tool: &str) -> Option<String> {
        self.host.plugin_of(tool).or_else(|| {
            self.host.shared.front_ends.find(&self.tenant, tool)?;
            tool.split_once("__").map(|(front_end, _)| front_end.to_owned())
        })
    }

    async fn call(&self, request: CallRequest) -> Result<Answer, Error> {
        self.host.call(request).await
    }
}
