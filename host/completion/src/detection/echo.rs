//! Tells what a terminal repeats of the input from what a program answers.
//!
//! Only the last line of the input is looked for: what comes before its echo
//! may be the prompts between the lines. White space does not count, since
//! line editors wrap. A line editor may show the line twice; each ends the
//! echo anew. Where it wraps, an editor may show the first letter of the new row
//! twice. Where the echo is not found, nothing is taken for one.

/// What of the input is looked for at most, in characters.
const LONGEST: usize = 256;

#[derive(Debug, Clone, Default)]
pub(super) struct Echo {
    /// The end of the input's last line, without white space.
    expected: Box<[char]>,
    /// How much of it the output has just repeated.
    matched: usize,
    found: bool,
    answered: bool,
    /// The cursor has just gone to the start of a row.
    returned: bool,
    /// What matched last may have been the letter before it once more.
    doubtful: bool,
}

impl Echo {
    pub(super) fn new(input: &str) -> Self {
        let last = last_line(input);
        let mut expected: Vec<_> = last.chars().rev().filter(|letter| counts(*letter)).take(LONGEST).collect();
        expected.reverse();
        Self { found: expected.is_empty(), expected: expected.into(), ..Self::default() }
    }

    /// Takes output. Returns whether some of it was visible and no echo.
    pub(super) fn read(&mut self, text: &str) -> bool {
        let mut answers = false;
        for letter in text.chars() {
            if !counts(letter) {
                self.returned |= letter == '\r';
                continue;
            }
            let expected = self.expected.get(self.matched) == Some(&letter);
            let repeats = self.matched.checked_sub(1).is_some_and(|last| self.expected[last] == letter);
            let wraps = std::mem::take(&mut self.returned) && repeats;
            if expected {
                self.doubtful = wraps;
                self.matched += 1;
                // The first showing is never an answer; a second may be one,
                // of a program that says what it was told.
                answers |= self.found;
                self.answered |= self.found;
                if self.matched == self.expected.len() {
                    (self.matched, self.found, self.answered) = (0, true, false);
                }
            } else if repeats && (wraps || std::mem::take(&mut self.doubtful)) {
                // Not another letter.
            } else {
                (answers, self.answered) = (true, true);
                self.matched = usize::from(self.expected.first() == Some(&letter));
            }
        }
        answers
    }

    /// Whether the input was seen on the screen, or had nothing to be seen.
    pub(super) fn is_found(&self) -> bool {
        self.found
    }

    /// Whether anything visible came after the echo, or without one.
    pub(super) fn is_answered(&self) -> bool {
        self.answered
    }

    /// The screen was drawn by a program that owns it: no echo is to come.
    pub(super) fn drawn(&mut self) {
        (self.found, self.answered) = (true, true);
    }
}

fn counts(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control()
}

/// The last line of an input that is not blank.
pub(super) fn last_line(input: &str) -> &str {
    input.rsplit(['\n', '\r']).map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}
