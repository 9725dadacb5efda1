//! How values travel between the host and a worker: both are this very program, so the form
//! is written down nowhere else. Numbers are little-endian, texts and lists begin with their
//! length in four bytes, and what may be one of several begins with a byte that says which.
//!
//! A worker runs what nobody trusts, so the host reads with care: no length makes it allocate
//! before the bytes are there, and what does not fit is an error that ends the worker.

use std::time::Duration;

use wasmtime::component::Resource;

/// Bytes that are no such value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("bytes between the host and a worker that are not what was to come")]
pub(crate) struct Malformed;

/// The rest of what came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'b>(&'b [u8]);

impl<'b> Incoming<'b> {
    pub(crate) fn of(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// How many bytes are left.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn length(&mut self) -> Result<usize, Malformed> {
        u32::read(self).and_then(|length| usize::try_from(length).map_err(|_| Malformed))
    }
}

/// A value that travels between the host and a worker. A function that takes or returns one
/// without this cannot be linked.
pub(crate) trait Crossing: Sized {
    fn write(&self, out: &mut Vec<u8>);

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed>;

    fn write_all(values: &[Self], out: &mut Vec<u8>) {
        for value in values {
            value.write(out);
        }
    }

    fn read_all(count: usize, from: &mut Incoming<'_>) -> Result<Vec<Self>, Malformed> {
        // Each takes a byte at least.
        if count > from.0.len() {
            return Err(Malformed);
        }
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(Self::read(from)?);
        }
        Ok(values)
    }
}

/// The bytes of a value.
pub(crate) fn to_bytes(value: &impl Crossing) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write(&mut bytes);
    bytes
}

/// The value that these are, all of them.
pub(crate) fn from_bytes<T: Crossing>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut from = Incoming(bytes);
    let value = T::read(&mut from)?;
    if from.0.is_empty() { Ok(value) } else { Err(Malformed) }
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    // What crosses is bounded far below by the limits of calls.
    u32::try_from(length).unwrap_or(u32::MAX).write(out);
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Crossing for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
                let bytes = from.take(size_of::<Self>())?;
                Ok(Self::from_le_bytes(bytes.try_into().map_err(|_| Malformed)?))
            }
        })*
    };
}

numbers!(u16, u32, u64, i32, i64, f64);

impl Crossing for u8 {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        Ok(from.take(1)?[0])
    }

    fn write_all(bytes: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
    }

    fn read_all(count: usize, from: &mut Incoming<'_>) -> Result<Vec<Self>, Malformed> {
        from.take(count).map(<[u8]>::to_vec)
    }
}

/// As nanoseconds.
impl Crossing for Duration {
    fn write(&self, out: &mut Vec<u8>) {
        u64::try_from(self.as_nanos()).unwrap_or(u64::MAX).write(out);
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        u64::read(from).map(Self::from_nanos)
    }
}

impl Crossing for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
}

impl Crossing for String {
    fn write(&self, out: &mut Vec<u8>) {
        write_length(self.len(), out);
        out.extend_from_slice(self.as_bytes());
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        Self::from_utf8(Vec::read(from)?).map_err(|_| Malformed)
    }
}

impl<T: Crossing> Crossing for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        write_length(self.len(), out);
        T::write_all(self, out);
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        let count = from.length()?;
        T::read_all(count, from)
    }
}

impl<T: Crossing> Crossing for Box<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        T::read(from).map(Self::new)
    }
}

impl<T: Crossing> Crossing for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

impl<T: Crossing, E: Crossing> Crossing for Result<T, E> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_ok().write(out);
        match self {
            Ok(value) => value.write(out),
            Err(error) => error.write(out),
        }
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        if bool::read(from)? { T::read(from).map(Ok) } else { E::read(from).map(Err) }
    }
}

/// The number of a handle in the table of its call, which the host keeps. A worker that invents
/// one reaches another handle of the same call, or none.
impl<T: 'static> Crossing for Resource<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.owned().write(out);
        self.rep().write(out);
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        let owned = bool::read(from)?;
        let number = u32::read(from)?;
        Ok(if owned { Self::new_own(number) } else { Self::new_borrow(number) })
    }
}

macro_rules! tuple {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Crossing),*> Crossing for ($($name,)*) {
            fn write(&self, _out: &mut Vec<u8>) {
                $(self.$index.write(_out);)*
            }

            fn read(_from: &mut Incoming<'_>) -> Result<Self, Malformed> {
                Ok(($($name::read(_from)?,)*))
            }
        }
    };
}

