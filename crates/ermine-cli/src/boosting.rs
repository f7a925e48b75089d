//! What `ermine train` takes for gradient boosting alone: a model to go on from, checkpoints, rows to watch, scores to start from.
//!
//! A checkpoint is the model so far, kept beside the work: after an interruption the same command finds it and goes on to the model that it would have made without one. It is
//! removed when the training is done.

use crate::args::{DataArgs, Manner};
use crate::evaluate::load_as;
use crate::failure::Failure;
use crate::files::check_output;
use crate::interrupt::writing;
use crate::progress::Progress;
use crate::terminal::say;
use clap::value_parser;
use ermine::prelude::GradientBoosting;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Dataset, Schema, Task};
use ermine_core::model::Model;
use ermine_core::param::{Parameters, Value};
use ermine_trees::learner::gradient_boosting::Boosting;
use std::path::{Path, PathBuf};

/// The learner that takes these.
const NAME: &str = "gradient-boosting";

/// What only gradient boosting takes.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Training of gradient-boosting")]
pub struct BoostingArgs {
    /// Go on from this model: its rounds count among --n-estimators
    #[arg(long, value_name = "FILE.ermine")]
    init_model: Option<PathBuf>,
    /// Keep the model so far in this file (with --n-estimators, or rows to watch). After an interruption the same command goes on from it, to the same model; when training is done it is removed
    #[arg(long, value_name = "FILE.ermine")]
    checkpoint: Option<PathBuf>,
    /// Keep it every so many rounds
    #[arg(long, value_name = "N", default_value_t = 10, requires = "checkpoint", value_parser = value_parser!(u32).range(1..))]
    checkpoint_every: u32,
    /// Watch the rows of this table (for --early-stopping-rounds, or where --n-estimators is 0) instead of a share of the training rows
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,
    /// Where the scores of the rows start: what is learned, and predicted, is what is to be added. Repeat it where a model has several scores: one column for each of
    /// more than two classes, each target or each quantile
    #[arg(long, value_name = "COLUMN")]
    pub init_score: Vec<String>,
}

/// What is given beside the data.
pub struct Beside {
    /// The rows to watch.
    validation: Option<Dataset>,
    /// The model to go on from.
    from: Option<Model>,
}

