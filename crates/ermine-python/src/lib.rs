//! The Python extension `ermine._ermine`: arrays in, models out, nothing learned here.
//!
//! | file | what it holds |
//! |---|---|
//! | [`array`](mod@array) | numpy arrays as columns, without a copy |
//! | [`arrow`] | import of data frames through the Arrow PyCapsule interface |
//! | [`table`] | `PyTable`: columns of arrays, codes and sparse matrices |
//! | [`target`] | `PyTarget`: class labels become codes, numbers stay numbers |
//! | [`value`] | parameters from Python |
//! | [`job`] | long work away from the interpreter, with progress and Ctrl-C |
//! | [`model`] | `Model`: fit, predict, save, load |
//! | [`neighbor`] | `PyNeighborIndex`: who is near; functions of the user's own |
//! | [`boosting`] | gradient boosting with custom losses, metrics and validation sets |
//! | [`ensemble`] | what models made of many parts can tell |
//! | [`kernel`] | the Mercer check, and kernels of texts |
//! | [`curve`] | learning and validation curves |
//! | [`compare`] | the best learner for a table |
//! | [`search`] | the best setting of a learner |
//! | [`metric`] | scores of predictions |
//! | [`report`] | reports on a model and a test set; curves and bars |
//! | [`error`] | errors become Python exceptions |
//!
//! The Python package beside this crate (`python/ermine`) makes estimators out of these parts: it reads data frames, checks
//! shapes and names, and follows scikit-learn's conventions.

mod array;
mod arrow;
mod boosting;
mod compare;
mod curve;
mod ensemble;
mod error;
mod job;
mod kernel;
mod metric;
mod model;
mod neighbor;
mod one_row;
mod report;
mod search;
mod table;
mod target;
mod value;
mod wanted;

use pyo3::prelude::*;

/// The registry as JSON: name, summary, capabilities and declared parameters of every learner. The Python classes are written from it
/// (`tools/python_estimators.py`).
#[pyfunction]
fn learners() -> String {
    let one = |entry: &ermine::registry::RegistryEntry| {
        let learner = (entry.make)();
        serde_json::json!({ "info": learner.info(), "params": learner.specs() })
    };
    serde_json::Value::Array(ermine::registry::learners().map(one).collect()).to_string()
}

#[pymodule(gil_used = false)]
fn _ermine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::PyTable>()?;
    module.add_class::<target::PyTarget>()?;
    module.add_class::<model::PyModel>()?;
    module.add_class::<one_row::PyPredictor>()?;
    module.add_class::<neighbor::PyNeighborIndex>()?;
    module.add_class::<ensemble::PyStages>()?;
    module.add_function(wrap_pyfunction!(learners, module)?)?;
    module.add_function(wrap_pyfunction!(target::integer_classes, module)?)?;
    module.add_function(wrap_pyfunction!(target::text_classes, module)?)?;
    module.add_function(wrap_pyfunction!(model::fit, module)?)?;
    module.add_function(wrap_pyfunction!(model::partial_fit, module)?)?;
    module.add_function(wrap_pyfunction!(model::enet_path, module)?)?;
    module.add_class::<boosting::PyStagedPredictions>()?;
    module.add_function(wrap_pyfunction!(boosting::boost, module)?)?;
    module.add_function(wrap_pyfunction!(boosting::boosted_quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::stages, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::members, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::leaves, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::proximity, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::log_density, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::shap, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::shap_interactions, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::partial_dependence, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::is_psd, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::string_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(search::search, module)?)?;
    module.add_function(wrap_pyfunction!(curve::curve, module)?)?;
    module.add_function(wrap_pyfunction!(metric::measures, module)?)?;
    module.add_function(wrap_pyfunction!(metric::confusion, module)?)?;
    module.add_function(wrap_pyfunction!(metric::probability_losses, module)?)?;
    module.add_function(wrap_pyfunction!(metric::calibration, module)?)?;
    module.add_function(wrap_pyfunction!(metric::thresholds, module)?)?;
    module.add_function(wrap_pyfunction!(metric::errors, module)?)?;
    module.add_function(wrap_pyfunction!(metric::pinball_loss, module)?)?;
    module.add_function(wrap_pyfunction!(metric::deviance, module)?)?;
    module.add_function(wrap_pyfunction!(metric::order, module)?)?;
    module.add_function(wrap_pyfunction!(metric::omega_loss, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(report::permutation, module)?)?;
    module.add_function(wrap_pyfunction!(report::draw_curves, module)?)?;
    module.add_function(wrap_pyfunction!(report::draw_bars, module)?)?;
    module.add_function(wrap_pyfunction!(job::threads_of, module)?)?;
    Ok(())
}
