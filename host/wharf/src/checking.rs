//! Checks arguments and answers against schemas without holding up other calls.
//!
//! A small check is made at once, where the call is. One that turns out to take longer
//! goes to a thread with a stack of its own, which ends with its call: at its deadline,
//! once it has computed for as long as it may, or when nobody waits for it any more. How
//! many of them run is limited by tenant and host; those that wait are served in turn.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Admission, CallLimits, CheckFailure, Code, Context, Error, HostLimits, Meter, Permit, Schema, SessionId, TenantId,
    limit::{TimeLeft, WallTime},
    schema::Stopped,
};

/// Steps of a check that is made at once, what is told of a value that does not fit
/// included: less than half a millisecond.
const AT_ONCE: u64 = 10_000;

/// See the module.
#[derive(Clone)]
pub(crate) struct Checks {
    admission: Admission,
}

/// One check.
#[derive(Clone, Copy)]
pub(crate) struct Check<'c> {
    pub(crate) context: &'c Context,
    pub(crate) schema: &'c Schema,
    /// What is checked, in words: `the arguments`.
    pub(crate) what: &'static str,
    pub(crate) limits: &'c CallLimits,
    pub(crate) time: TimeLeft,
    pub(crate) cancel: &'c CancellationToken,
}

/// What does not fit, or why that is not known.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// What is wrong with it.
    Violations(String),
    /// The check did not finish.
    Failed(Error),
}

/// A value that fits.
pub(crate) struct Fitting {
    pub(crate) value: Value,
    /// What the check computed, where that is worth counting.
    pub(crate) computed: Duration,
}

/// What the thread of a check brings back.
struct CheckOutcome {
    value: Value,
    outcome: Result<(), CheckFailure>,
    computed: Duration,
}

impl Checks {
    pub(crate) fn new(limits: &HostLimits) -> Self {
        let HostLimits { checks, checks_per_tenant, .. } = *limits;
        // Those that wait are counted as calls are: each is of one.
        let limits = HostLimits {
            calls_in_flight: checks,
            calls_in_flight_per_tenant: checks_per_tenant,
            calls_in_flight_per_session: checks_per_tenant,
            ..limits.clone()
        };
        Self { admission: Admission::new(limits) }
    }

    /// A place for work with schemas that takes long.
    pub(crate) async fn place(&self, context: &Context, bytes: u64, until: Instant) -> Result<Permit, Error> {
        self.admission.admit(context, bytes, until).await
    }

    /// Checks a value, which comes back where it fits. Dropping the future ends the check.
    pub(crate) async fn check(&self, check: Check<'_>, value: Value) -> Result<Fitting, Unfit> {
        if let Some(outcome) = at_once(&check, &value) {
            return outcome.map(|()| Fitting { value, computed: Duration::ZERO });
        }
        let Check { context, cancel, time, .. } = check;
        let bytes = wharf_core::tool::json_bytes(&value);
        let place = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(cancelled()),
            place = self.place(context, bytes, time.until) => match place {
                Err(_) if Instant::now() >= time.until => return Err(Unfit::Failed(time.wall_time.exceeded())),
                place => place.map_err(Unfit::Failed)?,
            },
        };
        let gone = cancel.child_token();
        let _gone = gone.clone().drop_guard();
        let (schema, steps, computing, until) =
            (check.schema.clone(), check.limits.check_steps, time.computing, time.until);
        let (tell, told) = oneshot::channel();
        let work = move || {
            let began = Instant::now();
            let interrupted = || gone.is_cancelled() || Instant::now() >= until || began.elapsed() >= computing;
            let outcome = schema.check_within(&value, &mut Meter::on_own_stack(steps, &interrupted));
            drop(place);
            // The caller may have gone.
            let _ = tell.send(CheckOutcome { value, outcome, computed: began.elapsed() });
        };
        let thread = thread::Builder::new().name("wharf-check".to_owned()).stack_size(Meter::STACK_BYTES);
        if let Err(error) = thread.spawn(work) {
            let told = format!("the host has no thread to check {}: {error}; try again later", check.what);
            return Err(Unfit::Failed(Error::retryable(Code::Unavailable, told)));
        }
        let failed = |_| Unfit::Failed(Error::new(Code::Internal, format!("checking {} failed", check.what)));
        let CheckOutcome { value, outcome, computed } = told.await.map_err(failed)?;
        match outcome {
            Ok(()) => Ok(Fitting { value, computed }),
            Err(failure) => Err(check.unfit(failure)),
        }
    }
}

