//! Linear models and support vector machines as ONNX graphs of standard operators, in double precision.
//!
//! ```text
//! X -> numbers with means for missing values, 0/1 for "is missing" and "is category c" -> MatMul (encoding) -> (products of columns) -> MatMul (coefficients) -> link
//!                                                                                                            -> (scaling) -> kernel with the support vectors -> MatMul -> votes
//! ```
//!
//! Everything between the first step and the products of columns is linear, so that one matrix does it.

use super::onnx::{OnnxGraph, int, tensor, value};
use super::protobuf::ProtobufMessage;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{ColumnEncoding, FeatureMap, Task};
use ermine_core::model::{Link, Model};
use ermine_linear::kernel::Kernel;
use ermine_linear::learner::linear::fitted::{LinearLink, LinearModel};
use ermine_linear::learner::svm::machine::SvmModel;

/// The graph of a linear model or support vector machine, and its outputs; `None` for other models.
pub(super) fn graph(model: &Model) -> Result<Option<(OnnxGraph, Vec<ProtobufMessage>)>> {
    let mut graph = OnnxGraph::default();
    let outputs = if let Some(linear) = model.fitted::<LinearModel>() {
        of_linear(&mut graph, linear, model)
    } else if let Some(machine) = model.fitted::<SvmModel>() {
        of_machine(&mut graph, machine, model)?
    } else {
        return Ok(None);
    };
    Ok(Some((graph, outputs)))
}

/// An affine function of the basic columns: a factor for each, and a constant.
struct BasicColumns {
    /// Columns of `X` that are numbers, and what stands for a missing one.
    numbers: Vec<(i64, f64)>,
    /// Columns of `X` and the category that each is compared with.
    categories: Vec<(i64, f64)>,
    /// For each encoded column, its terms (basic column and factor) and a constant. Basic columns are the numbers, whether each is missing, and the categories.
    encoded: Vec<(Vec<(usize, f64)>, f64)>,
}

fn basic_columns(map: &FeatureMap) -> BasicColumns {
    let encodings = map.encoder().columns();
    let mut basic = BasicColumns { numbers: Vec::new(), categories: Vec::new(), encoded: Vec::new() };
    let n_numbers = encodings.iter().filter(|encoding| matches!(encoding, ColumnEncoding::Number { .. })).count();
    for (feature, encoding) in encodings.iter().enumerate() {
        match encoding {
            ColumnEncoding::Number { fill, center, scale, indicator } => {
                let place = basic.numbers.len();
                basic.numbers.push((feature as i64, *fill));
                basic.encoded.push((vec![(place, 1.0 / scale)], -center / scale));
                if *indicator {
                    basic.encoded.push((vec![(n_numbers + place, 1.0)], 0.0));
                }
            }
            ColumnEncoding::OneHot { place, indicator, reference } => {
                let mut known = Vec::new();
                let mut columns = vec![Vec::new(); place.iter().flatten().count()];
                for (code, column) in place.iter().enumerate() {
                    if column.is_some() || *reference == Some(code as u32) {
                        let at = 2 * n_numbers + basic.categories.len();
                        basic.categories.push((feature as i64, code as f64));
                        known.push((at, -1.0));
                        column.iter().for_each(|&column| columns[column as usize].push((at, 1.0)));
                    }
                }
                basic.encoded.extend(columns.into_iter().map(|terms| (terms, 0.0)));
                // Neither a known category nor the reference: missing, or unknown.
                basic.encoded.extend(indicator.then_some((known, 1.0)));
            }
        }
    }
    basic
}

