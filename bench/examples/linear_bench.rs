//! Times the solvers of linear models on arrays from a folder, for comparison with other programs on the same arrays.
//!
//! `linear_bench FOLDER JOB [KEY=VALUE ...]` reads `x.bin`, `y.bin` (little-endian `f64`, rows of `x` one after the other) and
//! `shape.txt` (`rows columns`), runs the job a few times and prints the best time, the objective and what is known about it.

use ermine_core::linalg::{Dense, Design};
use ermine_core::loss::{Hinge, Logistic, Loss, Squared};
use ermine_core::progress::Silent;
use ermine_linear::optim::{lasso, least_squares, multinomial, newton, perceptron, prox_newton, quantile, risk, sgd};
use ermine_linear::penalty::Penalty;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

type Answer = Result<String, Box<dyn std::error::Error>>;

fn read(path: &Path) -> std::io::Result<Vec<f64>> {
    Ok(std::fs::read(path)?
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
        .collect())
}

struct Data {
    x: Vec<f64>,
    y: Vec<f64>,
    n: usize,
    p: usize,
    by_columns: bool,
    options: HashMap<String, String>,
}

impl Data {
    fn number(&self, name: &str, default: f64) -> f64 {
        self.options.get(name).and_then(|v| v.parse().ok()).unwrap_or(default)
    }

    fn design(&self) -> Design<'_> {
        let dense = if self.by_columns {
            Dense::columns_f64(&self.x, self.n, self.p, self.n)
        } else {
            Dense::rows_f64(&self.x, self.n, self.p, self.p)
        };
        dense.expect("the shape fits the data").into()
    }

    fn newton(&self) -> newton::NewtonOptions<'static> {
        let tolerance = self.number("tolerance", 1e-10);
        newton::NewtonOptions {
            tolerance,
            certified: self.number("certified", 1e-6),
            max_iterations: 200,
            sampled_start: self.number("sampled", 1.0) > 0.0,
            observer: &Silent,
        }
    }

    fn risk<L: Loss>(&self, loss: L) -> risk::Risk<'_, L> {
        let lambda = self.number("lambda", 1.0 / self.n as f64);
        risk::Risk { x: self.design(), y: Cow::Borrowed(&self.y), weights: None, loss, lambda, intercept: true }
    }
}

fn squares(data: &Data) -> Answer {
    let design = data.design();
    let lambda = data.number("lambda", 0.0);
    let (targets, observer): ([&[f64]; 1], _) = ([&data.y], &Silent);
    let problem =
        least_squares::LeastSquares { x: &design, targets: &targets, weights: None, intercept: true, lambda, observer };
    let solution = problem.solve()?;
    Ok(format!(
        "rss {:.12e} beta0 {:.12e} {:?}",
        solution.residual_sums[0],
        solution.coefficients[(0, 0)],
        solution.method
    ))
}

fn lasso(data: &Data, path: bool) -> Answer {
    let design = data.design();
    let problem = lasso::LassoProblem {
        x: &design,
        y: &data.y,
        weights: None,
        intercept: true,
        l1_ratio: data.number("ratio", 1.0),
        tolerance: data.number("tolerance", 1e-8),
        max_iterations: 200,
        observer: &Silent,
    };
    if path {
        let solutions = {
            let mut solver = problem.solver(100);
            solver.path(&solver.grid(100, data.number("epsilon", 1e-3)))?
        };
        let worst = solutions.iter().filter_map(|s| s.outcome.gap()).fold(0.0, f64::max);
        let last = &solutions[99];
        let used = last.coefficients.iter().filter(|b| **b != 0.0).count();
        return Ok(format!(
            "last {:.12e} worst gap {worst:.3e} used {used} {:?}",
            last.outcome.value, last.outcome.status
        ));
    }
    let solution = problem.solve(data.number("lambda", 1.0))?;
    let used = solution.coefficients.iter().filter(|b| **b != 0.0).count();
    Ok(format!(
        "objective {:.12e} gap {:.3e} used {used} {:?}",
        solution.outcome.value,
        solution.outcome.gap().unwrap_or(f64::NAN),
        solution.outcome
    ))
}

