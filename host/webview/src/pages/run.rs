//! Hands over scripts and operations.

use std::time::Duration;

use url::Url;
use wharf_contract::webview::OperationName;
use wharf_core::{Origin, WebViewOwner, grant::GrantedWebView};

use super::{Core, Script, WebViews, parameters::patience};
use crate::{
    Failure, FailureKind, Injection, Operation, Order, PageId, RequestId, Token, WebViewError,
    operation_request::{self, OperationRequest},
    page::BackendCommand,
    requests::{NewRequest, RequestTask, RequestWork},
};

impl WebViews {
    /// Runs a script in a page. Returns the id of the request at once.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`]; [`WebViewError::Closed`];
    /// [`WebViewError::TooManyRequests`]; [`WebViewError::TooMuch`];
    /// [`WebViewError::Invalid`].
    pub fn execute(&self, owner: &WebViewOwner, page: PageId, script: Script) -> Result<RequestId, WebViewError> {
        let core = &self.core;
        let page = self.find(owner, page)?;
        script.check()?;
        let patience = patience(&core.limits, script.deadline)?;
        let Script { source, isolated, frame, max_bytes, .. } = script;
        let (id, token) = core.ids()?;
        let most = core.limits.result_bytes.min(core.limits.result_bytes_per_page);
        let max_bytes = max_bytes.map_or(most, |asked| most.min(u64::from(asked)));
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let sources = page.result_store.run(&source, max_bytes);
        let unable = (isolated && !core.backend.abilities().isolated_world).then(|| {
            Failure::new(FailureKind::Unsupported, "this backend has no isolated world; run it in the world `page`")
        });
        let shares = core.reserve(&page, sources.iter().map(|source| source.len() as u64).sum())?;
        let work = RequestWork::Script { isolated, frame: frame.clone(), max_bytes };
        let command = BackendCommand::Inject(Injection { token, sources, isolated, frame });
        let task = RequestTask { kind: "script", work, shares };
        let request = NewRequest { id, token, task, patience, unable };
        core.change(&page, |state, now| state.begin(now, request, Some(command)))?;
        core.counters.requested();
        Ok(id)
    }

    /// Where an operation on a page would send it: nowhere, unless it navigates to an address of the
    /// web.
    ///
    /// # Errors
    /// As for [`WebViews::perform`].
    pub fn destination(
        &self,
        granted: &GrantedWebView<'_>,
        owner: &WebViewOwner,
        page: PageId,
        operation: &str,
        parameters: &str,
    ) -> Result<Option<Url>, WebViewError> {
        if OperationName::find(operation) != Some(OperationName::Navigate) {
            return Ok(None);
        }
        self.find(owner, page)?;
        match operation_request::read(granted, operation, parameters)?.operation {
            Operation::Navigate { url } => Ok(Url::parse(&url).ok()),
            _ => Ok(None),
        }
    }

    /// A person has let a page go to this origin: it may reach what the same rules name from now on.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`] where the owner has no such page.
    pub fn let_through(&self, owner: &WebViewOwner, page: PageId, origin: &Origin) -> Result<(), WebViewError> {
        self.find(owner, page)?.policy.let_through(origin);
        Ok(())
    }

    /// Carries out an operation on a page. Returns the id of the request at once.
    ///
    /// # Errors
    /// As for [`WebViews::execute`]; [`WebViewError::Invalid`] for an operation that
    /// does not exist or a parameter that is not legal; [`WebViewError::Refused`] for
    /// an address of an origin that is not granted, and for files where those are not.
    pub fn perform(
        &self,
        granted: &GrantedWebView<'_>,
        owner: &WebViewOwner,
        page: PageId,
        operation: &str,
        parameters: &str,
        deadline: Option<Duration>,
    ) -> Result<RequestId, WebViewError> {
        let core = &self.core;
        let page = self.find(owner, page)?;
        let patience = patience(&core.limits, deadline)?;
        let OperationRequest { operation, effect, files } = operation_request::read(granted, operation, parameters)?;
        let (id, token) = core.ids()?;
        let name = operation.name();
        let unable = (!core.backend.abilities().operations.contains(name))
            .then(|| Failure::new(FailureKind::Unsupported, format!("this backend cannot do `{name}`")));
        let shares = core.reserve(&page, parameters.len() as u64)?;
        let order = Order { token, operation, deadline: patience };
        let task = RequestTask { kind: name, work: RequestWork::Order(effect), shares };
        let request = NewRequest { id, token, task, patience, unable };
        if matches!(order.operation, Operation::SetFiles { .. }) && request.unable.is_none() {
            core.upload(&page, request, order, &files)?;
        } else {
            core.change(&page, |state, now| state.begin(now, request, Some(BackendCommand::Perform(order))))?;
        }
        core.counters.requested();
        Ok(id)
    }
}

impl Core {
    /// The id and the token of a request.
    fn ids(&self) -> Result<(RequestId, Token), WebViewError> {
        let id = self.settings.handles.handle().map(RequestId).map_err(WebViewError::no_randomness)?;
        Ok((id, Token::random().map_err(WebViewError::no_randomness)?))
    }
}
