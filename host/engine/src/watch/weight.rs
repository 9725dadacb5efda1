//! How much data crosses the wall with a value: the bytes of its texts and byte lists.
//!
//! Numbers, flags and handles weigh nothing: a host call takes a few of them at most, and
//! lists of them come from the host. Knows no interface; each adapter says with [`weigh`]
//! what the records of its interface weigh.

use wasmtime::component::Resource;

/// A value that a host call moves. Parameters and return values need a weight: a function
/// with one that has none cannot be linked.
pub(crate) trait Weight {
    /// Bytes that count against `host_call_bytes` and `host_call_total_bytes`.
    fn weight(&self) -> u64;

    /// The weight of all of these.
    fn weight_of_all(values: &[Self]) -> u64
    where
        Self: Sized,
    {
        values.iter().map(Self::weight).sum()
    }
}

impl Weight for u8 {
    fn weight(&self) -> u64 {
        1
    }

    fn weight_of_all(bytes: &[Self]) -> u64 {
        bytes.len() as u64
    }
}

impl Weight for String {
    fn weight(&self) -> u64 {
        self.len() as u64
    }
}

impl<T: Weight> Weight for Vec<T> {
    fn weight(&self) -> u64 {
        T::weight_of_all(self)
    }
}

impl<T: Weight> Weight for Option<T> {
    fn weight(&self) -> u64 {
        self.as_ref().map_or(0, T::weight)
    }
}

impl<T: Weight, E> Weight for Result<T, E> {
    /// A refusal weighs nothing: it is in the host's own words, and bounded.
    fn weight(&self) -> u64 {
        self.as_ref().map_or(0, T::weight)
    }
}

impl<T: 'static> Weight for Resource<T> {
    fn weight(&self) -> u64 {
        0
    }
}

/// Says that values of these types weigh nothing.
macro_rules! weightless {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::watch::weight::Weight for $type {
            fn weight(&self) -> u64 {
                0
            }
        })*
    };
}
pub(crate) use weightless;

weightless!(bool, u16, u32, u64, i64, f64);

/// Says what the records of an interface weigh: the members before the bar, all together,
/// and perhaps a fixed number of bytes for the rest. It names every member, so that a new
/// one does not compile until somebody decides about it. The record crosses to a worker, too.
macro_rules! weigh {
    ($($module:ident::$record:ident { $($weighs:ident),* $(| $($weightless:ident),+)? } $(+ $fixed:literal)?;)*) => {
        $(impl $crate::watch::weight::Weight for $module::$record {
            fn weight(&self) -> u64 {
                let $module::$record { $($weighs,)* $($($weightless: _,)+)? } = self;
                0 $(+ $crate::watch::weight::Weight::weight($weighs))* $(+ $fixed)?
            }
        }
        $crate::watch::crossing::crossing! { $module::$record { $($weighs,)* $($($weightless,)+)? }; })*
    };
}
pub(crate) use weigh;

macro_rules! tuple {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Weight),*> Weight for ($($name,)*) {
            fn weight(&self) -> u64 {
                0 $(+ self.$index.weight())*
            }
        }
    };
}

super::tuples::for_tuples!(tuple);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_bytes_weigh_what_they_have_wherever_they_are() {
        let pairs = vec![("name".to_owned(), "value".to_owned()), ("n".to_owned(), String::new())];
        let parameters = (String::from("program"), pairs, Some(vec![7_u8; 100]), 3_u32, true);
        assert_eq!(parameters.weight(), 7 + 9 + 1 + 100);
        assert_eq!((None::<String>, Ok::<_, ()>(vec![1_u64, 2])).weight(), 0);
        assert_eq!((Err::<String, _>("refused"),).weight(), 0);
    }
}
