//! Options of `ermine train` other than the parameters of the learner: an initial model, checkpoints, a validation set, initial scores.
//!
//! A checkpoint is the model so far. After an interruption, the same command continues from it and produces the model of an uninterrupted run. It is removed when training
//! is finished.

use crate::args::{DataArgs, OutputArgs};
use crate::evaluate::load_as;
use crate::failure::Failure;
use crate::files::check_output;
use crate::interrupt::writing;
use crate::progress::Progress;
use crate::terminal::print_message;
use clap::value_parser;
use ermine_core::learner::{Checkpoint, Context, Learner, fit};
use ermine_core::matrix::{Dataset, Schema, Task};
use ermine_core::model::Model;
use ermine_core::param::Value;
use std::path::{Path, PathBuf};

/// The learner with these options.
const NAME: &str = "gradient-boosting";

/// Options of gradient boosting.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Training")]
pub struct BoostingArgs {
    /// Continue training from this model of gradient-boosting, a forest or bagging; its rounds, trees or members count toward --n-estimators
    #[arg(long, value_name = "FILE.ermine")]
    init_model: Option<PathBuf>,
    /// Checkpoint file for the model so far (needs --n-estimators or a validation set); after an interruption, the same command continues from it. It is removed when training is finished
    #[arg(long, value_name = "FILE.ermine")]
    checkpoint: Option<PathBuf>,
    /// Number of rounds between checkpoints
    #[arg(long, value_name = "N", default_value_t = 10, requires = "checkpoint", value_parser = value_parser!(u32).range(1..))]
    checkpoint_every: u32,
    /// Validation set for early stopping, instead of a fraction of the training rows; also for adaboost with --n-iter-no-change and for decision-tree with --pruning reduced_error or greedy
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,
    /// Column with initial raw scores; the model learns and predicts the difference. Repeat it for each of more than two classes, each target or each quantile
    #[arg(long, value_name = "COLUMN")]
    pub init_score: Vec<String>,
}

/// Validation set and initial model.
pub struct AuxiliaryInputs {
    /// The validation set.
    validation: Option<Dataset>,
    /// The model to continue from.
    from: Option<Model>,
}

impl BoostingArgs {
    /// The options that are set.
    fn used_options(&self) -> Vec<&'static str> {
        let all = [
            ("--init-model", self.init_model.is_some()),
            ("--checkpoint", self.checkpoint.is_some()),
            ("--validation", self.validation.is_some()),
            ("--init-score", !self.init_score.is_empty()),
        ];
        all.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect()
    }

    /// An error for options that the learner doesn't support, and for files that can't be written or read.
    pub fn check(&self, learner: &dyn Learner, output: &Path, data: &DataArgs) -> Result<(), Failure> {
        let name = learner.info().name;
        let is_taken = |option: &&&str| match **option {
            "--init-model" => learner.supports_warm_start(),
            "--validation" => learner.takes_validation(),
            "--checkpoint" => learner.supports_custom_training(),
            _ => learner.takes_init_scores(),
        };
        if let Some(option) = self.used_options().iter().find(|option| !is_taken(option)) {
            let other = match *option {
                "--validation" if name == "decision-tree" => {
                    "; decision-tree uses a validation set with --pruning reduced_error or greedy".into()
                }
                "--validation" if name == "adaboost" => {
                    "; adaboost uses a validation set with --n-iter-no-change".into()
                }
                _ => String::new(),
            };
            return Err(Failure::Usage(format!("{name} does not support {option}{other}")));
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
                "--checkpoint and --output are the same file; a checkpoint is removed when training is finished".into(),
            ));
        }
        Ok(())
    }

    /// Trains with these options.
    pub fn fit(
        &self,
        learner: &dyn Learner,
        data: &Dataset,
        inputs: &AuxiliaryInputs,
        context: &Context<'_>,
    ) -> ermine::Result<Model> {
        let save = |model: &Model| match &self.checkpoint {
            // The observer stops the work, but never while a file is written.
            Some(path) => writing(|| Ok(model.save(path)?)).map_err(|failure| as_error(failure, path)),
            None => Ok(()),
        };
        let every = self.checkpoint_every as usize;
        let context = Context {
            init_model: inputs.from.as_ref(),
            validation: inputs.validation.as_ref(),
            checkpoint: self.checkpoint.as_ref().map(|_| Checkpoint { every, save: &save }),
            ..*context
        };
        fit(learner, data, &context).inspect_err(|error| {
            let kept =
                self.checkpoint.as_ref().filter(|path| matches!(error, ermine::Error::Stopped) && path.is_file());
            if let Some(path) = kept {
                print_message(format!(
                    "the rounds so far are saved in {}; the same command continues from there",
                    path.display()
                ));
            }
        })
    }

    /// Removes the checkpoint after training has finished.
    pub fn done(&self) {
        if let Some(path) = &self.checkpoint {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Loads the validation set and the model to continue from.
    pub fn auxiliary_inputs(
        &self,
        learner: &dyn Learner,
        args: &DataArgs,
        data: &Dataset,
        (seed, out): (u64, &OutputArgs),
        progress: &Progress,
    ) -> Result<AuxiliaryInputs, Failure> {
        match self.used_options().first() {
            Some(option) if data.task() == Task::Multilabel => {
                let why = "not supported for multilabel targets, where each label has its own model";
                Err(Failure::Usage(format!("{option}: {why}")))
            }
            _ => Ok(AuxiliaryInputs {
                validation: self.validation_set(args, data, out, progress)?,
                from: self.initial_model(learner, data, seed)?,
            }),
        }
    }

    /// The validation set.
    fn validation_set(
        &self,
        args: &DataArgs,
        data: &Dataset,
        out: &OutputArgs,
        progress: &Progress,
    ) -> Result<Option<Dataset>, Failure> {
        let Some(file) = &self.validation else { return Ok(None) };
        let loaded = load_as(file, &args.columns, &self.init_score, out, &Schema::of(data), progress);
        loaded.map(Some).map_err(|failure| match failure {
            Failure::Usage(message) => Failure::Usage(format!("--validation {}: {message}", file.display())),
            other => other,
        })
    }

    /// The model to continue from: the checkpoint of this run, if there is one.
    fn initial_model(&self, learner: &dyn Learner, data: &Dataset, seed: u64) -> Result<Option<Model>, Failure> {
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
            Some((name, value)) => format!("of a run with a different {name} (not {value})"),
            _ if header.seed != seed => format!("of a run with a different seed (not {seed})"),
            _ if header.schema.difference(&Schema::of(data)).is_some() || header.n_rows != n_rows => {
                "of a run on different data".into()
            }
            None => return Ok(Some(model)),
        };
        let place = path.display();
        Err(Failure::Work(format!(
            "{place} is {why}; remove it to start over, or choose another file with --checkpoint"
        )))
    }
}

/// A failure to write as an error of training.
fn as_error(failure: Failure, path: &Path) -> ermine::Error {
    match failure {
        Failure::Usage(message) | Failure::Work(message) => ermine::Error::io(path, std::io::Error::other(message)),
        _ => ermine::Error::Stopped,
    }
}
