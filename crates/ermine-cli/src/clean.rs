//! Removal of control characters from text of files and models.

/// Removes control characters from text of files or models, which could move the cursor or change earlier output.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(clean("a\u{1b}[2Jb\r\nc\u{9b}"), "a\u{fffd}[2Jb\u{fffd}\nc\u{fffd}");
    }
}
