//! Parameters from Python.

use crate::error::python;
use ermine::Error;
use ermine_core::learner::Learner;
use ermine_core::learner::estimator::Estimator;
use ermine_core::param::{ParamType, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};

/// A learner of the registry with these parameters, each checked.
pub fn learner(name: &str, params: &Bound<'_, PyDict>) -> PyResult<Box<dyn Learner>> {
    let mut learner = ermine::registry::learner(name).map_err(python)?;
    set(learner.as_mut(), params)?;
    Ok(learner)
}

/// Sets these parameters of a learner, each checked.
pub fn set(learner: &mut dyn Learner, params: &Bound<'_, PyDict>) -> PyResult<()> {
    let name = learner.info().name;
    for (key, object) in params.iter() {
        let key: String = key.extract()?;
        let spec = learner.specs().into_iter().find(|spec| spec.name == key);
        let spec = spec.ok_or_else(|| PyTypeError::new_err(format!("'{name}' has no parameter '{key}'")))?;
        let fits = value(&object)?.map(|value| learner.set(&key, &value));
        fits.unwrap_or_else(|| {
            let value = object.repr().map_or_else(|_| "this object".into(), |text| text.to_string());
            Err(Error::Param { owner: name.to_string(), name: key, value, allowed: spec.allowed() })
        })
        .map_err(python)?;
    }
    Ok(())
}

/// A Python object as a parameter value; `None` if there is no such value. Numpy's numbers count as numbers.
fn value(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if object.is_none() {
        return Ok(Some(Value::None));
    }
    let class = object.get_type().name()?;
    // The second is numpy's, under its two names.
    if object.is_instance_of::<PyBool>() || class == "bool" || class == "bool_" {
        return Ok(Some(Value::Bool(object.is_truthy()?)));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Some(Value::Text(text.to_str()?.to_string())));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let values: PyResult<Option<Vec<Value>>> = object.try_iter()?.map(|item| value(&item?)).collect();
        return Ok(values?.map(Value::List));
    }
    // Another estimator of the package: a learner as the value of a parameter.
    if let Ok(name) = object.getattr("_learner") {
        let params = object.call_method0("_part_params")?;
        let learner = learner(&name.extract::<String>()?, params.cast::<PyDict>()?)?;
        return Ok(Some(Estimator::of(learner.as_ref()).to_value()));
    }
    Ok(match (object.extract::<i64>(), object.extract::<f64>()) {
        (Ok(whole), _) => Some(Value::Int(whole)),
        (_, Ok(number)) => Some(Value::Float(number)),
        _ => None,
    })
}
