//! What has changed of what the plugin offers: told to all who listen.

use wharf_core::{Code, Error, offer::MAX_URI_BYTES, service::offer::Change};

use crate::guest::Guest;

impl Guest {
    pub(super) fn list_changed(&self, list: &str) -> Result<(), Error> {
        let _granted = self.grants.events(&self.plugin)?;
        let announcements = &self.rooms.announcements;
        let told = match list {
            "prompts" => Some(Change::Prompts),
            "resources" => Some(Change::Resources),
            "tools" => None,
            _ => return Err(Error::new(Code::Invalid, "a list is one of `prompts`, `resources`, `tools`")),
        };
        self.budget.event()?;
        match told {
            Some(change) => announcements.tell(change),
            None => announcements.tools_changed(),
        }
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
        self.rooms.announcements.tell(Change::Resource { context: self.context.clone(), uri });
        Ok(())
    }
}
