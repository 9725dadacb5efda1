//! What polls of processes and advice against them come to.

use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use wharf_process::polls::{GuidanceEffect, Language, PollTotals};

use super::values::counter;

type ByLanguage = Family<[(&'static str, &'static str); 1], Counter>;

/// The totals beside the number of polls itself; what depends on the words of
/// advice, by its language.
pub(super) fn register(registry: &mut Registry, totals: &PollTotals, effect: impl Fn(Language) -> GuidanceEffect) {
    let effects = Language::ALL.map(|language| (language.as_str(), effect(language)));
    let mut by_language = |name: &str, help: &str, of: fn(&GuidanceEffect) -> u64| {
        let family = ByLanguage::default();
        for (language, effect) in &effects {
            family.get_or_create(&[("language", language)]).inc_by(of(effect));
        }
        registry.register(name, help, family);
    };
    by_language("process_poll_advice", "Advice against polling that was given", |effect| effect.guidance);
    by_language("process_poll_intervals_after_advice", "Polls that followed advice", |effect| {
        effect.intervals_after_guidance
    });
    by_language("process_poll_intervals_grown", "Of these, those that came after more time than before", |effect| {
        effect.intervals_grown
    });
    by_language(
        "process_poll_before_advice_milliseconds",
        "Mean intervals before advice, added up over those that another poll followed",
        |effect| effect.milliseconds_before,
    );
    by_language("process_poll_after_advice_milliseconds", "Intervals after advice, added up", |effect| {
        effect.milliseconds_after
    });
    counter(registry, "process_poll_episodes", "Two or more polls in a row of what runs", totals.episodes);
    let long = Family::<[(&'static str, &'static str); 1], Counter>::default();
    for (advice, episodes) in
        [("given", totals.long_episodes_with_guidance), ("none", totals.long_episodes_without_guidance)]
    {
        long.get_or_create(&[("advice", advice)]).inc_by(episodes);
    }
    registry.register("process_poll_long_episodes", "More than ten polls in a row of what runs", long);
}
