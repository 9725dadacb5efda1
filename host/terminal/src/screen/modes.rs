//! Whether the emulator is set as it is at its start, as far as that changes
//! where characters go.
//!
//! Owns which functions change that. Never knows what is on the screen.

use avt::{
    Charset,
    parser::{AnsiMode, DecMode, Function},
};

/// The emulator's modes; what cannot be told is taken for unusual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EmulatorModes {
    /// A part of the screen scrolls by itself.
    region: bool,
    origin: bool,
    no_wrap: bool,
    insert: bool,
    new_line: bool,
    tabs: bool,
    drawing: [bool; 2],
    second_set: bool,
    /// A cursor was saved while something that is saved with it was unusual.
    saved: bool,
    /// Such a cursor was brought back.
    restored: bool,
}

impl EmulatorModes {
    pub(super) fn are_usual(self) -> bool {
        self == Self { saved: self.saved, ..Self::default() }
    }

    /// Whether it does more than to write below and above where the cursor is,
    /// on a screen set as at its start. Such a function is told to
    /// [`EmulatorModes::note`] when it is carried out.
    pub(super) fn goes_apart(self, function: &Function) -> bool {
        match function {
            Function::Decset(modes) | Function::Decrst(modes) => {
                let mut modes = modes.as_slice().iter();
                modes.any(|mode| !matches!(mode, DecMode::CursorKeys | DecMode::TextCursorEnable))
            }
            Function::Sm(modes) | Function::Rm(modes) => !modes.as_slice().is_empty(),
            Function::Cbt(_)
            | Function::Cht(_)
            | Function::Ctc(_)
            | Function::Dch(_)
            | Function::Decaln
            | Function::Decrc
            | Function::Decsc
            | Function::Decstbm(..)
            | Function::Decstr
            | Function::Dl(_)
            | Function::G1d4(_)
            | Function::Gzd4(_)
            | Function::Hts
            | Function::Ich(_)
            | Function::Il(_)
            | Function::Rep(_)
            | Function::Ri
            | Function::Ris
            | Function::Scorc
            | Function::Scosc
            | Function::Sd(_)
            | Function::Si
            | Function::So
            | Function::Su(_)
            | Function::Tbc(_)
            | Function::Vpr(_) => !self.is_without_effect(function),
            _ => false,
        }
    }

    /// Whether it sets what is set already.
    pub(super) fn is_without_effect(self, function: &Function) -> bool {
        match function {
            Function::Gzd4(Charset::Ascii) => !self.drawing[0],
            Function::G1d4(Charset::Ascii) => !self.drawing[1],
            Function::Si => !self.second_set,
            _ => false,
        }
    }

    /// The function is carried out on a screen of so many rows.
    pub(super) fn note(&mut self, function: &Function, rows: u16) {
        match function {
            Function::Decset(modes) => modes.as_slice().iter().for_each(|mode| self.set(*mode, true)),
            Function::Decrst(modes) => modes.as_slice().iter().for_each(|mode| self.set(*mode, false)),
            Function::Sm(modes) => modes.as_slice().iter().for_each(|mode| self.set_ansi(*mode, true)),
            Function::Rm(modes) => modes.as_slice().iter().for_each(|mode| self.set_ansi(*mode, false)),
            Function::Decsc | Function::Scosc => self.save(),
            Function::Decrc | Function::Scorc => self.restore(),
            Function::Decstbm(top, bottom) => self.region = *top > 1 || (*bottom != 0 && *bottom < rows),
            Function::Gzd4(set) => self.drawing[0] = *set != Charset::Ascii,
            Function::G1d4(set) => self.drawing[1] = *set != Charset::Ascii,
            Function::So => self.second_set = true,
            Function::Si => self.second_set = false,
            Function::Hts | Function::Tbc(_) | Function::Ctc(_) => self.tabs = true,
            Function::Ris => *self = Self::default(),
            // What it resets is left as it was: that is less to be sure of.
            Function::Decstr => {}
            _ => {}
        }
    }

    fn set(&mut self, mode: DecMode, to: bool) {
        match mode {
            DecMode::Origin => self.origin = to,
            DecMode::AutoWrap => self.no_wrap = !to,
            DecMode::SaveCursor | DecMode::SaveCursorAltScreenBuffer if to => self.save(),
            DecMode::SaveCursor | DecMode::SaveCursorAltScreenBuffer => self.restore(),
            DecMode::CursorKeys | DecMode::TextCursorEnable | DecMode::AltScreenBuffer => {}
        }
    }

    fn set_ansi(&mut self, mode: AnsiMode, to: bool) {
        match mode {
            AnsiMode::Insert => self.insert = to,
            AnsiMode::NewLine => self.new_line = to,
        }
    }

    fn save(&mut self) {
        self.saved |= self.origin || self.no_wrap;
    }

    fn restore(&mut self) {
        self.restored |= self.saved;
        if !self.saved {
            (self.origin, self.no_wrap) = (false, false);
        }
    }
}
