//! The queue of nodes to split: the growth policy of a tree builder is the order of this queue.
//!
//! | policy | next |
//! |---|---|
//! | depth-first | the node pushed last |
//! | level-wise | all queued nodes, in the order in which they were pushed |
//! | best-first | the node whose split has the largest gain; among equal ones the one pushed first |
//!
//! Every tree builder is a loop over this queue: pop the next nodes, split them, push their children. **Reference.** The driver of XGBoost's tree updaters.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Which nodes are split next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowthPolicy {
    /// The node pushed last.
    DepthFirst,
    /// All queued nodes: one level.
    ByLevel,
    /// The node whose split has the largest gain.
    BestFirst,
}

/// The queued nodes.
pub struct NodeQueue<T> {
    policy: GrowthPolicy,
    heap: BinaryHeap<QueuedNode<T>>,
    n_pushed: i64,
}

impl<T> NodeQueue<T> {
    /// An empty queue.
    pub fn new(policy: GrowthPolicy) -> NodeQueue<T> {
        NodeQueue { policy, heap: BinaryHeap::new(), n_pushed: 0 }
    }

    /// Pushes a node. The gain of its split matters for the best-first policy only.
    pub fn push(&mut self, gain: f64, node: T) {
        self.n_pushed += 1;
        let (gain, rank) = match self.policy {
            GrowthPolicy::DepthFirst => (0.0, self.n_pushed),
            GrowthPolicy::ByLevel => (0.0, -self.n_pushed),
            GrowthPolicy::BestFirst => (gain, -self.n_pushed),
        };
        self.heap.push(QueuedNode { gain, rank, node });
    }

    /// The next node.
    pub fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|waiting| waiting.node)
    }

    /// The nodes to split next: all queued nodes (level-wise) or one; none if the queue is empty.
    pub fn pop_batch(&mut self) -> Vec<T> {
        let n = if self.policy == GrowthPolicy::ByLevel { self.heap.len() } else { 1 };
        std::iter::from_fn(|| self.pop()).take(n).collect()
    }
}

struct QueuedNode<T> {
    gain: f64,
    rank: i64,
    node: T,
}

impl<T> Ord for QueuedNode<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.rank.cmp(&other.rank))
    }
}

impl<T> PartialOrd for QueuedNode<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for QueuedNode<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for QueuedNode<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_has_its_order() {
        let orders = [
            (GrowthPolicy::DepthFirst, vec![vec![3], vec![2], vec![1], vec![0]]),
            (GrowthPolicy::ByLevel, vec![vec![0, 1, 2, 3]]),
            (GrowthPolicy::BestFirst, vec![vec![1], vec![3], vec![0], vec![2]]),
        ];
        for (policy, expected) in orders {
            let mut queue = NodeQueue::new(policy);
            [1.0, 5.0, 1.0, 2.0].into_iter().enumerate().for_each(|(node, gain)| queue.push(gain, node));
            for batch in expected {
                assert_eq!(queue.pop_batch(), batch, "{policy:?}");
            }
            assert!(queue.pop().is_none() && queue.pop_batch().is_empty());
        }
    }
}
