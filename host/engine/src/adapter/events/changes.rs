//! What has changed of what the plugin offers: told to who listens in the tenant of
//! the call.

use wharf_core::{
    Code, Error,
    offer::MAX_URI_BYTES,
    service::{Audience, offer::Change},
};

use crate::guest::Guest;

impl Guest {
    pub(super) fn list_changed(&self, list: &str) -> Result<(), Error> {
        let _granted = self.call.grants().events(&self.call.plugin)?;
        let kind = match list {
            "prompts" => Change::Prompts,
            "resources" => Change::Resources,
            "tools" => Change::Tools,
            _ => return Err(Error::new(Code::Invalid, "a list is one of `prompts`, `resources`, `tools`")),
        };
        self.call.budget.event()?;
        self.call.rooms.announcements.tell(kind(Audience::of_call(self.call.context(), &self.call.plugin)));
        Ok(())
    }

    pub(super) fn resource_updated(&self, uri: String) -> Result<(), Error> {
        let _granted = self.call.grants().events(&self.call.plugin)?;
        if !self.call.claims.cover(&uri) {
            return Err(Error::new(
                Code::Invalid,
                format!("`uri` must start with what this plugin claims, and have at most {MAX_URI_BYTES} bytes"),
            ));
        }
        self.call.budget.event()?;
        let (context, plugin) = (self.call.context().clone(), self.call.plugin.clone());
        self.call.rooms.announcements.tell(Change::Resource { context, uri, plugin });
        Ok(())
    }
}
