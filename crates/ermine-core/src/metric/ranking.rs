//! Ranking metrics of one query. Rows of grade 0 are not relevant.
//!
//! ```text
//! DCG@k = sum_{i <= k} gain(grade at position i) / log2(i + 1)     NDCG = DCG / DCG of the ideal order
//! tau-b = (concordant - discordant) / sqrt((pairs - ties in x) (pairs - ties in y))
//! omega loss = mean over pairs with different true positions of omega(i, j) [the pair is in the wrong order]
//! ```
//! NDCG and the reciprocal rank are averaged over all orders of tied scores; a query without relevant rows scores 0.
//!
//! **References.** Järvelin and Kekäläinen 2002; McSherry and Najork 2008 (ties); Knight 1966 (tau in O(n log n)); Ailon and Mohri 2010 (omega); Fenwick 1994 (running sums).

use super::Weights;
use super::omega::{Omega, Product};
use super::threshold::Ranked;

/// Gain of a grade; negative grades have gain 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// The grade itself.
    Linear,
    /// 2^grade - 1.
    Exponential,
}

impl Gain {
    /// Gains of the grades. If they would overflow, all are scaled down, which does not change a ratio of sums.
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

/// Sums of larger numbers may overflow.
const HUGE: f64 = 1e280;

/// Normalized discounted cumulative gain of the top `k` positions; 1 is best.
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
        // At least one, since NaN is not equal to itself.
        let end = start + order[start..].iter().take_while(|&&row| scores[row] == score).count().max(1);
        let together: f64 = order[start..end].iter().map(|&row| gains[row]).sum();
        sum += together / (end - start) as f64 * (start..end).map(discount).sum::<f64>();
        start = end;
    }
    sum / ideal
}

/// Average precision: the mean, over the relevant rows, of the precision at their score.
pub fn average_precision(scores: &[f64], grades: &[f64]) -> f64 {
    let ranked = Ranked::new(scores, grades.iter().map(|&g| g > 0.0).collect());
    ranked.average_precision(Weights::EQUAL).unwrap_or(0.0)
}

/// Reciprocal rank of the first relevant row; 0 without relevant rows. Tied scores are averaged over all orders: with `relevant` of `tied` rows relevant, the first relevant one is at
/// position p with probability `P(none before p) * relevant / (tied - p + 1)`.
pub fn reciprocal_rank(scores: &[f64], grades: &[f64]) -> f64 {
    let is_relevant = |row: &usize| grades[*row] > 0.0;
    let Some(first) = (0..scores.len()).filter(is_relevant).map(|row| scores[row]).reduce(f64::max) else {
        return 0.0;
    };
    let above = scores.iter().filter(|&&score| score > first).count();
    // At least the first relevant row, since NaN is not equal to itself.
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

/// Kendall's tau-b: 1 for the same order, -1 for the reverse order; 0 if either is constant.
pub fn kendall_tau(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len();
    // Adding 0 turns -0 into 0, which a total order would distinguish.
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

/// Sorts, and counts inversions.
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

/// Area under the ROC curve: the share of pairs of a relevant and an irrelevant row in the right order, where ties count half; `None` if there is no such pair.
pub fn roc_auc(scores: &[f64], grades: &[f64]) -> Option<f64> {
    Ranked::new(scores, grades.iter().map(|&g| g > 0.0).collect()).roc_auc(Weights::EQUAL)
}

/// True positions of the rows by their grades, from 0 for the highest: the number of rows with a higher grade.
pub fn places(grades: &[f64]) -> Vec<usize> {
    let order = falling(grades);
    let mut places = vec![0; grades.len()];
    for (at, pair) in order.windows(2).enumerate() {
        places[pair[1]] = if grades[pair[1]] == grades[pair[0]] { places[pair[0]] } else { at + 1 };
    }
    places
}

/// Mean cost of the pairs that the scores put in the wrong order. `places` are the true positions, from 0. Pairs with the same true position don't count; tied scores count half the cost.
/// O(n log n) for the named costs.
pub fn omega_loss(scores: &[f64], places: &[usize], omega: &Omega) -> f64 {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&row| places[row]);
    let n_pairs = n_different(places);
    let ranks = ranks(scores);
    let cost: f64 = omega.products(places).iter().map(|product| wrong_side(&order, places, &ranks, product)).sum();
    if n_pairs > 0.0 { (cost / n_pairs).max(0.0) } else { 0.0 }
}

/// Number of pairs with different positions.
pub fn n_different(places: &[usize]) -> f64 {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let pairs = |n: usize| n as f64 * (n as f64 - 1.0) / 2.0;
    pairs(places.len()) - sorted.chunk_by(|a, b| a == b).map(|tied| pairs(tied.len())).sum::<f64>()
}

/// Sums first(position of u) * second(position of v) over the pairs where u belongs before v but is ranked behind it; tied scores count half. Rows are visited in order of their true
/// positions, and earlier rows are summed by the rank of their score.
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

/// The rank of every score among the distinct scores, from 0 for the lowest.
fn ranks(scores: &[f64]) -> Vec<usize> {
    let order = falling(scores);
    let mut ranks = vec![0; scores.len()];
    let runs: Vec<&[usize]> = order.chunk_by(|&a, &b| scores[a] == scores[b]).collect();
    for (rank, run) in runs.iter().rev().enumerate() {
        run.iter().for_each(|&row| ranks[row] = rank);
    }
    ranks
}

/// Prefix sums under additions: a binary indexed (Fenwick) tree.
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
