//! `ermine studio`: a local web app to look at a table, compare learners and understand models.

use crate::failure::Failure;
use crate::interrupt;
use crate::terminal::{bold, print_message};
use ermine_core::memory;
use ermine_studio::{Studio, StudioConfig};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  ermine studio
  ermine studio penguins.csv
  ermine studio data/adult.csv --folder data --no-browser --port 8100

Opens the studio in the browser. It listens on localhost only, and the address has a random token. Files outside the folder are refused. Comparisons and models are kept in
.ermine-studio in the folder, and are there again at the next start. Ctrl-C ends it.";

/// Explore data and models in the browser
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Table to open
    file: Option<PathBuf>,
    /// Folder that the studio may read and write [default: the current folder]
    #[arg(long, value_name = "FOLDER", default_value = ".", hide_default_value = true)]
    folder: PathBuf,
    /// Folder of the session: journal, models, uploaded files [default: .ermine-studio in the folder]
    #[arg(long, value_name = "FOLDER")]
    session: Option<PathBuf>,
    /// Port to listen on; 0 for any
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Largest file that can be dropped onto the page
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size)]
    max_upload: u64,
    /// Print the address only
    #[arg(long)]
    no_browser: bool,
}

fn size(text: &str) -> Result<u64, String> {
    memory::parse(text).ok_or_else(|| format!("expected {}", memory::EXPECTED))
}

/// Runs until a signal comes.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut config = StudioConfig::new(&args.folder);
    config.session = args.session.clone().unwrap_or(config.session);
    // The path was typed in the current folder.
    config.table = args.file.as_ref().map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
    (config.port, config.max_upload) = (args.port, args.max_upload);
    let studio = Studio::bind(&config).map_err(Failure::work)?;
    let url = studio.url();
    print_message(format!("studio: {}", bold(&url)));
    if !args.no_browser {
        open_browser(&url);
    }
    let stopper = studio.stopper();
    std::thread::spawn(move || {
        while !interrupt::stopped() {
            std::thread::sleep(Duration::from_millis(20));
        }
        interrupt::acknowledge();
        stopper.stop();
    });
    studio.run().map_err(Failure::work)
}

/// Opens the address in the browser. Without a browser, the printed address is enough.
fn open_browser(url: &str) {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    let _ = command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
