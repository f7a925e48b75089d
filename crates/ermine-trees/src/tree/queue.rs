//! The nodes of a growing tree that wait to be split: the growth policy is the order in which they come.
//!
//! | policy | who comes next |
//! |---|---|
//! | depth first | the node that came last |
//! | level by level | all nodes that wait, in the order in which they came |
//! | best first | the node whose split gains most, of equal ones the one that came first |
//!
//! Every grower is a loop over this queue: take the next nodes, split them, put their children in. **Reference.** The driver of XGBoost's tree updaters.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Which nodes are split next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The node that came last.
    DepthFirst,
    /// All nodes that wait: those of one level.
    ByLevel,
    /// The node whose split gains most.
    BestFirst,
}

/// Nodes that wait.
pub struct Queue<T> {
    policy: Policy,
    heap: BinaryHeap<Waiting<T>>,
    n_pushed: i64,
}

impl<T> Queue<T> {
    /// An empty queue.
    pub fn new(policy: Policy) -> Queue<T> {
        Queue { policy, heap: BinaryHeap::new(), n_pushed: 0 }
    }

    /// Puts a node in. The gain of its split counts where the best comes first.
    pub fn push(&mut self, gain: f64, node: T) {
        self.n_pushed += 1;
        let (gain, rank) = match self.policy {
            Policy::DepthFirst => (0.0, self.n_pushed),
            Policy::ByLevel => (0.0, -self.n_pushed),
            Policy::BestFirst => (gain, -self.n_pushed),
        };
        self.heap.push(Waiting { gain, rank, node });
    }

    /// The next node.
    pub fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|waiting| waiting.node)
    }

    /// The nodes that are split next, together: all that wait, or one; none if the queue is empty.
    pub fn pop_batch(&mut self) -> Vec<T> {
        let n = if self.policy == Policy::ByLevel { self.heap.len() } else { 1 };
        std::iter::from_fn(|| self.pop()).take(n).collect()
    }
}

struct Waiting<T> {
    gain: f64,
    rank: i64,
    node: T,
}

impl<T> Ord for Waiting<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.rank.cmp(&other.rank))
    }
}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Waiting<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_has_its_order() {
        let orders = [
            (Policy::DepthFirst, vec![vec![3], vec![2], vec![1], vec![0]]),
            (Policy::ByLevel, vec![vec![0, 1, 2, 3]]),
            (Policy::BestFirst, vec![vec![1], vec![3], vec![0], vec![2]]),
        ];
        for (policy, expected) in orders {
            let mut queue = Queue::new(policy);
            [1.0, 5.0, 1.0, 2.0].into_iter().enumerate().for_each(|(node, gain)| queue.push(gain, node));
            for batch in expected {
                assert_eq!(queue.pop_batch(), batch, "{policy:?}");
            }
            assert!(queue.pop().is_none() && queue.pop_batch().is_empty());
        }
    }
}
