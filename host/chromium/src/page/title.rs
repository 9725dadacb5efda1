//! What is being asked about the title of a page.

/// One question at a time, put again where the title may have changed meanwhile.
#[derive(Debug, Default)]
pub(crate) struct TitleQuestion {
    under_way: bool,
    again: bool,
    answers: u64,
    reported: String,
}

impl TitleQuestion {
    /// The number of the answer that will be recent enough, and whether the caller is to
    /// put the question: otherwise another task puts it again.
    pub(crate) fn begin(&mut self) -> (u64, bool) {
        self.again = self.under_way;
        let others = std::mem::replace(&mut self.under_way, true);
        (self.answers + 1 + u64::from(others), !others)
    }

    /// Keeps the title that was reported. Whether the question is to be put again.
    pub(crate) fn answered(&mut self, title: String) -> bool {
        self.reported = title;
        self.answers += 1;
        self.under_way = std::mem::take(&mut self.again);
        self.under_way
    }

    /// The title that was reported last, where the answer of this number is there. It does
    /// not wait for a page that changes its title all the time.
    pub(crate) fn reported(&self, answer: u64) -> Option<&str> {
        (self.answers >= answer).then_some(&self.reported)
    }
}