/// Adds the numbers that features become; returns their name.
fn add_numbers(graph: &mut OnnxGraph, map: &FeatureMap) -> &'static str {
    let basic = basic_columns(map);
    let axis = || vec![int("axis", 1)];
    let mut parts = Vec::new();
    if !basic.numbers.is_empty() {
        let (columns, fills): (Vec<i64>, Vec<f64>) = basic.numbers.iter().copied().unzip();
        graph.integers("number_columns", &columns);
        graph.constant("fill", &fills, &[fills.len()]);
        graph.node("Gather", "", &["X", "number_columns"], "raw_numbers", axis());
        graph.node("IsNaN", "", &["raw_numbers"], "is_missing", Vec::new());
        graph.node("Where", "", &["is_missing", "fill", "raw_numbers"], "filled", Vec::new());
        graph.node("Cast", "", &["is_missing"], "missing_flags", vec![int("to", tensor::DOUBLE)]);
        parts.extend(["filled", "missing_flags"]);
    }
    if !basic.categories.is_empty() {
        let (columns, codes): (Vec<i64>, Vec<f64>) = basic.categories.iter().copied().unzip();
        graph.integers("category_columns", &columns);
        graph.constant("codes", &codes, &[codes.len()]);
        graph.node("Gather", "", &["X", "category_columns"], "raw_codes", axis());
        graph.node("Equal", "", &["raw_codes", "codes"], "is_category", Vec::new());
        graph.node("Cast", "", &["is_category"], "category_flags", vec![int("to", tensor::DOUBLE)]);
        parts.push("category_flags");
    }
    graph.node("Concat", "", &parts, "basic", axis());
    let (n_basic, n_encoded) = (2 * basic.numbers.len() + basic.categories.len(), basic.encoded.len());
    let (mut matrix, mut offsets) = (vec![0.0; n_basic * n_encoded], vec![0.0; n_encoded]);
    for (column, (terms, constant)) in basic.encoded.iter().enumerate() {
        offsets[column] = *constant;
        terms.iter().for_each(|&(place, factor)| matrix[place * n_encoded + column] = factor);
    }
    graph.constant("encoding", &matrix, &[n_basic, n_encoded]);
    graph.constant("encoding_offsets", &offsets, &[n_encoded]);
    graph.node("MatMul", "", &["basic", "encoding"], "encoded_parts", Vec::new());
    graph.node("Add", "", &["encoded_parts", "encoding_offsets"], "encoded", Vec::new());
    match map.terms() {
        Some(terms) => add_terms(graph, terms),
        None => "encoded",
    }
}

/// Adds products of encoded columns, one number of factors after the other.
fn add_terms(graph: &mut OnnxGraph, terms: &[(Option<u32>, u32)]) -> &'static str {
    let axis = || vec![int("axis", 1)];
    let mut levels: Vec<String> = Vec::new();
    let (mut begin, mut previous) = (0, 0);
    while begin < terms.len() {
        let is_next =
            |(shorter, _): &(Option<u32>, u32)| shorter.map(|s| (s as usize) < begin && s as usize >= previous);
        let end = match begin {
            0 => terms.iter().take_while(|(shorter, _)| shorter.is_none()).count().max(1),
            _ => begin + terms[begin..].iter().take_while(|term| is_next(term) == Some(true)).count().max(1),
        };
        let level = levels.len();
        let columns: Vec<i64> = terms[begin..end].iter().map(|(_, column)| i64::from(*column)).collect();
        graph.integers(&format!("factors_{level}"), &columns);
        let (chosen, name) = (format!("factor_values_{level}"), format!("terms_{level}"));
        graph.node("Gather", "", &["encoded", &format!("factors_{level}")], &chosen, axis());
        match levels.last() {
            None => graph.node("Identity", "", &[&chosen], &name, Vec::new()),
            Some(last) => {
                let shorter =
                    terms[begin..end].iter().map(|(shorter, _)| i64::from(shorter.unwrap_or(0)) - previous as i64);
                graph.integers(&format!("shorter_{level}"), &shorter.collect::<Vec<i64>>());
                let products = format!("shorter_values_{level}");
                graph.node("Gather", "", &[last, &format!("shorter_{level}")], &products, axis());
                graph.node("Mul", "", &[&chosen, &products], &name, Vec::new());
            }
        }
        levels.push(name);
        (previous, begin) = (begin, end);
    }
    let names: Vec<&str> = levels.iter().map(String::as_str).collect();
    graph.node("Concat", "", &names, "terms", axis());
    "terms"
}

/// Adds `input * matrix + offsets`, with the matrix column by column.
fn add_affine(graph: &mut OnnxGraph, input: &str, columns: &[&[f64]], offsets: &[f64], name: &str) {
    let (k, p) = (columns.len(), columns.first().map_or(0, |column| column.len()));
    let matrix: Vec<f64> = (0..p).flat_map(|j| columns.iter().map(move |column| column[j])).collect();
    graph.constant(&format!("{name}_weights"), &matrix, &[p, k]);
    graph.constant(&format!("{name}_offsets"), offsets, &[k]);
    graph.node("MatMul", "", &[input, &format!("{name}_weights")], &format!("{name}_sums"), Vec::new());
    graph.node("Add", "", &[&format!("{name}_sums"), &format!("{name}_offsets")], name, Vec::new());
}

