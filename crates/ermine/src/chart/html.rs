//! A page of HTML that stands alone: no script, nothing loaded; light and dark, narrow screens and paper.

use super::svg::escape;

/// A page that is being written.
pub struct Page {
    body: String,
}

const STYLE: &str = concat!(
    ":root{color-scheme:light dark}*{box-sizing:border-box}",
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:#222;background:#fff}",
    "h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2.2rem;border-bottom:1px solid #ddd}",
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}",
    "th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #eee;white-space:nowrap}",
    "td.w{white-space:normal;text-align:left;min-width:14rem}",
    "th{font-weight:600;color:#555}td:first-child,th:first-child,td.l,th.l{text-align:left}",
    ".t{overflow-x:auto}.note{color:#666;font-size:.9rem}",
    "pre{background:#f5f5f2;padding:.8rem;overflow-x:auto;font-size:.85rem;line-height:1.35}",
    ".charts{display:flex;flex-wrap:wrap;gap:1rem}.charts svg{max-width:100%;height:auto}",
    "figure{margin:1rem 0}figure svg{max-width:100%;height:auto}",
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1b1d}h2{border-color:#444}th{color:#bbb}",
    "th,td{border-color:#333}.note{color:#aaa}pre{background:#2a2a2d}}",
    "@media print{body{max-width:none;font-size:11pt}h2,figure,.charts svg{break-inside:avoid}h2{break-after:avoid}}",
);

impl Page {
    /// A page with this title.
    pub fn new(title: &str) -> Page {
        let title = escape(title);
        let head = "<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">";
        let body = format!(
            "<!doctype html>\n<html lang=\"en\">\n{head}\n<title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n"
        );
        Page { body }
    }

    /// Begins a part.
    pub fn heading(&mut self, text: &str) {
        self.push("h2", text);
    }

    /// Text.
    pub fn paragraph(&mut self, text: &str) {
        self.push("p", text);
    }

    /// Text beside the point.
    pub fn note(&mut self, text: &str) {
        self.body.push_str(&format!("<p class=\"note\">{}</p>\n", escape(text)));
    }

    /// Text in fixed width, line by line.
    pub fn code(&mut self, text: &str) {
        let lines: Vec<String> = text.lines().map(escape).collect();
        self.body.push_str(&format!("<pre>{}</pre>\n", lines.join("\n")));
    }

    /// A table; the first row is its heading. Cells that are sentences may wrap.
    pub fn table(&mut self, rows: &[Vec<String>]) {
        self.body.push_str("<div class=\"t\"><table>\n");
        for (i, row) in rows.iter().enumerate() {
            let cell = |text: &String| {
                let tag = if i == 0 { "th" } else { "td" };
                let is_word = text.chars().next().is_some_and(char::is_alphabetic);
                let class = match (text.chars().count() > 40, is_word) {
                    (true, _) if i > 0 => " class=\"w\"",
                    (_, true) => " class=\"l\"",
                    _ => "",
                };
                format!("<{tag}{class}>{}</{tag}>", escape(text))
            };
            self.body.push_str(&format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>()));
        }
        self.body.push_str("</table></div>\n");
    }

    /// A picture made by [`Svg`](super::svg::Svg).
    pub fn svg(&mut self, svg: &str) {
        self.body.push_str(&format!("<figure>{svg}</figure>\n"));
    }

    /// Small pictures side by side.
    pub fn charts(&mut self, charts: &[String]) {
        self.body.push_str(&format!("<div class=\"charts\">{}</div>\n", charts.concat()));
    }

    /// The finished page.
    pub fn finish(self) -> String {
        self.body + "</html>\n"
    }

    fn push(&mut self, tag: &str, text: &str) {
        self.body.push_str(&format!("<{tag}>{}</{tag}>\n", escape(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_and_nothing_is_loaded() {
        let mut page = Page::new("<b>");
        page.table(&[vec!["a".into()], vec!["<script>".into()]]);
        page.code("x < y\n\u{1b}[2J");
        let html = page.finish();
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains('\u{1b}'));
        assert!(!html.contains("http") && html.contains("x &lt; y\n"), "{html}");
    }
}
