//! Scores of an order of rows, within one query. Grades say how relevant a row is; a row of grade 0 is not.
//!
//! ```text
//! DCG@k = sum_{i <= k} gain(grade at place i) / log2(i + 1)        NDCG = DCG / DCG of the best order
//! tau-b = (concordant - discordant) / sqrt((pairs - ties in x) (pairs - ties in y))
//! omega loss = mean over pairs with different places of omega(place, place') [the pair is ordered the wrong way]
//! ```
//! NDCG and the reciprocal rank are means over all orders of rows with equal scores; a query without any relevant row scores 0.
//!
//! **References.** Järvelin and Kekäläinen 2002; McSherry and Najork 2008 (ties); Knight 1966 (tau in O(n log n)); Ailon and Mohri 2010 (omega); Fenwick 1994 (running sums).

use super::Weights;
use super::omega::{Omega, Product};
use super::threshold::Ranked;

/// What a grade is worth; one below 0 is worth no more than 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// The grade itself.
    Linear,
    /// 2^grade - 1.
    Exponential,
}

impl Gain {
    /// What grades are worth. Where that is more than a number holds, all of it in a smaller unit, which a ratio of sums doesn't see.
    fn of(self, grades: &[f64]) -> Vec<f64> {
        let most = grades.iter().copied().fold(0.0, f64::max);
        match self {
            Gain::Linear => {
                let unit = if most > HUGE { most } else { 1.0 };
                grades.iter().map(|g| g.max(0.0) / unit).collect()
            }
            Gain::Exponential => {
                let unit = if most > HUGE.log2() { most } else { 0.0 };
                grades.iter().map(|g| (g.max(0.0) - unit).exp2() - (-unit).exp2()).collect()
            }
        }
    }
}

/// Sums of numbers above this may become infinite.
const HUGE: f64 = 1e280;

/// The discounted cumulative gain of the best order relative to which this order is judged: 1 is the best. Only the first `k` places count.
pub fn ndcg(scores: &[f64], grades: &[f64], k: usize, gain: Gain) -> f64 {
    let discount = |place: usize| if place < k { 1.0 / (place as f64 + 2.0).log2() } else { 0.0 };
    let gains = gain.of(grades);
    let mut best = gains.clone();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 = best.iter().take(k).enumerate().map(|(place, g)| g * discount(place)).sum();
    if !(ideal > 0.0) {
        return 0.0;
    }
    let order = falling(scores);
    let (mut sum, mut start) = (0.0, 0);
    while start < order.len() && start < k {
        let score = scores[order[start]];
        // At least one: a score that is no number equals nothing, not even itself.
        let end = start + order[start..].iter().take_while(|&&row| scores[row] == score).count().max(1);
        let together: f64 = order[start..end].iter().map(|&row| gains[row]).sum();
        sum += together / (end - start) as f64 * (start..end).map(discount).sum::<f64>();
        start = end;
    }
    sum / ideal
}

/// The mean, over the relevant rows, of the share of relevant rows among those at least as high.
pub fn average_precision(scores: &[f64], grades: &[f64]) -> f64 {
    let ranked = Ranked::new(scores, grades.iter().map(|&g| g > 0.0).collect());
    ranked.average_precision(Weights::EQUAL).unwrap_or(0.0)
}

/// One over the rank of the first relevant row; 0 without one. Where scores are tied, its mean over all orders of the tied rows: of `tied` rows, `relevant` of them relevant, the first relevant one
/// stands at place p with probability `P(none before p) * relevant / (tied - p + 1)`.
pub fn reciprocal_rank(scores: &[f64], grades: &[f64]) -> f64 {
    let is_relevant = |row: &usize| grades[*row] > 0.0;
    let Some(first) = (0..scores.len()).filter(is_relevant).map(|row| scores[row]).reduce(f64::max) else {
        return 0.0;
    };
    let above = scores.iter().filter(|&&score| score > first).count();
    // At least the first relevant row: a score that is no number equals nothing, not even itself.
    let tied = scores.iter().filter(|&&score| score == first).count().max(1);
    let relevant = (0..scores.len()).filter(|row| is_relevant(row) && scores[*row] == first).count().max(1);
    let (mut mean, mut none_before) = (0.0, 1.0);
    for place in 1..=tied - relevant + 1 {
        let left = (tied - place + 1) as f64;
        mean += none_before * relevant as f64 / left / (above + place) as f64;
        none_before *= 1.0 - relevant as f64 / left;
    }
    mean
}

