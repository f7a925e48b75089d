//! The default drawing of a model: feature importances, and the loss after each round.

use super::Attribute;
use crate::chart::plot::{CurveBelow, bar_panels};
use crate::matrix::Schema;

/// Draws the public attributes of a model; `None` if there is nothing to draw.
pub(super) fn of_attributes(attributes: &[Attribute], schema: &Schema) -> Option<String> {
    let values = |name: &str| attributes.iter().find(|a| a.name == name).map_or(&[][..], |a| &a.values);
    let importances = values("feature_importances");
    if importances.len() != schema.features.len() || !importances.iter().any(|share| *share > 0.0) {
        return None;
    }
    let rows = schema.features.iter().map(|f| f.name.clone()).zip(importances.iter().copied()).collect();
    let finite = |(_, loss): &(f64, f64)| loss.is_finite();
    let losses = values("validation_loss").iter().enumerate().map(|(round, loss)| (round as f64 + 1.0, *loss));
    let curve =
        CurveBelow { names: ("round", "validation loss"), points: losses.filter(finite).collect(), marked: f64::NAN };
    Some(bar_panels(&[("Feature importances".into(), rows)], &curve))
}