super::tuples::for_tuples!(tuple);

/// Has records cross, member by member. It names every member, as the compiler checks.
macro_rules! crossing {
    ($($module:ident::$record:ident { $($member:ident),* $(,)? };)*) => {
        $(impl $crate::watch::crossing::Crossing for $module::$record {
            fn write(&self, out: &mut Vec<u8>) {
                let Self { $($member,)* } = self;
                $($crate::watch::crossing::Crossing::write($member, out);)*
            }

            fn read(
                from: &mut $crate::watch::crossing::Incoming<'_>,
            ) -> Result<Self, $crate::watch::crossing::Malformed> {
                Ok(Self { $($member: $crate::watch::crossing::Crossing::read(from)?,)* })
            }
        })*
    };
}
pub(crate) use crossing;

/// Has a value cross that is one of several, each with the number that it has on the way, and
/// perhaps with something that belongs to it.
macro_rules! one_of {
    ($type:ty { $($variant:ident $(($inner:ident))? = $number:literal),* $(,)? }) => {
        impl $crate::watch::crossing::Crossing for $type {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($inner))? => {
                        out.push($number);
                        $($crate::watch::crossing::Crossing::write($inner, out);)?
                    })*
                }
            }

            fn read(
                from: &mut $crate::watch::crossing::Incoming<'_>,
            ) -> Result<Self, $crate::watch::crossing::Malformed> {
                match <u8 as $crate::watch::crossing::Crossing>::read(from)? {
                    $($number => Ok(Self::$variant $(({
                        let $inner = $crate::watch::crossing::Crossing::read(from)?;
                        $inner
                    }))?),)*
                    _ => Err($crate::watch::crossing::Malformed),
                }
            }
        }
    };
}
pub(crate) use one_of;

/// Has flags cross, each of them as a bit of a byte.
macro_rules! flags {
    ($($type:ty { $($flag:ident = $bit:literal),* $(,)? };)*) => {
        $(impl $crate::watch::crossing::Crossing for $type {
            fn write(&self, out: &mut Vec<u8>) {
                out.push(0 $(| (u8::from(self.contains(Self::$flag)) << $bit))*);
            }

            fn read(
                from: &mut $crate::watch::crossing::Incoming<'_>,
            ) -> Result<Self, $crate::watch::crossing::Malformed> {
                let bits = <u8 as $crate::watch::crossing::Crossing>::read(from)?;
                let mut flags = Self::empty();
                $(if bits & (1 << $bit) != 0 {
                    flags |= Self::$flag;
                })*
                Ok(flags)
            }
        })*
    };
}
pub(crate) use flags;

#[cfg(test)]
mod tests {
    use super::*;

    type Sample = (String, Vec<(String, Vec<u8>)>, Option<u64>, Result<bool, f64>);

    fn sample() -> Sample {
        ("text \u{1f6a2}".to_owned(), vec![("k".to_owned(), vec![0, 255]), Default::default()], Some(7), Err(-0.5))
    }

    #[test]
    fn a_value_comes_back_whole() {
        assert_eq!(from_bytes::<Sample>(&to_bytes(&sample())), Ok(sample()));
        let handle = from_bytes::<Resource<String>>(&to_bytes(&Resource::<String>::new_borrow(9))).expect("a handle");
        assert!(handle.rep() == 9 && !handle.owned());
    }

    #[test]
    fn bytes_that_are_cut_short_or_too_many_are_refused() {
        let bytes = to_bytes(&sample());
        for end in 0..bytes.len() {
            assert_eq!(from_bytes::<Sample>(&bytes[..end]), Err(Malformed), "{end}");
        }
        assert_eq!(from_bytes::<Sample>(&[bytes, vec![0]].concat()), Err(Malformed));
    }

    #[test]
    fn no_length_and_no_number_is_believed() {
        for bytes in [&[255; 4][..], &[255, 255, 255, 127, 1, 2, 3]] {
            assert!(from_bytes::<Vec<u8>>(bytes).is_err() && from_bytes::<Vec<String>>(bytes).is_err(), "{bytes:?}");
        }
        assert_eq!(from_bytes::<Option<u8>>(&[2, 0]), Err(Malformed));
        assert_eq!(from_bytes::<String>(&[1, 0, 0, 0, 0xff]), Err(Malformed), "no UTF-8");
    }
}
