//! The colours and styles with which a terminal would print next, as far as they
//! are known.
//!
//! What was set before one looked is not known and need not be: text that is
//! written with it has not changed it either. Never knows what is printed.

use avt::{
    Color,
    parser::{SgrOp, SgrOps},
};

/// Which of the styles are known, and which are set, by bit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Styles {
    known: u8,
    set: u8,
}

/// A style that is there or not, and what turns it on and off.
const STYLES: [(SgrOp, SgrOp); 5] = [
    (SgrOp::SetItalic, SgrOp::ResetItalic),
    (SgrOp::SetUnderline, SgrOp::ResetUnderline),
    (SgrOp::SetBlink, SgrOp::ResetBlink),
    (SgrOp::SetInverse, SgrOp::ResetInverse),
    (SgrOp::SetStrikethrough, SgrOp::ResetStrikethrough),
];

/// The colours and styles; `None` stands for what is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Pen {
    foreground: Option<Option<Color>>,
    background: Option<Option<Color>>,
    /// The operation that set it.
    intensity: Option<SgrOp>,
    styles: Styles,
}

impl Pen {
    pub(super) fn apply(&mut self, operations: &SgrOps) {
        for &operation in operations.as_slice() {
            match operation {
                SgrOp::Reset => {
                    *self = Self {
                        foreground: Some(None),
                        background: Some(None),
                        intensity: Some(SgrOp::ResetIntensity),
                        styles: Styles { known: u8::MAX, set: 0 },
                    }
                }
                SgrOp::SetForegroundColor(colour) => self.foreground = Some(Some(colour)),
                SgrOp::ResetForegroundColor => self.foreground = Some(None),
                SgrOp::SetBackgroundColor(colour) => self.background = Some(Some(colour)),
                SgrOp::ResetBackgroundColor => self.background = Some(None),
                SgrOp::SetBoldIntensity | SgrOp::SetFaintIntensity | SgrOp::ResetIntensity => {
                    self.intensity = Some(operation);
                }
                _ => {
                    for (bit, (set, reset)) in STYLES.iter().enumerate() {
                        if operation == *set || operation == *reset {
                            self.styles.known |= 1 << bit;
                            self.styles.set &= !(1 << bit);
                            self.styles.set |= u8::from(operation == *set) << bit;
                        }
                    }
                }
            }
        }
    }

    /// What makes this pen the other one, as far as that is known.
    pub(super) fn change_to(&self, other: &Self) -> Vec<SgrOp> {
        if self == other {
            return Vec::new();
        }
        let colour = |ours: Option<Option<Color>>, theirs: Option<Option<Color>>, set: fn(Color) -> SgrOp, reset| {
            theirs.filter(|_| ours != theirs).map(|colour| colour.map_or(reset, set))
        };
        let foreground =
            colour(self.foreground, other.foreground, SgrOp::SetForegroundColor, SgrOp::ResetForegroundColor);
        let background =
            colour(self.background, other.background, SgrOp::SetBackgroundColor, SgrOp::ResetBackgroundColor);
        let intensity = other.intensity.filter(|_| self.intensity != other.intensity);
        let styles = STYLES.iter().enumerate().filter_map(|(bit, (set, reset))| {
            let of = |styles: Styles| (styles.known & 1 << bit != 0).then_some(styles.set & 1 << bit != 0);
            let wanted = of(other.styles).filter(|_| of(self.styles) != of(other.styles))?;
            Some(if wanted { *set } else { *reset })
        });
        [foreground, background, intensity].into_iter().flatten().chain(styles).collect()
    }
}
