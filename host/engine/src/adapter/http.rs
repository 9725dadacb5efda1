//! `wasi:http/outgoing-handler`: counts each request, checks it against the grants, hands it
//! to the HTTP client of plugins, and tells the audit once it is over. The rest is WASI's.
//!
//! The words of an error reach the guest as the text of `internal-error`, since the
//! codes of WASI have none: `denied: …` names the line that would allow it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use http_body_util::BodyExt as _;
use hyper::{Request, Response, http::uri::Scheme};
use wasmtime::component::Linker;
use wasmtime_wasi_http::{Error as WasiError, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpHooks, WasiHttpView};
use wharf_core::{
    Code, Error,
    audit::{AuditOutcome, HostCall, shown},
    grant::GrantedRequest,
    request::WantedRequest,
    service::GuardedAct,
};
use wharf_network::{OutgoingRequest, RequestMeter, RequestTimeouts};

use crate::{call::ActiveCall, forwarded::send_by_host};

/// Bytes that a guest hands over at once for the body of a request: as many may wait
/// for each body that it has begun.
const CHUNK_BYTES: usize = 16 << 10;

/// What headers take in memory beside their text.
const FIELDS_BYTES: u64 = 4 << 10;

/// The state of `wasi:http` in a call that uses it.
pub(crate) struct HttpState {
    pub(crate) wasi: WasiHttpCtx,
    pub(crate) hooks: HttpHooks,
}

pub(crate) struct HttpHooks {
    call: Arc<ActiveCall>,
    sent: u64,
}

/// Links the interfaces that send requests.
pub(crate) fn link<T: WasiHttpView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)
}

impl HttpState {
    pub(crate) fn new(call: &Arc<ActiveCall>) -> Self {
        let mut wasi = WasiHttpCtx::new();
        let head_bytes = call.backends.requests.limits().head_bytes;
        // WASI counts the memory of fields. That client counts the bytes on the wire.
        let fields = head_bytes.saturating_mul(2).saturating_add(FIELDS_BYTES);
        wasi.set_field_size_limit(usize::try_from(fields).unwrap_or(usize::MAX));
        Self { wasi, hooks: HttpHooks { call: Arc::clone(call), sent: 0 } }
    }
}

type ResponseFuture = dyn Future<Output = Result<(Response<WasiBody>, Box<dyn Future<Output = Result<(), WasiError>> + Send>), WasiError>>
    + Send;

impl WasiHttpHooks for HttpHooks {
    /// The host writes it, as the server was read.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        CHUNK_BYTES
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _sent: Box<dyn Future<Output = Result<(), WasiError>> + Send>,
    ) -> Box<ResponseFuture> {
        let call = Arc::clone(&self.call);
        // The host checks it.
        if call.is_in_worker() {
            return Box::new(async move {
                let response = send_by_host(call, request, options).await?;
                let connection: Box<dyn Future<Output = Result<(), WasiError>> + Send> = Box::new(async { Ok(()) });
                Ok((response, connection))
            });
        }
        let checked = self.check(request, options);
        Box::new(async move {
            let outgoing = checked.map_err(wasi_error)?.permitted(&call).await.map_err(wasi_error)?;
            let response = call.backends.requests.send(outgoing).await.map_err(wasi_error)?;
            let response = response.map(|body| body.map_err(wasi_error).boxed_unsync());
            // The body drives its connection, and ends it.
            let connection: Box<dyn Future<Output = Result<(), WasiError>> + Send> = Box::new(async { Ok(()) });
            Ok((response, connection))
        })
    }
}

/// An error as the guest gets it.
fn wasi_error(error: Error) -> WasiError {
    WasiError::InternalError(Some(error.to_string()))
}

impl HttpHooks {
    /// The request, if it is granted.
    fn check(&mut self, request: Request<WasiBody>, options: Option<RequestOptions>) -> Result<CheckedRequest, Error> {
        let meter = Arc::new(RequestRecord::new(&self.call));
        self.granted(request, options, &meter).inspect_err(|error| meter.failed(error))
    }