fn of_linear(graph: &mut OnnxGraph, linear: &LinearModel, model: &Model) -> Vec<ProtobufMessage> {
    let (k, schema) = (linear.intercepts.len(), model.schema());
    let numbers = add_numbers(graph, &linear.map);
    let rows: Vec<&[f64]> = (0..k).map(|margin| linear.coefficients.row(margin)).collect();
    add_affine(graph, numbers, &rows, &linear.intercepts, "margins");
    let double = |name: &str, width: usize| value(name, tensor::DOUBLE, &[None, Some(width)]);
    if schema.task != Task::Classification {
        graph.node("Identity", "", &["margins"], "prediction", Vec::new());
        return vec![double("prediction", k)];
    }
    let used: Vec<String> = linear.used.iter().map(|&class| schema.classes[class as usize].clone()).collect();
    let link = match linear.link {
        LinearLink::Logistic => Link::Logistic,
        LinearLink::Softmax => Link::Softmax,
        LinearLink::Scores | LinearLink::Identity => {
            // One margin is positive for the second class.
            match k {
                1 => add_affine(graph, "margins", &[&[-1.0], &[1.0]], &[0.0, 0.0], "scores"),
                _ => graph.node("Identity", "", &["margins"], "scores", Vec::new()),
            }
            return vec![double("scores", used.len()), graph.label("scores", &used)];
        }
    };
    graph.link(link, "margins", k, "used_probabilities");
    // A class that training didn't have has the probability 0.
    let (n, m) = (schema.classes.len(), used.len());
    let mut places = vec![0.0; m * n];
    linear.used.iter().enumerate().for_each(|(row, &class)| places[row * n + class as usize] = 1.0);
    graph.constant("classes", &places, &[m, n]);
    graph.node("MatMul", "", &["used_probabilities", "classes"], "probabilities", Vec::new());
    vec![double("probabilities", n), graph.label("probabilities", &schema.classes)]
}

fn of_machine(graph: &mut OnnxGraph, machine: &SvmModel, model: &Model) -> Result<Vec<ProtobufMessage>> {
    let schema = model.schema();
    let unsupported = |need: &str| Error::Unsupported { learner: model.header().learner.clone(), need: need.into() };
    let kernel =
        machine.form.kernel.ok_or_else(|| unsupported("ONNX export of a machine whose kernel values are given"))?;
    if matches!(kernel, Kernel::Laplacian { .. }) {
        return Err(unsupported("ONNX export with the Laplacian kernel"));
    }
    if machine.form.break_ties && machine.used.len() > 2 {
        return Err(unsupported("ONNX export with break_ties = true"));
    }
    let mut points = add_numbers(graph, &machine.map);
    if !machine.scaling.is_empty() {
        let (offsets, factors): (Vec<f64>, Vec<f64>) = machine.scaling.iter().copied().unzip();
        graph.constant("offsets", &offsets, &[offsets.len()]);
        graph.constant("factors", &factors, &[factors.len()]);
        graph.node("Sub", "", &[points, "offsets"], "centered", Vec::new());
        graph.node("Mul", "", &["centered", "factors"], "points", Vec::new());
        points = "points";
    }
    add_kernel(graph, points, machine, kernel);
    let columns = decision_columns(machine);
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let k = machine.used.len();
    let double = |name: &str, width: usize| value(name, tensor::DOUBLE, &[None, Some(width)]);
    if k < 2 {
        add_affine(graph, "kernel", &columns, &machine.intercepts, "prediction");
        return Ok(vec![double("prediction", 1)]);
    }
    add_affine(graph, "kernel", &columns, &machine.intercepts, "decisions");
    // A decision above 0 is a vote for the first class of its pair, else for the second.
    let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).collect();
    let (mut gains, mut base) = (vec![0.0; pairs.len() * k], vec![0.0; k]);
    for (pair, &(a, b)) in pairs.iter().enumerate() {
        (gains[pair * k + a], gains[pair * k + b]) = (1.0, -1.0);
        base[b] += 1.0;
    }
    graph.constant("zero", &[0.0], &[1]);
    graph.constant("vote_gains", &gains, &[pairs.len(), k]);
    graph.constant("vote_base", &base, &[k]);
    graph.node("Greater", "", &["decisions", "zero"], "is_first", Vec::new());
    graph.node("Cast", "", &["is_first"], "first", vec![int("to", tensor::DOUBLE)]);
    graph.node("MatMul", "", &["first", "vote_gains"], "vote_changes", Vec::new());
    graph.node("Add", "", &["vote_changes", "vote_base"], "votes", Vec::new());
    let used: Vec<String> = machine.used.iter().map(|&class| schema.classes[class as usize].clone()).collect();
    Ok(vec![double("decisions", pairs.len()), graph.label("votes", &used)])
}

