//! `ermine completions` and `ermine man`: shell completions and manual pages, generated from the arguments.

use crate::failure::Failure;
use crate::terminal::print;
use clap::{Arg, Command};

const EXAMPLES: &str = "\
Examples:
  ermine completions bash > ~/.local/share/bash-completion/completions/ermine
  ermine completions zsh > ~/.zfunc/_ermine              with fpath+=~/.zfunc before compinit
  ermine completions fish > ~/.config/fish/completions/ermine.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  ermine man > ermine.1
  ermine man train | man -l -";

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

/// Print a manual page
#[derive(clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// Command to describe [default: the program]
    command: Option<String>,
}

/// Prints completions of a program.
pub fn run(args: &Args, program: &Command) -> Result<(), Failure> {
    print(&match args.shell.as_str() {
        "fish" => fish(program),
        "zsh" => format!("#compdef ermine\nautoload -U +X bashcompinit && bashcompinit\n{}", bash(program)),
        _ => bash(program),
    })
}

/// Prints a manual page of a program or of one of its commands.
pub fn run_man(args: &ManArgs, program: &Command) -> Result<(), Failure> {
    let Some(name) = &args.command else { return print(&manual("ermine", program)) };
    let names = || program.get_subcommands().map(Command::get_name).collect::<Vec<_>>().join(", ");
    let unknown = || Failure::Usage(format!("no command named '{name}'; the commands are: {}", names()));
    let command = program.find_subcommand(name).ok_or_else(unknown)?;
    print(&manual(&format!("ermine {name}"), command))
}

fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set())
}

fn flags_of(arg: &Arg) -> Vec<String> {
    let short = arg.get_short().map(|short| format!("-{short}"));
    short.into_iter().chain(arg.get_long().map(|long| format!("--{long}"))).collect()
}