    fn granted(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        meter: &Arc<RequestRecord>,
    ) -> Result<CheckedRequest, Error> {
        let call = &*self.call;
        let uri = request.uri();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let scheme = uri.scheme().map_or("", Scheme::as_str);
        let wanted = WantedRequest::read(request.method().as_str(), scheme, authority, uri.path())?;
        meter.asks(&wanted);
        let granted = call.grants().http(&call.plugin)?.request(wanted)?;
        let per_call = call.backends.requests.limits().per_call;
        if self.sent >= per_call {
            let message = format!("this call has sent its {per_call} requests (limit `per_call` of [request.limits])");
            return Err(Error::new(Code::Limit, message));
        }
        self.sent += 1;
        let options = options.unwrap_or_default();
        let timeouts = RequestTimeouts {
            connect: options.connect_timeout,
            first_byte: options.first_byte_timeout,
            between_bytes: options.between_bytes_timeout,
        };
        Ok(CheckedRequest { granted, request, timeouts, meter: Arc::clone(meter) })
    }
}

/// A request that is granted.
struct CheckedRequest {
    granted: GrantedRequest,
    request: Request<WasiBody>,
    timeouts: RequestTimeouts,
    meter: Arc<RequestRecord>,
}

impl CheckedRequest {
    /// The request to send, once a person has allowed it where one has to, and there is a place for it.
    async fn permitted(self, call: &ActiveCall) -> Result<OutgoingRequest<WasiBody>, Error> {
        let Self { granted, request, timeouts, meter } = self;
        let place = async {
            if call.request.approver.is_some() {
                let wanted = granted.wanted();
                let act = GuardedAct::Request { origin: &wanted.origin, request: &wanted.told() };
                call.approved(act).await?;
            }
            call.backends.requests.permit(&call.context().tenant)
        };
        let permit = place.await.inspect_err(|error| meter.failed(error))?;
        Ok(OutgoingRequest { granted, request, permit, timeouts, until: call.clock.wait_until().into(), meter })
    }
}

/// Counts what a request moves, and tells the audit once nothing holds it any more.
struct RequestRecord {
    call: Arc<ActiveCall>,
    began: Instant,
    asked: OnceLock<String>,
    status: AtomicU16,
    finished: AtomicBool,
    failure: OnceLock<Code>,
    sent: AtomicU64,
    received: AtomicU64,
}

impl RequestRecord {
    fn new(call: &Arc<ActiveCall>) -> Self {
        Self {
            call: Arc::clone(call),
            began: Instant::now(),
            asked: OnceLock::new(),
            status: AtomicU16::new(0),
            finished: AtomicBool::new(false),
            failure: OnceLock::new(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }
    }

    fn asks(&self, wanted: &WantedRequest) {
        if self.call.audit().is_some_and(|audit| audit.interest().names) {
            let _ = self.asked.set(wanted.told());
        }
    }
}

impl RequestMeter for RequestRecord {
    fn sent(&self, bytes: u64) -> Result<(), Error> {
        self.sent.fetch_add(bytes, Relaxed);
        Ok(self.call.budget.moved(bytes)?)
    }

    fn received(&self, bytes: u64) -> Result<(), Error> {
        self.received.fetch_add(bytes, Relaxed);
        Ok(self.call.budget.moved(bytes)?)
    }

    fn answered(&self, status: u16) {
        self.status.store(status, Relaxed);
    }

    fn finished(&self) {
        self.finished.store(true, Relaxed);
    }

    fn failed(&self, error: &Error) {
        let _ = self.failure.set(error.code);
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let Some(audit) = self.call.audit() else { return };
        let status = self.status.load(Relaxed);
        let outcome = match self.failure.get() {
            Some(code) => AuditOutcome::Failed(*code),
            // A guest need not read an answer to its end.
            None if status != 0 || self.finished.load(Relaxed) => AuditOutcome::Ok,
            None => AuditOutcome::Failed(Code::Cancelled),
        };
        let asked = self.asked.get().map(|asked| match status {
            0 => shown(asked),
            // In front, where it is not cut off.
            status => shown(&format!("{status} {asked}")),
        });
        audit.host_call(HostCall {
            function: "http.request".into(),
            asked,
            outcome,
            bytes_in: self.sent.load(Relaxed),
            bytes_out: self.received.load(Relaxed),
            took: self.began.elapsed(),
        });
    }
}
