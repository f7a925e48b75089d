//! Pages, scripts and styles, which are part of the program.

/// A page: its path, title and contents, and the script that fills it.
pub struct StudioPage {
    /// The name in the navigation; empty for pages that are not listed there.
    pub nav: &'static str,
    /// The title.
    pub title: &'static str,
    /// The contents.
    pub main: &'static str,
    /// The script.
    pub script: &'static str,
}

/// Data.
pub const DATA: StudioPage =
    StudioPage { nav: "data", title: "Data", main: include_str!("../assets/data.html"), script: "data.js" };
/// Compare.
pub const COMPARE: StudioPage =
    StudioPage { nav: "compare", title: "Compare", main: include_str!("../assets/compare.html"), script: "compare.js" };
/// All models.
pub const MODELS: StudioPage =
    StudioPage { nav: "models", title: "Models", main: include_str!("../assets/models.html"), script: "models.js" };
/// One model.
pub const MODEL: StudioPage =
    StudioPage { nav: "models", title: "Understand", main: include_str!("../assets/model.html"), script: "model.js" };
/// What if.
pub const WHAT_IF: StudioPage =
    StudioPage { nav: "models", title: "What if", main: include_str!("../assets/what_if.html"), script: "what_if.js" };
/// Keep.
pub const KEEP: StudioPage =
    StudioPage { nav: "models", title: "Keep", main: include_str!("../assets/keep.html"), script: "keep.js" };
/// The playground.
pub const LEARN: StudioPage =
    StudioPage { nav: "learn", title: "Learn", main: include_str!("../assets/learn.html"), script: "learn.js" };

const SHELL: &str = include_str!("../assets/shell.html");
const REFUSED: &str = include_str!("../assets/refused.html");

impl StudioPage {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let mut html = SHELL.replace("{{title}}", self.title).replace("{{main}}", self.main);
        html = html.replace("{{script}}", self.script);
        let link = format!("data-nav=\"{}\"", self.nav);
        html.replace(&link, &format!("{link} aria-current=\"page\""))
    }
}

/// The page for requests without the token.
pub fn refused() -> &'static str {
    REFUSED
}

/// A script, style or picture by its name, with its type.
pub fn asset(name: &str) -> Option<(&'static str, &'static [u8])> {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    Some(match name {
        "style.css" => ("text/css; charset=utf-8", include_bytes!("../assets/style.css")),
        "icon.svg" => ("image/svg+xml", include_bytes!("../assets/icon.svg")),
        "lib.js" => (SCRIPT, include_bytes!("../assets/lib.js")),
        "charts.js" => (SCRIPT, include_bytes!("../assets/charts.js")),
        "data.js" => (SCRIPT, include_bytes!("../assets/data.js")),
        "compare.js" => (SCRIPT, include_bytes!("../assets/compare.js")),
        "models.js" => (SCRIPT, include_bytes!("../assets/models.js")),
        "model.js" => (SCRIPT, include_bytes!("../assets/model.js")),
        "what_if.js" => (SCRIPT, include_bytes!("../assets/what_if.js")),
        "keep.js" => (SCRIPT, include_bytes!("../assets/keep.js")),
        "learn.js" => (SCRIPT, include_bytes!("../assets/learn.js")),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: [&StudioPage; 7] = [&DATA, &COMPARE, &MODELS, &MODEL, &WHAT_IF, &KEEP, &LEARN];

    #[test]
    fn every_page_is_small_and_has_its_script() {
        for page in PAGES {
            let shared: usize =
                ["style.css", "icon.svg", "lib.js", "charts.js"].iter().map(|name| asset(name).unwrap().1.len()).sum();
            let own = asset(page.script).unwrap().1.len();
            let total = page.html().len() + shared + own;
            assert!(total < 300_000, "{}: {total} bytes", page.title);
            assert!(!page.html().contains("{{"), "{}", page.title);
            assert!(page.html().contains("aria-current"), "{}", page.title);
        }
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for name in ["style.css", "lib.js", "charts.js", "data.js", "compare.js", "model.js", "learn.js"] {
            let text = String::from_utf8_lossy(asset(name).unwrap().1);
            let links = text.matches("http").count() - text.matches("http://www.w3.org/2000/svg").count();
            let own = text.matches("http://127.0.0.1").count();
            assert_eq!(links, own, "{name}");
        }
    }
}
