//! Floods: what programs print when they print without end.
//!
//! Knows what is printed, not where it goes.

use std::fmt::Write as _;

/// A kind of flood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines shorter than the screen is wide, as logs are.
    ShortLines,
    /// Lines that wrap, as minified data does.
    LongLines,
    /// Lines with colours, as compilers and tests print them.
    Colours,
    /// Lines that are drawn again and again, one and several at a time.
    ProgressBars,
    /// Text of which each character takes two columns.
    WideCharacters,
    /// A screen that is drawn anew by place, as full-screen programs do.
    FullScreen,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ShortLines, Self::LongLines, Self::Colours, Self::ProgressBars, Self::WideCharacters, Self::FullScreen];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ShortLines => "short lines",
            Self::LongLines => "long lines",
            Self::Colours => "colours",
            Self::ProgressBars => "progress bars",
            Self::WideCharacters => "wide characters",
            Self::FullScreen => "full screen",
        }
    }

    /// At least so many bytes of it, and a last line that is the same for all.
    #[must_use]
    pub fn text(self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 4096);
        let mut number = 0;
        while text.len() < bytes {
            // Nobody fails to write to a string.
            let _ = self.append(&mut text, number);
            number += 1;
        }
        text.push_str("\x1b[0m\x1b[2J\x1b[H");
        text.push_str(LAST_LINE);
        text.push('\n');
        text
    }

    fn append(self, text: &mut String, number: usize) -> std::fmt::Result {
        match self {
            Self::ShortLines => {
                writeln!(text, "2026-01-02T03:04:05.{number:06} worker {} did {}", number % 8, WORDS[number % 7])
            }
            Self::LongLines => {
                write!(text, "{{\"number\":{number}")?;
                for field in 0..40 + number % 50 {
                    write!(text, ",\"{}\":{}", WORDS[field % 7], number * 31 + field)?;
                }
                writeln!(text, "}}")
            }
            Self::Colours => writeln!(
                text,
                "\x1b[32mok\x1b[0m {number} \x1b[1;{}m{}\x1b[0m \x1b[38;5;{}mtook\x1b[39m {} ms",
                31 + number % 7,
                WORDS[number % 7],
                number % 256,
                number % 97
            ),
            Self::ProgressBars if number % 400 < 200 => {
                let done = number % 51;
                let bar = format!("{}>{}", "=".repeat(done), " ".repeat(50 - done));
                write!(text, "\r\x1b[K\x1b[36m{:3} %\x1b[0m [{bar}] eta {} s", done * 2, 50 - done)?;
                if number % 100 == 99 { writeln!(text) } else { Ok(()) }
            }
            Self::ProgressBars => {
                for (layer, word) in WORDS.iter().enumerate().take(4) {
                    writeln!(text, "\x1b[2Klayer {layer}: {} of 5000 kB {}", (number * 7 + layer) % 5000, word)?;
                }
                write!(text, "\x1b[4A")
            }
            Self::WideCharacters => {
                writeln!(text, "{number} 터미널은 프로그램이 인쇄하는 것을 보여준다 终端显示程序打印的内容")
            }
            Self::FullScreen => {
                if number == 0 {
                    write!(text, "\x1b[?1049h")?;
                }
                write!(text, "\x1b[H\x1b[1mtasks: {number}\x1b[0m\x1b[K")?;
                for row in 2..24 {
                    let share = (number * row) % 100;
                    write!(text, "\x1b[{row};1H{:6} \x1b[32m{share:3}\x1b[39m {}\x1b[K", number + row, WORDS[row % 7])?;
                }
                Ok(())
            }
        }
    }
}

/// What stands in the first line at the end.
pub const LAST_LINE: &str = "the end of the flood";

const WORDS: [&str; 7] = ["compile", "link", "a test of the parser", "fetch", "an index of everything", "ok", "write"];
