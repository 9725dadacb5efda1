//! Polls of processes and of requests of pages, and the effect of advice against them.

use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use wharf_process::polls::{GuidanceEffect, Language, PollTotals};

use super::values::counter;

type ByLanguage = Family<[(&'static str, &'static str); 1], Counter>;

/// The polls of `subject` (`process`, `page_request`), with what depends on the words of
/// advice by its language.
pub(super) fn register(
    registry: &mut Registry,
    subject: &str,
    totals: &PollTotals,
    effect: impl Fn(Language) -> GuidanceEffect,
) {
    let effects = Language::ALL.map(|language| (language.as_str(), effect(language)));
    let mut by_language = |name: &str, help: &str, of: fn(&GuidanceEffect) -> u64| {
        let family = ByLanguage::default();
        for (language, effect) in &effects {
            family.get_or_create(&[("language", language)]).inc_by(of(effect));
        }
        registry.register(format!("{subject}_poll_{name}"), help, family);
    };
    by_language("advice", "Advice against polling that was given", |effect| effect.guidance);
    by_language("intervals_after_advice", "Polls that followed advice", |effect| effect.intervals_after_guidance);
    by_language("intervals_grown", "Of these, those that came after more time than before", |effect| {
        effect.intervals_grown
    });
    by_language(
        "before_advice_milliseconds",
        "Mean intervals before advice, added up over those that another poll followed",
        |effect| effect.milliseconds_before,
    );
    by_language("after_advice_milliseconds", "Intervals after advice, added up", |effect| effect.milliseconds_after);
    counter(registry, &format!("{subject}_polls"), "Polls of what runs or has ended", totals.polls);
    let episodes = format!("{subject}_poll_episodes");
    counter(registry, &episodes, "Two or more polls in a row of what runs", totals.episodes);
    let long = Family::<[(&'static str, &'static str); 1], Counter>::default();
    for (advice, episodes) in
        [("given", totals.long_episodes_with_guidance), ("none", totals.long_episodes_without_guidance)]
    {
        long.get_or_create(&[("advice", advice)]).inc_by(episodes);
    }
    registry.register(format!("{subject}_poll_long_episodes"), "More than ten polls in a row of what runs", long);
}
