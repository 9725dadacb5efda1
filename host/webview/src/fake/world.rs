//! Where the scripts of a page run: its own, or those apart from them.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Function, Object, Persistent, Promise, Runtime, TypedArray,
    function::This,
};

use super::shared::Shared;
use crate::{ConsoleEntry, ConsoleKind, DialogKind, Failure, FailureKind, Injection, PageEvent, Settled, Token};

const PRELUDE: &str = include_str!("prelude.js");

pub(super) struct World {
    // Goes before the engine that it belongs to.
    inner: Persistent<Object<'static>>,
    context: Context,
    /// Where a script wants to go.
    goes: Arc<Mutex<Option<String>>>,
}

impl World {
    pub(super) fn new(runtime: &Runtime, shared: &Arc<Shared>, url: &str, title: &str) -> rquickjs::Result<Self> {
        let context = Context::full(runtime)?;
        let goes = Arc::<Mutex<Option<String>>>::default();
        let inner = context.with(|js| {
            let native = native(&js, shared, &goes)?;
            native.set("url", url)?;
            native.set("title", title)?;
            let prelude: Function<'_> = js.eval(PRELUDE)?;
            let inner: Object<'_> = prelude.call((native,))?;
            Ok::<_, rquickjs::Error>(Persistent::save(&js, inner))
        })?;
        Ok(Self { inner, context, goes })
    }

    /// Runs a script of the page itself; what it throws, if it does.
    pub(super) fn run(&self, source: &str) -> Option<String> {
        self.context.with(|js| js.eval::<(), _>(source).catch(&js).err().map(|error| words(&error)))
    }

    /// Runs the first source that can be parsed. Its result is reported once there is
    /// one.
    pub(super) fn inject(&self, shared: &Arc<Shared>, injection: &Injection) {
        let mut message = String::new();
        let begun = self.context.with(|js| {
            for source in &injection.sources {
                match js.eval::<Promise<'_>, _>(source.as_str()).catch(&js) {
                    Ok(promise) => return settle_later(&promise, shared, injection.token).is_ok(),
                    // Only an interrupt is none: the source catches all else.
                    Err(CaughtError::Exception(exception)) => message = exception.message().unwrap_or_default(),
                    Err(_) => return true,
                }
                if shared.stops() {
                    return true;
                }
            }
            false
        });
        if !begun {
            shared.sink.settle(injection.token, Settled::Syntax { message: format!("SyntaxError: {message}") });
        }
    }

    pub(super) fn title(&self) -> String {
        self.call::<String>("title").unwrap_or_default()
    }

    /// How long until a timer is due.
    pub(super) fn wait(&self) -> Duration {
        // A page can make this anything.
        let milliseconds = self.call::<f64>("wait").filter(|wait| wait.is_finite()).unwrap_or(1e9);
        Duration::from_secs_f64((milliseconds / 1_000.0).clamp(0.0, 3_600.0))
    }

    pub(super) fn run_timers(&self) {
        let _ = self.call::<()>("run");
    }

    pub(super) fn goes(&self) -> Option<String> {
        self.goes.lock().take()
    }

    fn call<T: for<'js> rquickjs::FromJs<'js>>(&self, name: &str) -> Option<T> {
        self.context.with(|js| {
            let inner = self.inner.clone().restore(&js).ok()?;
            let function: Function<'_> = inner.get(name).ok()?;
            function.call(()).catch(&js).ok()
        })
    }
}

fn settle_later(promise: &Promise<'_>, shared: &Arc<Shared>, token: Token) -> rquickjs::Result<()> {
    let (done, failed) = (Arc::clone(shared), Arc::clone(shared));
    let js = promise.ctx();
    let done = Function::new(js.clone(), move |envelope: String| {
        done.sink.settle(token, Settled::Envelope(envelope));
    })?;
    let failed = Function::new(js.clone(), move || {
        let failure = Failure::new(FailureKind::Exception, "what wraps the script failed");
        failed.sink.settle(token, Settled::Failed(failure));
    })?;
    promise.then()?.call((This(promise.clone()), done, failed))
}

fn native<'js>(
    js: &Ctx<'js>,
    shared: &Arc<Shared>,
    goes: &Arc<Mutex<Option<String>>>,
) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(js.clone())?;
    let of_page = Arc::clone(shared);
    let ask = move |kind: String, message: String, text: String| -> Option<String> {
        let kind = match kind.as_str() {
            "alert" => DialogKind::Alert,
            "confirm" => DialogKind::Confirm,
            _ => DialogKind::Prompt,
        };
        let answer = of_page.ask(kind, message, text)?;
        answer.accept.then(|| answer.text.unwrap_or_default())
    };
    native.set("ask", Function::new(js.clone(), ask)?)?;
    let of_page = Arc::clone(shared);
    let log = move |kind: String, text: String| {
        let kind = ConsoleKind::find(&kind).unwrap_or(ConsoleKind::Log);
        of_page.sink.tell(PageEvent::Console(ConsoleEntry { kind, text, url: None, line: None }));
    };
    native.set("log", Function::new(js.clone(), log)?)?;
    let goes = Arc::clone(goes);
    let go = move |url: String| drop(goes.lock().replace(url));
    native.set("go", Function::new(js.clone(), go)?)?;
    let encode = |js: Ctx<'js>, text: String| TypedArray::<u8>::new(js, text.into_bytes());
    native.set("encode", Function::new(js.clone(), encode)?)?;
    // A character for each byte.
    let decode = |said: String| -> String {
        let bytes: Vec<u8> = said.chars().filter_map(|byte| u8::try_from(byte).ok()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    native.set("decode", Function::new(js.clone(), decode)?)?;
    Ok(native)
}

fn words(error: &CaughtError<'_>) -> String {
    match error {
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        CaughtError::Value(_) | CaughtError::Error(_) => error.to_string(),
    }
}
