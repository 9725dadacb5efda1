//! The advice itself: numbers for programs, a sentence for people and models.
//!
//! It names no tool, since only the plugin knows which tools there are.

use std::time::Duration;

use serde::Serialize;

/// The longest text of advice, in bytes.
pub const MAX_TEXT_BYTES: usize = 512;

/// The language of advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Korean.
    Korean,
}

impl Language {
    /// Every language that there is advice in.
    pub const ALL: [Self; 2] = [Self::English, Self::Korean];

    /// Its word of the configuration: `en`, `ko`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Korean => "ko",
        }
    }
}

/// What is polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A child process.
    Process,
    /// A request to a web page.
    Request,
}

/// Advice to a caller that polls something too often while it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Guidance {
    /// Polls in a row that found it running.
    pub polls: u32,
    /// From the first of them to this one, in seconds.
    pub over_seconds: f64,
    /// The mean interval between them, in seconds.
    pub mean_interval_seconds: f64,
    /// The interval that would do, in seconds.
    pub suggested_interval_seconds: u64,
    /// The same in words: at most 512 bytes.
    pub text: String,
}

impl Guidance {
    pub(super) fn new(
        subject: Subject,
        polls: u32,
        over: Duration,
        mean: Duration,
        ran: Duration,
        language: Language,
    ) -> Self {
        let suggested_interval_seconds = suggested(mean, ran).as_secs();
        let (over, mean) = (over.as_secs_f64(), mean.as_secs_f64());
        let (over_shown, mean_shown) = (shown(over), shown(mean));
        let text = match (language, subject) {
            (Language::English, Subject::Process) => format!(
                "{polls} polls in a row found this process still running, within {over_shown} s and {mean_shown} s \
                 apart on average. Polling every {suggested_interval_seconds} s would do; to wait once for its output \
                 or its end is better still."
            ),
            (Language::Korean, Subject::Process) => format!(
                "이 프로세스는 연속 {polls}번의 확인에서 모두 실행 중이었습니다({over_shown}초 동안, 평균 \
                 {mean_shown}초 간격). {suggested_interval_seconds}초마다 확인하면 충분하며, 출력이나 종료를 한 번에 \
                 기다리는 편이 더 좋습니다."
            ),
            (Language::English, Subject::Request) => format!(
                "{polls} polls in a row found this request still pending, within {over_shown} s and {mean_shown} s \
                 apart on average. Polling every {suggested_interval_seconds} s would do; to wait once for its end is \
                 better still."
            ),
            (Language::Korean, Subject::Request) => format!(
                "이 요청은 연속 {polls}번의 확인에서 모두 진행 중이었습니다({over_shown}초 동안, 평균 \
                 {mean_shown}초 간격). {suggested_interval_seconds}초마다 확인하면 충분하며, 끝날 때까지 한 번에 \
                 기다리는 편이 더 좋습니다."
            ),
        };
        Self { polls, over_seconds: over, mean_interval_seconds: mean, suggested_interval_seconds, text }
    }
}

/// At least twice the mean interval and a quarter of the running time, within 5 s to 10 min: a caller that has waited
/// for an hour can wait a few minutes more.
fn suggested(mean: Duration, ran: Duration) -> Duration {
    mean.saturating_mul(2).max(ran / 4).clamp(Duration::from_secs(5), Duration::from_secs(600))
}

fn shown(seconds: f64) -> String {
    match seconds {
        // Tenths would read as none.
        ..0.1 => format!("{seconds:.3}"),
        ..10.0 => format!("{seconds:.1}"),
        _ => format!("{seconds:.0}"),
    }
}
