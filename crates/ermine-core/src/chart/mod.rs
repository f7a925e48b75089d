//! Charts: text charts for the terminal, SVG pictures, and HTML pages that contain them.
//!
//! Pictures contain no scripts and load nothing. Their colors follow the reader's light or dark setting.

pub mod html;
pub mod plot;
pub mod svg;
pub mod text;