/// Checks a value on the thread that asks, however long it takes.
pub(crate) fn check_here(schema: &Schema, what: &'static str, value: &Value, limits: &CallLimits) -> Result<(), Unfit> {
    let wall_time = WallTime { time: limits.cpu_time(), decided_by: "limit `cpu_time_milliseconds`" };
    let (context, cancel) = (Context::new(TenantId::local(), SessionId::default_session()), CancellationToken::new());
    let check = Check { context: &context, schema, what, limits, time: wall_time.start(limits), cancel: &cancel };
    if let Some(outcome) = at_once(&check, value) {
        return outcome;
    }
    let until = check.time.until;
    let work = || {
        let interrupted = || Instant::now() >= until;
        schema.check_within(value, &mut Meter::on_own_stack(limits.check_steps, &interrupted))
    };
    let outcome = thread::scope(|scope| {
        let thread = thread::Builder::new().name("wharf-check".to_owned()).stack_size(Meter::STACK_BYTES);
        thread.spawn_scoped(scope, work).map(thread::ScopedJoinHandle::join)
    });
    match outcome {
        Ok(Ok(outcome)) => outcome.map_err(|failure| check.unfit(failure)),
        Ok(Err(_)) => Err(Unfit::Failed(Error::new(Code::Internal, format!("checking {what} failed")))),
        Err(error) => Err(Unfit::Failed(Error::retryable(
            Code::Unavailable,
            format!("the host has no thread to check {what}: {error}; try again later"),
        ))),
    }
}

/// What a small check says; nothing where it is no small one.
fn at_once(check: &Check<'_>, value: &Value) -> Option<Result<(), Unfit>> {
    // A schema that is not compiled yet takes its time.
    if !check.schema.is_prepared() {
        return None;
    }
    let steps = AT_ONCE.min(check.limits.check_steps);
    match check.schema.check_within(value, &mut Meter::in_all(steps)) {
        Err(CheckFailure::Stopped(_)) => None,
        outcome => Some(outcome.map_err(|failure| check.unfit(failure))),
    }
}

fn cancelled() -> Unfit {
    Unfit::Failed(Error::new(Code::Cancelled, "the call was cancelled"))
}

impl Check<'_> {
    fn unfit(&self, failure: CheckFailure) -> Unfit {
        let Check { what, limits, time, cancel, .. } = self;
        let limit = |told: String| Unfit::Failed(Error::new(Code::Limit, told));
        match failure {
            CheckFailure::Violations(violations) => Unfit::Violations(violations),
            CheckFailure::Stopped(Stopped::Steps) => limit(format!(
                "checking {what} against the tool's schema takes more than {} steps (limit `check_steps`); send less \
                 at a time",
                limits.check_steps
            )),
            CheckFailure::Stopped(Stopped::Depth) => {
                limit(format!("{what} and the tool's schema nest too deeply together to be checked"))
            }
            CheckFailure::Stopped(Stopped::Interrupted) if cancel.is_cancelled() => cancelled(),
            CheckFailure::Stopped(Stopped::Interrupted) if Instant::now() >= time.until => {
                Unfit::Failed(time.wall_time.exceeded())
            }
            CheckFailure::Stopped(Stopped::Interrupted) => {
                Unfit::Failed(CallLimits::cpu_time_exceeded(limits.cpu_time()))
            }
            CheckFailure::Refused(error) => Unfit::Failed(Error::new(
                Code::Internal,
                format!("the tool cannot be used: its schema is refused: {error}"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {

    use serde_json::json;
    use wharf_core::SchemaBudget;

    use super::*;

    /// What is said at once of a value that does not fit.
    fn told_at_once(rule: Value, items: usize) -> Option<String> {
        let schema = json!({"type": "object", "required": ["zz"], "properties": {"a": rule}});
        let schema = schema.as_object().expect("an object").clone().into();
        let schema = Schema::compile(&schema, &mut SchemaBudget::default()).expect("compiles");
        let (context, cancel) =
            (Context::new(TenantId::local(), SessionId::default_session()), CancellationToken::new());
        let limits = CallLimits::default();
        let time = limits.wall_time(None).start(&limits);
        let check = Check { context: &context, schema: &schema, what: "this", limits: &limits, time, cancel: &cancel };
        let outcome = at_once(&check, &json!({"a": vec![0; items]}))?;
        match outcome.expect_err("it does not fit") {
            Unfit::Violations(told) => Some(told),
            Unfit::Failed(error) => panic!("{error}"),
        }
    }

    #[test]
    fn what_takes_long_to_explain_is_not_explained_at_once() {
        let whole = "the whole value: \"zz\" is a required property (rule /required)";
        assert_eq!(told_at_once(json!({"items": true}), 100).as_deref(), Some(whole));
        // That the value does not fit is seen in a few steps, and the rest of the rules take many.
        assert_eq!(told_at_once(json!({"allOf": vec![json!({"items": true}); 4_000]}), 50_000), None);
        assert_eq!(told_at_once(json!({"items": {"type": "integer"}}), 10_000), None);
    }
}