fn logistic(data: &Data) -> Answer {
    let risk = data.risk(Logistic);
    let mut w = vec![0.0; data.p + 1];
    let l1 = data.number("l1", 0.0);
    let outcome = if l1 > 0.0 {
        prox_newton::minimize(&risk, l1, &mut w, &data.newton())?
    } else {
        newton::minimize(&risk, &mut w, &data.newton())?
    };
    Ok(format!("objective {:.12e} w0 {:.9e} {outcome:?}", outcome.value, w[0]))
}

fn multinomial(data: &Data) -> Answer {
    let classes: Vec<u32> = data.y.iter().map(|&y| y as u32).collect();
    let n_classes = classes.iter().max().map_or(0, |&k| k as usize + 1);
    let lambda = data.number("lambda", 1.0 / data.n as f64);
    let problem = multinomial::MultinomialRisk {
        x: data.design(),
        y: Cow::Owned(classes),
        n_classes,
        weights: None,
        lambda,
        intercept: true,
    };
    let mut w = vec![0.0; n_classes * (data.p + 1)];
    let outcome = newton::minimize(&problem, &mut w, &data.newton())?;
    Ok(format!("objective {:.12e} {outcome:?}", outcome.value))
}

fn quantile(data: &Data) -> Answer {
    let design = data.design();
    let tau = data.number("tau", 0.5);
    let solution =
        quantile::QuantileProblem { x: &design, y: &data.y, weights: None, tau, intercept: true }.solve(&Silent)?;
    Ok(format!("objective {:.12e} {:?}", solution.outcome.value, solution.outcome))
}

fn stochastic(data: &Data) -> Answer {
    let design = data.design();
    let lambda = 1e-4;
    let options = sgd::SgdOptions {
        schedule: sgd::RateSchedule::Optimal { rate: 0.05, strength: lambda },
        penalty: Penalty::L2 { lambda },
        intercept: true,
        batch: 1,
        average: data.number("average", 0.0) > 0.0,
        shuffle: true,
        seed: 1,
        max_passes: data.number("passes", 5.0) as usize,
        tolerance: None,
        patience: 5,
        held: &[],
        observer: &Silent,
    };
    let mut model = sgd::SgdState::new(data.p);
    match data.options.get("loss").map(String::as_str) {
        Some("squared") => model.run(Squared, &design, &data.y, None, &options)?,
        Some("logistic") => model.run(Logistic, &design, &data.y, None, &options)?,
        _ => model.run(Hinge, &design, &data.y, None, &options)?,
    };
    Ok(format!("curve {:?}", model.curve))
}

fn perceptron(data: &Data) -> Answer {
    let design = data.design();
    let max_passes = data.number("passes", 5.0) as usize;
    let options = perceptron::PerceptronOptions {
        form: perceptron::UpdateRule::Online,
        intercept: true,
        max_passes,
        patience: None,
        shuffle: true,
        seed: 1,
        observer: &Silent,
    };
    let learned = perceptron::learn(&design, &data.y, None, &options)?;
    Ok(format!("mistakes {:?}", learned.mistakes))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, job, rest @ ..] = &arguments[..] else {
        return Err("usage: linear_bench FOLDER JOB [KEY=VALUE ...]".into());
    };
    let folder = Path::new(folder);
    let shape = std::fs::read_to_string(folder.join("shape.txt"))?;
    let shape: Vec<usize> = shape.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let options: HashMap<String, String> =
        rest.iter().filter_map(|o| o.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let (mut x, y) = (read(&folder.join("x.bin"))?, read(&folder.join("y.bin"))?);
    let (n, p) = (shape[0], shape[1]);
    let by_columns = options.get("order").is_some_and(|o| o == "F");
    if by_columns {
        x = (0..p).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| x[i * p + j]).collect();
    }
    let data = Data { x, y, n, p, by_columns, options };
    let (mut best, mut answer) = (f64::INFINITY, String::new());
    for _ in 0..data.number("repeat", 5.0) as usize {
        let start = Instant::now();
        answer = match job.as_str() {
            "squares" => squares(&data)?,
            "lasso" => lasso(&data, false)?,
            "path" => lasso(&data, true)?,
            "logistic" => logistic(&data)?,
            "multinomial" => multinomial(&data)?,
            "quantile" => quantile(&data)?,
            "sgd" => stochastic(&data)?,
            "perceptron" => perceptron(&data)?,
            other => return Err(format!("no job named {other}").into()),
        };
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{job} {n}x{p}: {best:.5} s  {answer}");
    Ok(())
}