/// Adds the kernel values of each row with all support vectors.
fn add_kernel(graph: &mut OnnxGraph, points: &str, machine: &SvmModel, kernel: Kernel) {
    let (n, p) = (machine.support.len(), machine.map.n_columns());
    let transposed: Vec<f64> = (0..p).flat_map(|j| (0..n).map(move |i| machine.rows[i * p + j])).collect();
    graph.constant("support", &transposed, &[p, n]);
    graph.node("MatMul", "", &[points, "support"], "products", Vec::new());
    match kernel {
        Kernel::Polynomial { degree, gamma, coef0 } => {
            add_scaled(graph, gamma, coef0);
            graph.constant("degree", &[f64::from(degree)], &[1]);
            graph.node("Pow", "", &["scaled_products", "degree"], "kernel", Vec::new());
        }
        Kernel::Sigmoid { gamma, coef0 } => {
            // tanh by way of exp, which has a version for doubles everywhere: 1 - 2 / (exp(2z) + 1).
            add_scaled(graph, 2.0 * gamma, 2.0 * coef0);
            graph.constant("one", &[1.0], &[1]);
            graph.constant("two", &[2.0], &[1]);
            graph.node("Exp", "", &["scaled_products"], "exponential", Vec::new());
            graph.node("Add", "", &["exponential", "one"], "denominator", Vec::new());
            graph.node("Div", "", &["two", "denominator"], "share", Vec::new());
            graph.node("Sub", "", &["one", "share"], "kernel", Vec::new());
        }
        Kernel::Gaussian { gamma } => {
            // -gamma |x - s|^2 = 2 gamma x's - gamma |x|^2 - gamma |s|^2.
            let squares: Vec<f64> =
                machine.rows.chunks_exact(p.max(1)).map(|row| row.iter().map(|x| -gamma * x * x).sum()).collect();
            graph.constant("two_gamma", &[2.0 * gamma], &[1]);
            graph.constant("minus_gamma", &[-gamma], &[1]);
            graph.constant("support_squares", &squares, &[n]);
            graph.constant("ones", &vec![1.0; p], &[p, 1]);
            graph.node("Mul", "", &["products", "two_gamma"], "crossed", Vec::new());
            graph.node("Mul", "", &[points, points], "squared", Vec::new());
            graph.node("MatMul", "", &["squared", "ones"], "square_sums", Vec::new());
            graph.node("Mul", "", &["square_sums", "minus_gamma"], "own_squares", Vec::new());
            graph.node("Add", "", &["crossed", "own_squares"], "half_exponent", Vec::new());
            graph.node("Add", "", &["half_exponent", "support_squares"], "exponent", Vec::new());
            graph.node("Exp", "", &["exponent"], "kernel", Vec::new());
        }
        Kernel::Linear | Kernel::Laplacian { .. } => graph.node("Identity", "", &["products"], "kernel", Vec::new()),
    }
}

/// Adds `gamma products + coef0`.
fn add_scaled(graph: &mut OnnxGraph, gamma: f64, coef0: f64) {
    graph.constant("gamma", &[gamma], &[1]);
    graph.constant("coef0", &[coef0], &[1]);
    graph.node("Mul", "", &["products", "gamma"], "gamma_products", Vec::new());
    graph.node("Add", "", &["gamma_products", "coef0"], "scaled_products", Vec::new());
}

/// How much each support vector counts in each decision.
fn decision_columns(machine: &SvmModel) -> Vec<Vec<f64>> {
    let (k, n) = (machine.used.len(), machine.support.len());
    if k < 2 {
        return vec![machine.coefficients.row(0).to_vec()];
    }
    let mut begins = vec![0];
    machine.n_support.iter().for_each(|&n| begins.push(begins[begins.len() - 1] + n as usize));
    let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
    let column = |(a, b): (usize, usize)| {
        let mut column = vec![0.0; n];
        for (class, line) in [(a, b - 1), (b, a)] {
            let range = begins[class]..begins[class + 1];
            column[range.clone()].copy_from_slice(&machine.coefficients.row(line)[range]);
        }
        column
    };
    pairs.map(column).collect()
}