impl BoostingArgs {
    /// The options that were given.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--init-model", self.init_model.is_some()),
            ("--checkpoint", self.checkpoint.is_some()),
            ("--validation", self.validation.is_some()),
            ("--init-score", !self.init_score.is_empty()),
        ];
        all.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect()
    }

    /// Refuses what the chosen learner can't use, and files that can't be written or read.
    pub fn check(&self, learner: &dyn Learner, goes_on: bool, output: &Path, data: &DataArgs) -> Result<(), Failure> {
        let name = learner.info().name;
        if let Some(option) = self.given().first().filter(|_| name != NAME) {
            let other = match *option {
                "--init-model" if learner.goes_on() => format!("; {name} goes on from a model with --warm-start"),
                _ => String::new(),
            };
            return Err(Failure::Usage(format!("{option} is for {NAME}, but the learner here is {name}{other}")));
        }
        if goes_on && name == NAME {
            return Err(Failure::Usage(format!(
                "--warm-start is for forests and bagging; {NAME} goes on with --init-model"
            )));
        }
        let Some(checkpoint) = &self.checkpoint else { return Ok(()) };
        let read: Vec<&Path> = [Some(&data.file), self.validation.as_ref(), self.init_model.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        check_output(checkpoint, &read)?;
        if checkpoint == output {
            return Err(Failure::Usage(
                "--checkpoint and --output name the same file; a checkpoint is removed when training is done".into(),
            ));
        }
        Ok(())
    }

    /// Learns: with what was given, or as any learner does.
    pub fn fit(
        &self,
        learner: &dyn Learner,
        data: &Dataset,
        beside: &Beside,
        context: &Context<'_>,
    ) -> ermine::Result<Model> {
        if self.given().is_empty() {
            return fit(learner, data, context);
        }
        let mut params = GradientBoosting::default();
        learner.values().iter().try_for_each(|(name, value)| params.set(name, value))?;
        let save = |model: &Model| match &self.checkpoint {
            // Work is stopped by its observer, not in the middle of writing.
            Some(path) => writing(|| Ok(model.save(path)?)).map_err(|failure| told(failure, path)),
            None => Ok(()),
        };
        let boosting = Boosting {
            from: beside.from.as_ref(),
            validation: beside.validation.as_ref(),
            checkpoint: self.checkpoint.as_ref().map(|_| (self.checkpoint_every as usize, &save as _)),
            ..Boosting::new(params)
        };
        fit(&boosting, data, context).inspect_err(|error| {
            let kept =
                self.checkpoint.as_ref().filter(|path| matches!(error, ermine::Error::Stopped) && path.is_file());
            if let Some(path) = kept {
                say(format!("the rounds so far are in {}: the same command goes on from there", path.display()));
            }
        })
    }

    /// Removes the checkpoint of a training that is done.
    pub fn done(&self) {
        if let Some(path) = &self.checkpoint {
            let _ = std::fs::remove_file(path);
        }
    }

    /// What is given beside the data: the rows to watch, and the model to go on from.
    pub fn beside(
        &self,
        learner: &dyn Learner,
        args: &DataArgs,
        data: &Dataset,
        (seed, manner): (u64, &Manner),
        progress: &Progress,
    ) -> Result<Beside, Failure> {
        match self.given().first() {
            Some(option) if data.task() == Task::Multilabel => {
                let why = "each label is learned by a model of its own, which can't have it";
                Err(Failure::Usage(format!("{option}: {why}")))
            }
            _ => Ok(Beside {
                validation: self.watched(args, data, manner, progress)?,
                from: self.earlier(learner, data, seed)?,
            }),
        }
    }

    /// The rows to watch.
    fn watched(
        &self,
        args: &DataArgs,
        data: &Dataset,
        manner: &Manner,
        progress: &Progress,
    ) -> Result<Option<Dataset>, Failure> {
        let Some(file) = &self.validation else { return Ok(None) };
        let watched = load_as(file, &args.columns, &self.init_score, manner, &Schema::of(data), progress);
        watched.map(Some).map_err(|failure| match failure {
            Failure::Usage(message) => Failure::Usage(format!("--validation {}: {message}", file.display())),
            other => other,
        })
    }

    /// The model to go on from: the checkpoint of this run, where there is one.
    fn earlier(&self, learner: &dyn Learner, data: &Dataset, seed: u64) -> Result<Option<Model>, Failure> {
        let Some(path) = self.checkpoint.as_ref().filter(|path| path.exists()) else {
            return Ok(self.init_model.as_ref().map(ermine::load).transpose()?);
        };
        let model = ermine::load(path)?;
        let header = model.header();
        let n_rows = (0..data.n_rows()).filter(|&row| data.row_weight(row) > 0.0).count();
        let shown = |value: Option<&Value>| value.map(Value::to_string);
        let other =
            learner.values().into_iter().find(|(name, value)| shown(header.params.get(*name)) != shown(Some(value)));
        let why = match other {
            _ if header.learner != NAME => format!("a model of {}", header.learner),
            Some((name, value)) => format!("of a run with another {name} than {value}"),
            _ if header.seed != seed => format!("of a run with another seed than {seed}"),
            _ if header.schema != Schema::of(data) || header.n_rows != n_rows => "of a run on other data".into(),
            None => return Ok(Some(model)),
        };
        let place = path.display();
        Err(Failure::Work(format!("{place} is {why}: remove it to start anew, or name another file with --checkpoint")))
    }
}

/// A failure to write as the work that fails by it sees it.
fn told(failure: Failure, path: &Path) -> ermine::Error {
    match failure {
        Failure::Usage(message) | Failure::Work(message) => ermine::Error::io(path, std::io::Error::other(message)),
        _ => ermine::Error::Stopped,
    }
}
