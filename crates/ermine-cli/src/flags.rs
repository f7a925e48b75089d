//! A flag for each parameter of the chosen learner, made from its declaration.
//!
//! The flags depend on the learner, so `--learner` is searched for before the arguments are parsed.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use ermine::registry;
use ermine::{Error, Result};
use ermine_core::learner::Learner;
use ermine_core::learner::raw_columns::{STANDARDIZE, standardize_by_default};
use ermine_core::matrix::Dataset;
use ermine_core::param::{ParamSpec, Value};
use std::ffi::OsString;

/// The commands that take the parameters of a learner.
pub const WITH_LEARNER: [&str; 3] = ["train", "tune", "cross-validate"];

/// The learner that the arguments of such a command name, or the default one; `None` for other commands.
pub fn learner_in(arguments: &[OsString]) -> Result<Option<Box<dyn Learner>>> {
    let arguments: Vec<_> = arguments.iter().skip(1).map(|argument| argument.to_string_lossy()).collect();
    if arguments.first().is_none_or(|command| !WITH_LEARNER.contains(&&**command)) {
        return Ok(None);
    }
    let named = arguments.iter().enumerate().find_map(|(i, argument)| match argument.strip_prefix("--learner") {
        Some("") => arguments.get(i + 1).map(|next| next.to_string()),
        Some(rest) => rest.strip_prefix('=').map(String::from),
        None => None,
    });
    registry::learner(named.as_deref().unwrap_or(registry::DEFAULT)).map(Some)
}

/// The flag of a parameter, without its dashes.
pub fn flag_of(parameter: &str) -> String {
    parameter.replace('_', "-")
}

/// The command with a flag for each parameter.
pub fn add_to(mut command: Command, learner: Option<&dyn Learner>) -> Command {
    let Some(learner) = learner else { return command };
    for spec in learner.specs() {
        let flag = flag_of(spec.name);
        if command.get_arguments().any(|arg| arg.get_long() == Some(&flag)) {
            continue; // It can still be set with --set.
        }
        let mut arg = Arg::new(spec.name)
            .value_name(value_name(&spec))
            .allow_negative_numbers(true)
            .help(help(&spec))
            .help_heading(format!("Parameters of {}", learner.info().name));
        if flag != spec.name {
            arg = arg.alias(spec.name);
        }
        command = command.arg(arg.long(flag));
    }
    command
}

fn value_name(spec: &ParamSpec) -> &'static str {
    use ermine_core::param::ParamKind;
    match &spec.kind {
        ParamKind::Bool => "BOOL",
        ParamKind::Int => "N",
        ParamKind::Float => "X",
        ParamKind::Choice(_) => "NAME",
        ParamKind::List(_) => "LIST",
        ParamKind::Text | ParamKind::Optional(_) | ParamKind::Either(_) => "VALUE",
    }
}

/// What the parameter does, its allowed values and its default; `ermine learners NAME` prints the full documentation.
pub fn help(spec: &ParamSpec) -> String {
    format!("{} [{}] [default: {}]", spec.summary.trim_end_matches('.'), spec.allowed(), default_text(spec))
}

/// The default of a parameter on the command line.
pub fn default_text(spec: &ParamSpec) -> String {
    match (spec.name, &spec.default) {
        (STANDARDIZE, Value::Bool(false)) => "true for dense columns".into(),
        (CALIBRATE, Value::Bool(false)) => "true for the quantile loss".into(),
        (_, default) => default.to_string(),
    }
}

/// The parameter of gradient boosting that calibrates quantiles.
const CALIBRATE: &str = "calibrate_quantiles";

/// Turns on standardization and the calibration of quantiles where the learner has them, unless the user has set them.
pub fn standardize(learner: &mut dyn Learner, given: &[(String, Value)], data: &Dataset) -> Result<()> {
    let is_quantile = learner.get("loss").is_some_and(|loss| loss.to_string() == "quantile");
    if is_quantile && learner.get(CALIBRATE).is_some() && !given.iter().any(|(name, _)| name == CALIBRATE) {
        learner.set(CALIBRATE, &Value::Bool(true))?;
    }
    match given.iter().any(|(name, _)| name == STANDARDIZE) {
        true => Ok(()),
        false => standardize_by_default(learner, data),
    }
}

/// The parameters that were set by their flags.
pub fn given(matches: &ArgMatches, learner: Option<&dyn Learner>) -> Vec<(String, Value)> {
    let specs = learner.map(|learner| learner.specs()).unwrap_or_default();
    let typed = |spec: &ParamSpec| {
        matches!(matches.try_get_raw(spec.name), Ok(Some(_)))
            && matches.value_source(spec.name) == Some(ValueSource::CommandLine)
    };
    let value = |spec: &ParamSpec| {
        let text = matches.try_get_one::<String>(spec.name).ok().flatten()?;
        Some((spec.name.to_string(), Value::parse(text)))
    };
    specs.iter().filter(|spec| typed(spec)).filter_map(value).collect()
}

/// Reads `name=value`; the name with `-` or `_`.
pub fn assignment(text: &str) -> std::result::Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example criterion=gini")?;
    Ok((name.trim().replace('-', "_"), Value::parse(value)))
}

/// Sets parameters, each at most once.
pub fn set(learner: &mut dyn Learner, values: &[(String, Value)]) -> Result<()> {
    for (i, (name, value)) in values.iter().enumerate() {
        if values[..i].iter().any(|(earlier, _)| earlier == name) {
            let (owner, value) = (learner.info().name.to_string(), value.to_string());
            let allowed = "given at most once".to_string();
            return Err(Error::Param { owner, name: name.clone(), value, allowed });
        }
        learner.set(name, value)?;
    }
    Ok(())
}
