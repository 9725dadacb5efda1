//! What has changed of what the plugin offers: told to who listens in the tenant of
//! the call.

use wharf_contract::events::List;
use wharf_core::{
    Code, Error,
    offer::MAX_URI_BYTES,
    service::offer::{Change, Reach},
};

use crate::guest::Guest;

impl Guest {
    pub(super) fn list_changed(&self, list: &str) -> Result<(), Error> {
        let _granted = self.grants.events(&self.plugin)?;
        let kind = match List::find(list) {
            Some(List::Prompts) => Change::Prompts,
            Some(List::Resources) => Change::Resources,
            Some(List::Tools) => Change::Tools,
            None => return Err(Error::new(Code::Invalid, "a list is one of `prompts`, `resources`, `tools`")),
        };
        self.budget.event()?;
        self.rooms.announcements.tell(kind(Reach::of_call(&self.context, &self.plugin)));
        Ok(())
    }

    pub(super) fn resource_updated(&self, uri: String) -> Result<(), Error> {
        let _granted = self.grants.events(&self.plugin)?;
        if !self.claims.cover(&uri) {
            return Err(Error::new(
                Code::Invalid,
                format!("`uri` must start with what this plugin claims, and have at most {MAX_URI_BYTES} bytes"),
            ));
        }
        self.budget.event()?;
        let (context, plugin) = (self.context.clone(), self.plugin.clone());
        self.rooms.announcements.tell(Change::Resource { context, uri, plugin });
        Ok(())
    }
}
