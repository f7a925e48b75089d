//! Charts for people: a curve in characters for a terminal, and the pieces that SVG pictures are made of.
//!
//! Pictures have no script and load nothing. Their colours follow the reader's light or dark setting.

pub mod svg;
pub mod text;
