//! One number each: how a count of this moment is registered.

use prometheus_client::{
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::ConstGauge,
    },
    registry::{Registry, Unit},
};

pub(super) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

pub(super) fn gauge(registry: &mut Registry, name: &str, help: &str, value: u64) {
    gauge_of(registry, name, help, value, None);
}

pub(super) fn gauge_of(registry: &mut Registry, name: &str, help: &str, value: u64, unit: Option<Unit>) {
    let metric = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
    match unit {
        Some(unit) => registry.register_with_unit(name, help, unit, metric),
        None => registry.register(name, help, metric),
    }
}

pub(super) fn counter(registry: &mut Registry, name: &str, help: &str, value: u64) {
    registry.register(name, help, ConstCounter::new(value));
}

/// Counts by one word.
pub(super) fn by(registry: &mut Registry, name: &str, help: &str, label: &'static str, counts: &[(&'static str, u64)]) {
    let family = Family::<[(&'static str, &'static str); 1], Counter>::default();
    for (word, number) in counts {
        family.get_or_create(&[(label, *word)]).inc_by(*number);
    }
    registry.register(name, help, family);
}
