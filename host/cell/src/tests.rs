//! Hosts of one cell in one process, with real connections and certificates between them.

mod death;
mod hostile;
mod notices;
mod offers;
mod passing;
mod routes;
mod survey;

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use wharf_core::{
    Answer, Code, Content, Context, Error, SessionId, TenantId,
    service::{
        Caller, HomeAnswer, HomeHost, HomeQuestion, HomeRequest, InputGiven, Level, Place, ProposedPlugin,
        SessionRouter as _, Things, offer::Change,
    },
};

use crate::{
    Cell, CellError, CellSettings, CellStores, CellTimes, Members, MemoryCell, NoticeBus, PeerAddress, PeerTls,
};

/// Everything happens some twenty times as fast as it does for an operator.
pub(super) const TIMES: CellTimes = CellTimes {
    beat: Duration::from_millis(50),
    beat_patience: Duration::from_millis(150),
    silence: Duration::from_millis(300),
    connecting: Duration::from_millis(500),
    lost_contact: Duration::from_millis(600),
    dead: Duration::from_millis(1_000),
    dead_without_witness: Duration::from_millis(300),
    claim: Duration::from_millis(100),
    idle: Duration::from_secs(60),
};

/// An authority that signs certificates of hosts.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(super) fn new() -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).expect("parameters");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(parameters, key).expect("an authority"))
    }

    pub(super) fn host(&self) -> PeerTls {
        self.host_that_trusts(self)
    }

    /// A certificate of this authority, for a host that takes those of another one.
    pub(super) fn host_that_trusts(&self, other: &Self) -> PeerTls {
        let key = KeyPair::generate().expect("a key");
        let parameters = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
        let certificate = parameters.signed_by(&key, &self.0).expect("a certificate");
        let (certificate, key) = (certificate.pem(), key.serialize_pem());
        PeerTls::new(certificate.as_bytes(), key.as_bytes(), other.0.pem().as_bytes()).expect("certificates")
    }
}

/// What a host of the tests does with calls.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) calls: AtomicUsize,
    pub(super) dropped: AtomicUsize,
    pub(super) ended: AtomicUsize,
    pub(super) began: Notify,
    pub(super) seen: Mutex<Vec<String>>,
    pub(super) heard: Mutex<Vec<Change>>,
}

struct Dropped<'t>(&'t Tools);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl HomeHost for Tools {
    async fn answer_here(&self, HomeRequest { caller, asked }: HomeRequest) -> Result<HomeAnswer, Error> {
        let HomeQuestion::Call { tool, arguments, .. } = asked else { return Ok(offers::answer(asked)) };
        let dropped = Dropped(self);
        self.calls.fetch_add(1, Ordering::SeqCst);
        let Caller { context, events, .. } = &*caller;
        self.seen.lock().push(format!("{}/{} {tool}", context.tenant, context.session));
        if let Some(events) = events {
            events.progress(1.0, Some(2.0), Some("half"));
            events.message(Level::Warn, json!({"a": 1}));
        }
        self.began.notify_one();
        let answered = match tool.as_str() {
            "wait" => std::future::pending().await,
            "fail" => Err(Error::retryable(Code::Limit, "as asked")),
            _ => Ok(HomeAnswer::Call(Answer {
                content: vec![
                    Content::text(arguments.text().to_string()),
                    Content { mime_type: "image/png".to_owned(), data: vec![0, 0xff], meta: Map::new() },
                ],
                structured: Some(Value::Object(caller.meta.clone())),
                ..Answer::default()
            })),
        };
        std::mem::forget(dropped);
        answered
    }

    async fn remove_files(&self, tenant: &TenantId, session: &SessionId) -> Result<(), Error> {
        self.seen.lock().push(format!("{tenant}/{session} files removed"));
        Ok(())
    }

    async fn sessions(&self, _: Things) -> HashSet<(TenantId, SessionId)> {
        HashSet::new()
    }

    fn heard(&self, change: Change) {
        self.heard.lock().push(change);
    }

    async fn refuses(&self, _tables: &str) -> Option<String> {
        None
    }

    async fn refuses_plugin(&self, _plugin: &ProposedPlugin) -> Option<String> {
        None
    }

