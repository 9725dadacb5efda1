//! Where to cut a long text for a model: between characters always, and between
//! lines where that keeps half of what there is room for.

/// Where to end within the first `limit_bytes`: behind a line, where that keeps
/// half of them.
#[must_use]
pub fn head_end(text: &str, limit_bytes: usize) -> usize {
    let most = text.floor_char_boundary(limit_bytes);
    let line = text.get(..most).and_then(|head| head.rfind('\n')).map(|newline| newline + 1);
    line.filter(|line| *line >= most / 2 && most < text.len()).unwrap_or(most)
}

/// Where to begin for the last `limit_bytes`: before a line, where that keeps
/// half of them.
#[must_use]
pub fn tail_start(text: &str, limit_bytes: usize) -> usize {
    let least = text.ceil_char_boundary(text.len().saturating_sub(limit_bytes));
    if least == 0 {
        return 0;
    }
    let line = text.get(least..).and_then(|tail| tail.find('\n')).map(|newline| least + newline + 1);
    line.filter(|line| *line <= least + (text.len() - least) / 2).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_lines_where_that_keeps_half_and_between_characters_always() {
        let text = "one\ntwo\nthree";
        assert_eq!((head_end(text, 9), head_end(text, 100), head_end(text, 2)), (8, text.len(), 2));
        assert_eq!((tail_start(text, 8), tail_start(text, 100), tail_start(text, 3)), (8, 0, text.len() - 3));
        assert_eq!((head_end("항구", 4), tail_start("항구", 4)), (3, 3));
    }
}