fn values_of(arg: &Arg) -> Vec<String> {
    let takes = arg.get_action().takes_values();
    arg.get_possible_values().iter().filter(|_| takes).map(|value| value.get_name().to_string()).collect()
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn bash(program: &Command) -> String {
    let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    let mut text = "_ermine() {\n    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\"\n".to_string();
    text += &format!(
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"{} --help --version\"\n    else\n        case \"${{COMP_WORDS[1]}}\" in\n",
        commands.join(" ")
    );
    for command in program.get_subcommands() {
        let words: Vec<String> = options(command).flat_map(flags_of).chain(["--help".into()]).collect();
        text += &format!("        {})\n            case \"$previous\" in\n", command.get_name());
        for arg in options(command).filter(|arg| takes_value(arg)) {
            let values = values_of(arg).join(" ");
            // Without a list of values, files are completed.
            text += &format!("            {}) words=\"{values}\" ;;\n", flags_of(arg).join("|"));
        }
        let values: Vec<String> = command.get_positionals().flat_map(values_of).collect();
        text += &format!("            *) words=\"{}\" ;;\n            esac ;;\n", [values, words].concat().join(" "));
    }
    text += "        esac\n    fi\n    COMPREPLY=()\n";
    text += "    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\")); fi\n";
    text += "    if [ ${#COMPREPLY[@]} -eq 0 ] && [ \"${current:0:1}\" != \"-\" ]; then COMPREPLY=($(compgen -f -- \"$current\")); fi\n";
    text + "}\ncomplete -o filenames -F _ermine ermine\n"
}

fn fish(program: &Command) -> String {
    let quoted = |text: String| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_string();
    let mut text = String::new();
    for command in program.get_subcommands() {
        let about = quoted(first_line(command.get_about().map(ToString::to_string).unwrap_or_default()));
        text += &format!("complete -c ermine -n __fish_use_subcommand -a {} -d {about}\n", command.get_name());
    }
    for command in program.get_subcommands() {
        for arg in options(command) {
            text += &format!("complete -c ermine -n '__fish_seen_subcommand_from {}'", command.get_name());
            text += &arg.get_short().map(|short| format!(" -s {short}")).unwrap_or_default();
            text += &arg.get_long().map(|long| format!(" -l {long}")).unwrap_or_default();
            let values = values_of(arg);
            text += match (takes_value(arg), values.is_empty()) {
                (false, _) => "",
                (true, true) => " -r",
                (true, false) => " -x",
            };
            if !values.is_empty() {
                text += &format!(" -a {}", quoted(values.join(" ")));
            }
            text +=
                &format!(" -d {}\n", quoted(first_line(arg.get_help().map(ToString::to_string).unwrap_or_default())));
        }
    }
    text
}

/// Text for roff: signs that it would interpret are escaped.
fn roff(text: &str) -> String {
    let escape = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
    };
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

fn manual(name: &str, command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let title = name.replace(' ', "-").to_uppercase();
    let mut text = format!(".TH {} 1 \"\" \"ermine {}\"\n", roff(&title), env!("CARGO_PKG_VERSION"));
    text += &format!(".SH NAME\n{} \\- {}\n", roff(&name.replace(' ', "-")), roff(&about));
    let places = command.get_positionals().map(|arg| format!(" {}", arg.get_id().as_str().to_uppercase()));
    let rest = if command.has_subcommands() { " COMMAND".to_string() } else { places.collect() };
    text += &format!(".SH SYNOPSIS\n.B {}\n[OPTIONS]{}\n", roff(name), roff(&rest));
    if command.has_subcommands() {
        text += ".SH COMMANDS\n";
        for command in command.get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text += &format!(".TP\n.B {}\n{}\n", roff(command.get_name()), roff(&about));
        }
    }
    for (heading, positional) in [("ARGUMENTS", true), ("OPTIONS", false)] {
        let args = || command.get_arguments().filter(|arg| arg.is_positional() == positional && !arg.is_hide_set());
        if args().next().is_some() {
            text += &format!(".SH {heading}\n");
        }
        for arg in args() {
            let flags = if positional { arg.get_id().as_str().to_uppercase() } else { flags_of(arg).join(", ") };
            let names = arg.get_value_names().map_or_else(
                || vec![arg.get_id().to_string()],
                |names| names.iter().map(ToString::to_string).collect(),
            );
            let value = if takes_value(arg) && !positional { format!(" {}", names.join(" ")) } else { String::new() };
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let values = values_of(arg);
            let values = if values.is_empty() { String::new() } else { format!(" (one of: {})", values.join(", ")) };
            text += &format!(".TP\n.B {}{}\n{}{}\n", roff(&flags), roff(&value), roff(&help), roff(&values));
        }
    }
    if let Some(more) = command.get_after_help() {
        text += &format!(".SH NOTES\n.nf\n{}\n.fi\n", roff(&more.to_string()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Command {
        let train = Command::new("train")
            .about("Train a model")
            .arg(Arg::new("file"))
            .arg(Arg::new("task").long("task").short('t').help("It's the task").value_parser(["one", "two"]))
            .arg(Arg::new("output").long("output").value_name("FILE").help(".hidden \\ file"));
        Command::new("ermine").about("Learn").subcommand(train)
    }

    #[test]
    fn completions_have_every_command_flag_and_value() {
        let bash = bash(&program());
        assert!(bash.contains("words=\"train --help --version\""), "{bash}");
        assert!(bash.contains("-t|--task) words=\"one two\" ;;"), "{bash}");
        assert!(bash.contains("--output) words=\"\" ;;"), "{bash}");
        let fish = fish(&program());
        assert!(
            fish.contains("-n '__fish_seen_subcommand_from train' -s t -l task -x -a 'one two' -d 'It\\'s the task'"),
            "{fish}"
        );
        assert!(fish.contains("-l output -r"), "{fish}");
    }

    #[test]
    fn manual_pages_escape_what_roff_would_interpret() {
        let text = manual("ermine train", program().find_subcommand("train").unwrap());
        assert!(text.contains(".TH ERMINE\\-TRAIN 1"), "{text}");
        assert!(text.contains(".TP\n.B \\-t, \\-\\-task task\nIt's the task (one of: one, two)\n"), "{text}");
        assert!(text.contains("\\&.hidden \\e file"), "{text}");
        assert!(manual("ermine", &program()).contains(".TP\n.B train\nTrain a model\n"));
    }
}
