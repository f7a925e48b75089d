//! A self-contained HTML page: no scripts, no external resources; supports dark mode, narrow screens and print.

use super::svg::escape;

/// An HTML page under construction.
pub struct Page {
    body: String,
}

/// Cells with more characters are treated as sentences, which may wrap.
const SENTENCE: usize = 40;
/// Tables with more rows are collapsed.
const LONG: usize = 40;

const STYLE: &str = concat!(
    ":root{color-scheme:light dark}*{box-sizing:border-box}",
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:#222;background:#fff}",
    "h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2.2rem;border-bottom:1px solid #ddd}",
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}",
    "th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #eee;white-space:nowrap}",
    "td.w{white-space:normal;text-align:left;min-width:14rem;overflow-wrap:anywhere}",
    "th{font-weight:600;color:#555}td:first-child,th:first-child,td.l,th.l{text-align:left}",
    ".t{overflow-x:auto}.note{color:#666;font-size:.9rem}",
    "pre{background:#f5f5f2;padding:.8rem;overflow-x:auto;font-size:.85rem;line-height:1.35}",
    ".charts{display:flex;flex-wrap:wrap;gap:1rem}.charts svg{max-width:100%;height:auto}",
    "figure{margin:1rem 0}figure svg{max-width:100%;height:auto}",
    "summary{cursor:pointer;margin:.5rem 0;color:#555}",
    "@media(max-width:36rem){table.s tr{display:grid;grid-template-columns:repeat(4,auto);justify-content:space-between;",
    "border-bottom:1px solid #8883}table.s th,table.s td{border:0}table.s th:last-child{display:none}",
    "table.s td.w{grid-column:1/-1;min-width:0;padding-top:0;font-size:.85rem}",
    "table.s{display:block}table.s tbody{display:block}}",
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1b1d}h2{border-color:#444}th{color:#bbb}",
    "th,td{border-color:#333}.note{color:#aaa}pre{background:#2a2a2d}summary{color:#bbb}}",
    "@media print{body{max-width:none;font-size:11pt}h2,figure,.charts svg{break-inside:avoid}h2{break-after:avoid}}",
);

impl Page {
    /// Creates a page with a title.
    pub fn new(title: &str) -> Page {
        let title = escape(title);
        let head = "<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">";
        let body = format!(
            "<!doctype html>\n<html lang=\"en\">\n{head}\n<title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n"
        );
        Page { body }
    }

    /// Appends a section heading.
    pub fn heading(&mut self, text: &str) {
        self.push("h2", text);
    }

    /// Appends a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.push("p", text);
    }

    /// Appends a note in smaller print.
    pub fn note(&mut self, text: &str) {
        self.body.push_str(&format!("<p class=\"note\">{}</p>\n", escape(text)));
    }

    /// Appends preformatted text.
    pub fn code(&mut self, text: &str) {
        let lines: Vec<String> = text.lines().map(escape).collect();
        self.body.push_str(&format!("<pre>{}</pre>\n", lines.join("\n")));
    }

    /// Appends a table; the first row is its heading. Text columns are left-aligned, and long cells may wrap. Columns without values are omitted.
    pub fn table(&mut self, rows: &[Vec<String>]) {
        let n = rows.first().map_or(0, Vec::len);
        let body = || rows.iter().skip(1);
        let used: Vec<usize> = (0..n).filter(|&j| rows.len() < 2 || body().any(|row| !row[j].is_empty())).collect();
        let is_word = |text: &String| text.chars().next().is_some_and(char::is_alphabetic);
        let words: Vec<bool> = (0..n).map(|j| body().all(|row| row[j].is_empty() || is_word(&row[j]))).collect();
        let is_sentence = |text: &String| text.chars().count() > SENTENCE;
        // On a narrow screen a sentence is placed below the other cells of its row.
        let last = used.last().copied().unwrap_or(0);
        let below = used.len() == 5 && body().any(|row| is_sentence(&row[last]));
        self.body.push_str(if below { "<div class=\"t\"><table class=\"s\">\n" } else { "<div class=\"t\"><table>\n" });
        for (i, row) in rows.iter().enumerate() {
            let cell = |&j: &usize| {
                let tag = if i == 0 { "th" } else { "td" };
                let class = match (is_sentence(&row[j]) || (below && j == last), words[j]) {
                    (true, _) if i > 0 => " class=\"w\"",
                    (_, true) => " class=\"l\"",
                    _ if below && j == last => " class=\"l\"",
                    _ => "",
                };
                format!("<{tag}{class}>{}</{tag}>", escape(&row[j]))
            };
            self.body.push_str(&format!("<tr>{}</tr>\n", used.iter().map(cell).collect::<String>()));
        }
        self.body.push_str("</table></div>\n");
    }

    /// Appends a table that is collapsed under its title if it is long.
    pub fn long_table(&mut self, rows: &[Vec<String>], title: &str) {
        if rows.len() <= LONG {
            return self.table(rows);
        }
        self.body.push_str(&format!("<details><summary>{}</summary>\n", escape(title)));
        self.table(rows);
        self.body.push_str("</details>\n");
    }

    /// Appends a picture made by [`Svg`](super::svg::Svg).
    pub fn svg(&mut self, svg: &str) {
        self.body.push_str(&format!("<figure>{svg}</figure>\n"));
    }

    /// Appends small pictures side by side.
    pub fn charts(&mut self, charts: &[String]) {
        self.body.push_str(&format!("<div class=\"charts\">{}</div>\n", charts.concat()));
    }

    /// Returns the finished page.
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
    fn columns_are_aligned_and_empty_columns_are_omitted() {
        let rows = [["name", "value", "none"], ["a", "1", ""], ["b", "nan 2", ""]];
        let mut page = Page::new("t");
        page.table(&rows.map(|row| row.map(String::from).to_vec()));
        let html = page.finish();
        assert!(html.contains("<tr><th class=\"l\">name</th><th>value</th></tr>"), "{html}");
        assert!(html.contains("<tr><td class=\"l\">b</td><td>nan 2</td></tr>"), "{html}");
    }

    #[test]
    fn text_is_escaped_and_nothing_is_loaded() {
        let mut page = Page::new("<b>");
        page.table(&[vec!["a".into()], vec!["<script>".into()]]);
        page.code("x < y\n\u{1b}[2J");
        page.long_table(&vec![vec!["<i>".to_string(), String::new()]; 50], "<u>");
        let html = page.finish();
        assert!(html.contains("<details>") && !html.contains("<i>") && !html.contains("<u>"));
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains('\u{1b}'));
        assert!(!html.contains("http") && html.contains("x &lt; y\n"), "{html}");
    }
}