    async fn end_all(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// A host of the tests.
pub(super) struct TestHost {
    pub(super) cell: Cell,
    pub(super) tools: Arc<Tools>,
}

/// What the hosts of a test share.
pub(super) struct TestCell {
    pub(super) store: Arc<MemoryCell>,
    pub(super) authority: Authority,
    pub(super) times: CellTimes,
    pub(super) bus: Option<Arc<dyn NoticeBus>>,
}

impl TestCell {
    pub(super) fn new() -> Self {
        Self { store: Arc::default(), authority: Authority::new(), times: TIMES, bus: None }
    }

    pub(super) fn settings(&self, name: &str, address: PeerAddress, tls: PeerTls) -> CellSettings {
        CellSettings {
            configured: wharf_core::Digest::of(b""),
            cell: "test".to_owned(),
            host: name.to_owned(),
            address,
            listen: None,
            certificates: Arc::new(move || Ok(tls.clone())),
            files: format!("files of {name}"),
            version: "0.1.0".to_owned(),
            message_bytes: 1 << 20,
            longest_call: Duration::from_secs(60),
            bus: self.bus.clone(),
            times: self.times,
        }
    }

    pub(super) async fn host(&self, name: &str) -> TestHost {
        self.host_at(name, free_address()).await
    }

    pub(super) async fn host_at(&self, name: &str, address: PeerAddress) -> TestHost {
        self.host_that_reads(name, address, Arc::clone(&self.store) as Arc<dyn Members>).await
    }

    /// A host that hears of the members by these.
    pub(super) async fn host_that_reads(
        &self,
        name: &str,
        address: PeerAddress,
        members: Arc<dyn Members>,
    ) -> TestHost {
        self.joined(name, address, members).await.expect("it joins")
    }

    /// A host at an address that an earlier one may not have given up yet.
    pub(super) async fn started_at(&self, name: &str, address: PeerAddress) -> Option<TestHost> {
        self.joined(name, address, Arc::clone(&self.store) as Arc<dyn Members>).await.ok()
    }

    async fn joined(&self, name: &str, address: PeerAddress, members: Arc<dyn Members>) -> Result<TestHost, CellError> {
        let settings = self.settings(name, address, self.authority.host());
        let stores = CellStores { members, ..CellStores::of(&self.store) };
        let cell = Cell::new(settings, stores).expect("a host");
        let tools = Arc::new(Tools::default());
        cell.join(Arc::clone(&tools) as Arc<dyn HomeHost>).await?;
        Ok(TestHost { cell, tools })
    }
}

/// An address that was free a moment ago.
pub(super) fn free_address() -> PeerAddress {
    format!("localhost:{}", wharf_test_support::free_address().port()).parse().expect("an address")
}

pub(super) fn context(session: &str) -> Context {
    Context::new(TenantId::local(), session.parse().expect("legal"))
}

pub(super) fn request(session: &str, tool: &str) -> HomeRequest {
    request_of(Caller::new(context(session)), tool)
}

pub(super) fn request_of(caller: Caller, tool: &str) -> HomeRequest {
    let arguments = json!({"key": "value\n"}).as_object().expect("an object").clone().into();
    let asked = HomeQuestion::Call { tool: tool.to_owned(), arguments, input: InputGiven::default() };
    HomeRequest { caller: Arc::new(caller), asked }
}

impl TestHost {
    pub(super) async fn place(&self, session: &str, keeps_files: bool) -> Result<Place, Error> {
        let context = context(session);
        self.cell.place(&context.tenant, &context.session, keeps_files).await
    }

    /// Asks as a host does: at home, wherever that is.
    pub(super) async fn ask(&self, request: HomeRequest, keeps_files: bool) -> Result<HomeAnswer, Error> {
        match self.place(request.caller.context.session.as_str(), keeps_files).await? {
            Place::Here(hold) => {
                let answered = self.tools.answer_here(request).await;
                hold.confirm()?;
                answered
            }
            Place::Elsewhere(remote) => remote.ask(request).await,
        }
    }

    pub(super) async fn call_of(&self, request: HomeRequest, keeps_files: bool) -> Result<Answer, Error> {
        self.ask(request, keeps_files).await?.into_call()
    }

    pub(super) async fn call(&self, session: &str, tool: &str) -> Result<Answer, Error> {
        self.call_of(request(session, tool), false).await
    }

    pub(super) fn calls(&self) -> usize {
        self.tools.calls.load(Ordering::SeqCst)
    }

    /// Ends as a process that is killed: nobody listens any more, and it never says so.
    pub(super) async fn kill(self) -> Arc<Tools> {
        self.cell.kill().await;
        self.tools
    }
}
