//! What a host does for the other hosts of its cluster.

use std::collections::HashSet;

use async_trait::async_trait;
use wharf_core::{
    Code, Error, SessionId, TenantId, ToolService as _, WorkspaceKey,
    service::{Audience, HomeAnswer, HomeHost, HomeQuestion, HomeRequest, ProposedPlugin, Things, offer::Change},
    text::with_causes,
};
use wharf_engine::Backends;
use wharf_process::KilledBy;
use wharf_webview::WebViews;

use super::{END, Host, WeakHost, homes::Way};

impl Host {
    /// Answers what another host has passed on: its session is at home here.
    async fn answer_here(&self, HomeRequest { caller, asked }: HomeRequest) -> Result<HomeAnswer, Error> {
        let way = Way::PassedOn;
        Ok(match asked {
            HomeQuestion::Call { tool, arguments, input } => {
                if let Some(preparing) = self.preparing(&caller, &tool) {
                    preparing.await?;
                }
                let callee = self.look_up(&caller, &tool)?;
                HomeAnswer::Call(self.run_here(&tool, &callee, &caller, arguments, input).await?)
            }
            HomeQuestion::Prompt { name, arguments, input } => {
                HomeAnswer::Prompt(self.prompt_by(way, &caller, &name, &arguments, input).await?)
            }
            HomeQuestion::List { plugin } => HomeAnswer::List(self.list_here(&caller, &plugin).await?),
            HomeQuestion::Read { uri } => HomeAnswer::Read(self.read_by(way, &caller, &uri).await?),
            HomeQuestion::Complete { of, argument, typed, others } => {
                HomeAnswer::Complete(self.complete_by(way, &caller, of, &argument, &typed, others).await?)
            }
        })
    }

    /// The sessions of which there are such things here.
    fn sessions_with(&self, things: Things) -> HashSet<(TenantId, SessionId)> {
        let Backends { processes, terminals, webviews, streams, .. } = &self.shared.backends;
        let is_kept = things == Things::Kept;
        let mut sessions = streams.sessions(is_kept);
        sessions.extend(processes.iter().flat_map(|processes| match things {
            Things::Running => processes.running_sessions().into_iter().collect(),
            Things::Kept => processes.sessions(),
        }));
        let terminals = terminals.iter().flat_map(|terminals| terminals.all());
        let terminals = terminals.filter(|(_, terminal)| is_kept || terminal.ended.is_none());
        sessions.extend(terminals.map(|(owner, _)| (owner.tenant, owner.session)));
        let pages = webviews.iter().flat_map(WebViews::all);
        let pages = pages.filter(|(_, page)| is_kept || page.closed_because.is_none());
        sessions.extend(pages.map(|(owner, _)| (owner.tenant, owner.session)));
        sessions
    }

    /// Ends all that lives here of any session; the host goes on.
    async fn end_all_sessions(&self) {
        let sessions = self.sessions_with(Things::Running);
        let Backends { processes, terminals, webviews, streams, .. } = &self.shared.backends;
        streams.end_all();
        self.shared.front_ends.end_all();
        if let Some(terminals) = terminals {
            terminals.end_all().await;
        }
        for (tenant, session) in sessions {
            if let Some(processes) = processes {
                processes.end_session(&tenant, &session, KilledBy::HostLost).await;
            }
            if let Ok(webviews) = webviews {
                webviews.end_session(&tenant, &session, END).await;
            }
        }
    }
}

fn ending() -> Error {
    Error::retryable(Code::Unavailable, "this host is ending; call again, and another one answers")
}

/// The other hosts do not keep this one open.
#[async_trait]
impl HomeHost for WeakHost {
    async fn answer_here(&self, request: HomeRequest) -> Result<HomeAnswer, Error> {
        match self.upgrade() {
            Some(host) => host.answer_here(request).await,
            None => Err(ending()),
        }
    }

    async fn remove_files(&self, tenant: &TenantId, session: &SessionId) -> Result<(), Error> {
        let Some(workspaces) = self.upgrade().and_then(|host| host.shared.backends.workspaces.clone()) else {
            return Ok(());
        };
        let key = WorkspaceKey::restored(tenant.clone(), session.clone());
        let removing = tokio::task::spawn_blocking(move || workspaces.remove(&key)).await;
        removing.map_err(|_| ending())?.map(drop).map_err(|error| {
            tracing::warn!(%session, error = with_causes(&error), "files of an earlier time cannot be removed");
            Error::retryable(
                Code::Unavailable,
                "the latest files of this session are lost, and those that its new host has of an earlier time cannot \
                 be removed now: try again",
            )
        })
    }

    async fn sessions(&self, things: Things) -> HashSet<(TenantId, SessionId)> {
        self.upgrade().map(|host| host.sessions_with(things)).unwrap_or_default()
    }

    fn heard(&self, change: Change) {
        let Some(host) = self.upgrade() else { return };
        let is_looked_at = match &change {
            // Of a front end: clients are told once it is known here what has changed.
            Change::Tools(Audience { tenant: Some(tenant), plugins: None }) => {
                host.shared.front_ends.heard(Some(tenant))
            }
            Change::Missed(Audience { tenant, .. }) => {
                host.shared.front_ends.heard(tenant.as_ref());
                false
            }
            _ => false,
        };
        if !is_looked_at {
            host.shared.backends.announcements.tell(change);
        }
    }

    async fn refuses(&self, tables: &str) -> Option<String> {
        let (host, tables) = (self.upgrade()?, tables.to_owned());
        tokio::task::spawn_blocking(move || host.shared.sources.refuses(&tables)).await.ok().flatten()
    }

    async fn refuses_plugin(&self, plugin: &ProposedPlugin) -> Option<String> {
        self.tries(plugin).await.err()
    }

    async fn end_all(&self) {
        if let Some(host) = self.upgrade() {
            host.end_all_sessions().await;
        }
    }
}