/// Kendall's tau-b: 1 for the same order, -1 for the opposite one; 0 where one of both is constant.
pub fn kendall_tau(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len();
    // 0 and -0 are equal, but not to a total order: the sum makes -0 a 0.
    let plain = |values: &[f64]| values.iter().map(|v| v + 0.0).collect::<Vec<f64>>();
    let (x, y) = (plain(x), plain(y));
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]).then(y[a].total_cmp(&y[b])));
    let pairs = |count: usize| (count * count.saturating_sub(1) / 2) as f64;
    let ties = |same: &dyn Fn(usize, usize) -> bool, order: &[usize]| {
        order.chunk_by(|&a, &b| same(a, b)).map(|run| pairs(run.len())).sum::<f64>()
    };
    let ties_x = ties(&|a, b| x[a] == x[b], &order);
    let ties_both = ties(&|a, b| x[a] == x[b] && y[a] == y[b], &order);
    let mut ys: Vec<f64> = order.iter().map(|&i| y[i]).collect();
    let discordant = inversions(&mut ys, &mut vec![0.0; n]) as f64;
    order.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
    let ties_y = ties(&|a, b| y[a] == y[b], &order);
    let all = pairs(n);
    let spread = (all - ties_x).sqrt() * (all - ties_y).sqrt();
    let concordant_less_discordant = all - ties_x - ties_y + ties_both - 2.0 * discordant;
    if spread > 0.0 { (concordant_less_discordant / spread).clamp(-1.0, 1.0) } else { 0.0 }
}

/// Sorts, and counts the pairs that stood in falling order.
fn inversions(values: &mut [f64], room: &mut [f64]) -> u64 {
    let n = values.len();
    if n < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(n / 2);
    let mut count = inversions(left, &mut room[..n / 2]) + inversions(right, &mut room[n / 2..]);
    let (mut i, mut j) = (0, 0);
    for slot in room[..n].iter_mut() {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *slot = left[i];
            i += 1;
        } else {
            *slot = right[j];
            count += (left.len() - i) as u64;
            j += 1;
        }
    }
    values.copy_from_slice(&room[..n]);
    count
}

/// The area under the ROC curve: the share of pairs of a relevant and an irrelevant row that stand in the right order, ties counting half; `None` where there is no
/// such pair.
pub fn roc_auc(scores: &[f64], grades: &[f64]) -> Option<f64> {
    Ranked::new(scores, grades.iter().map(|&g| g > 0.0).collect()).roc_auc(Weights::EQUAL)
}

/// The true places of rows by their grades, from 0 for the highest: how many rows have a higher one.
pub fn places(grades: &[f64]) -> Vec<usize> {
    let order = falling(grades);
    let mut places = vec![0; grades.len()];
    for (at, pair) in order.windows(2).enumerate() {
        places[pair[1]] = if grades[pair[1]] == grades[pair[0]] { places[pair[0]] } else { at + 1 };
    }
    places
}

/// The mean cost of the pairs that the scores order the wrong way. `places` are the true places, from 0 for the first; pairs that share a place have
/// no right order and don't count; of a tie in the scores half the cost counts. O(n log n) for the costs that have a name, not of the pairs' number.
pub fn omega_loss(scores: &[f64], places: &[usize], omega: &Omega) -> f64 {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&row| places[row]);
    let n_pairs = n_different(places);
    let ranks = ranks(scores);
    let cost: f64 = omega.products(places).iter().map(|product| wrong_side(&order, places, &ranks, product)).sum();
    if n_pairs > 0.0 { (cost / n_pairs).max(0.0) } else { 0.0 }
}

/// How many pairs have different places.
pub fn n_different(places: &[usize]) -> f64 {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let pairs = |n: usize| n as f64 * (n as f64 - 1.0) / 2.0;
    pairs(places.len()) - sorted.chunk_by(|a, b| a == b).map(|tied| pairs(tied.len())).sum::<f64>()
}

/// Sums first(place of u) * second(place of v) over the pairs where u belongs before v and stands behind it, ties of the scores counting half: rows come in the
/// order of their places, and those that came earlier are summed up by the rank of their score.
fn wrong_side(order: &[usize], places: &[usize], ranks: &[usize], product: &Product) -> f64 {
    let mut before = RunningSums::new(ranks.len());
    let mut cost = 0.0;
    for same in order.chunk_by(|&a, &b| places[a] == places[b]) {
        let second = (product.second)(places[same[0]]);
        if second != 0.0 {
            let lower = same.iter().map(|&v| (before.below(ranks[v]) + before.below(ranks[v] + 1)) / 2.0);
            cost += second * lower.sum::<f64>();
        }
        let first = (product.first)(places[same[0]]);
        if first != 0.0 {
            same.iter().for_each(|&u| before.add(ranks[u], first));
        }
    }
    cost
}

/// The rank of every score among the different ones, from 0 for the lowest.
fn ranks(scores: &[f64]) -> Vec<usize> {
    let order = falling(scores);
    let mut ranks = vec![0; scores.len()];
    let runs: Vec<&[usize]> = order.chunk_by(|&a, &b| scores[a] == scores[b]).collect();
    for (rank, run) in runs.iter().rev().enumerate() {
        run.iter().for_each(|&row| ranks[row] = rank);
    }
    ranks
}

/// Sums over all places below one, under additions: a binary indexed tree.
struct RunningSums(Vec<f64>);

impl RunningSums {
    fn new(n: usize) -> Self {
        RunningSums(vec![0.0; n + 1])
    }

    fn add(&mut self, place: usize, value: f64) {
        let mut at = place + 1;
        while at < self.0.len() {
            self.0[at] += value;
            at += at & at.wrapping_neg();
        }
    }

    fn below(&self, place: usize) -> f64 {
        let (mut at, mut sum) = (place, 0.0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

fn falling(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}
