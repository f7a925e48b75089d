//! Charts for people: curves in characters for a terminal, SVG pictures, and a page of HTML to put them on.
//!
//! Pictures have no script and load nothing. Their colors follow the reader's light or dark setting.

pub mod html;
pub mod plot;
pub mod svg;
pub mod text;
