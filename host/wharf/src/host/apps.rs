//! Tools of the embedding app come and go while the host serves.

use std::sync::Arc;

use wharf_core::SchemaBudget;

use super::Host;
use crate::{
    app::{AppTool, RegisterError},
    registry::Registry,
};

impl Host {
    /// Adds a tool of the app's own beside those of plugins, and returns the
    /// full name under which it is listed: `app__NAME`. Its calls get the same
    /// context, checks, limits (`[limits]`) and line of audit. Clients that
    /// listen are told that the list has changed.
    ///
    /// Compiles its schemas, which takes up to a few milliseconds. A tool that
    /// keeps a clone of this host keeps it open until it is removed.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use serde_json::json;
    /// use wharf::{
    ///     Answer, AppCall, AppTool, CallRequest, Configuration, Content, Context, Host, MemoryStore, TenantId,
    /// };
    ///
    /// let host = Host::open_with(Configuration::default(), std::sync::Arc::new(MemoryStore::default()), None).await?;
    /// let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    /// let greet = AppTool::new("greet", "Greets a person.", schema, |call: AppCall| async move {
    ///     let name = call.arguments["name"].as_str().unwrap_or_default();
    ///     Ok(Answer { content: vec![Content::text(format!("Hello, {name}"))], ..Answer::default() })
    /// });
    /// let name = host.register_tool(greet)?;
    ///
    /// let arguments = json!({"name": "Ada"}).as_object().cloned().unwrap_or_default();
    /// let context = Context::new(TenantId::local(), "my-session".parse()?);
    /// let answer = host.call(CallRequest::new(context, &name, arguments)).await?;
    /// assert_eq!(answer.content[0].as_text(), Some("Hello, Ada"));
    /// assert!(host.unregister_tool(&name));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Where the name is taken or illegal, a schema is refused, or the app has
    /// as many tools as it may; nothing is changed then.
    pub fn register_tool(&self, tool: AppTool) -> Result<String, RegisterError> {
        let registered = Arc::new(tool.check(&mut SchemaBudget::default())?);
        let name = registered.full_name();
        self.change(|present| present.with_app(registered))?;
        Ok(name)
    }

    /// Removes a tool of the app's own by its full name; false where there is
    /// none. Calls in flight finish with the tool that they began with.
    pub fn unregister_tool(&self, name: &str) -> bool {
        self.change(|present| present.without_app(name).ok_or(())).is_ok()
    }

    /// Makes the next registry out of the present one. Clients are told where they
    /// would find something else in it.
    pub(super) fn change<E>(&self, make: impl FnOnce(&Registry) -> Result<Registry, E>) -> Result<(), E> {
        let shared = &self.shared;
        let changing = shared.changing.lock();
        let next = Arc::new(make(&self.registry())?);
        let offered = Arc::clone(&next);
        let before = std::mem::replace(&mut *shared.registry.write(), next);
        let announcements = &shared.backends.announcements;
        if !offered.offers_what(&before) {
            announcements.tools_changed();
        }
        offered.offers().tell_changes(before.offers(), announcements);
        drop(changing);
        shared.changed.send_replace(());
        // What a removed tool holds may ask this host for something when it is
        // dropped.
        drop(before);
        Ok(())
    }
}
