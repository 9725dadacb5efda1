//! Numbers of bytes, as people read them.

/// A number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    let mut unit = 0;
    let mut whole = bytes;
    while whole >= 10_000 && unit < 4 {
        whole /= 1_024;
        unit += 1;
    }
    format!("{whole} {}", ["B", "KiB", "MiB", "GiB", "TiB"][unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_small_ones_exact() {
        for (bytes, shown) in [
            (0, "0 B"),
            (9_999, "9999 B"),
            (10_000, "9 KiB"),
            (64 << 20, "64 MiB"),
            (4 << 30, "4096 MiB"),
            (u64::MAX, "16777215 TiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
