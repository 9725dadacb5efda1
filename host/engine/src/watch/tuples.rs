//! Parameters come as tuples.

/// Has a macro write something for tuples of each length that parameters have.
macro_rules! for_tuples {
    ($of_tuple:ident) => {
        $of_tuple!();
        $of_tuple!(A 0);
        $of_tuple!(A 0, B 1);
        $of_tuple!(A 0, B 1, C 2);
        $of_tuple!(A 0, B 1, C 2, D 3);
        $of_tuple!(A 0, B 1, C 2, D 3, E 4);
    };
}
pub(super) use for_tuples;
