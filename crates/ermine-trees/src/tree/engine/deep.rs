//! Very deep trees: a row finds where it leaves a long path by binary search, not step by step.
//!
//! **Idea.** Every node hands its path on to the child with the larger subtree: this parts the tree into paths, and a row changes from one to another at most log2(nodes) times. A row stays on a path of
//! thresholds as long as its values lie in a box that shrinks along the path: for each column, the least threshold of those that must not be passed falls, and the largest of those that must be passed rises.
//! The first node where the row leaves is the first over all columns, each found by binary search in these numbers; where missing values leave is one number for each column.
//!
//! **Nodes that ask about categories** end a path: they are asked one by one.
//!
//! **Cost.** O(d log^2 n) for a row instead of O(depth), with d columns on a path and n nodes. About 30 bytes for each node. The leaf is that of the plain walk.
//! **Reference.** Sleator and Tarjan, A data structure for dynamic trees (1983), for heavy paths.

use crate::tree::forest::{Forest, Node, kind};

/// Rows end deeper than this on average, where this form is for a tree.
pub(in crate::tree) const DEEP: usize = 256;

/// What a node asks.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum Asked {
    /// Nothing: a leaf.
    Nothing,
    /// Whether a value is at most a threshold; the second child is the one after `child`.
    AtMost { feature: u32, threshold: f64, missing_left: bool, child: u32 },
    /// Something else, with `n` children from `child` on.
    Other { child: u32, n: u32 },
}

impl Asked {
    fn children(self) -> std::ops::Range<u32> {
        match self {
            Asked::Nothing => 0..0,
            Asked::AtMost { child, .. } => child..child + 2,
            Asked::Other { child, n } => child..child + n,
        }
    }
}

/// The paths of some trees.
#[derive(Debug, Clone)]
pub(in crate::tree) struct Paths {
    /// The path that begins at a node; `NONE` for leaves, and for nodes inside a path.
    begins: Vec<u32>,
    paths: Vec<Path>,
    /// The nodes of each path, from the top down.
    nodes: Vec<u32>,
    ladders: Vec<Ladder>,
    /// A threshold, and its place on the path.
    rungs: Vec<(f64, u32)>,
}

const NONE: u32 = u32::MAX;

/// Where the nodes and the ladders of a path begin; they end where those of the next path begin.
#[derive(Debug, Clone, Copy)]
struct Path {
    nodes: u32,
    ladders: u32,
}

/// What a path asks about one column.
#[derive(Debug, Clone, Copy)]
struct Ladder {
    feature: u32,
    /// The first place where a missing value leaves.
    missing: u32,
    /// Where its thresholds begin: first those that must not be passed, falling, then those that must be passed, rising. They end where those of the next ladder begin.
    falling: u32,
    rising: u32,
}

impl Paths {
    /// The paths of all trees among `n` nodes; children come after their parents.
    pub fn new(n: usize, ask: impl Fn(u32) -> Asked) -> Paths {
        let mut size = vec![1u32; n];
        for node in (0..n as u32).rev() {
            size[node as usize] = ask(node).children().map(|child| size[child as usize]).sum::<u32>() + 1;
        }
        let mut paths = Paths {
            begins: vec![NONE; n],
            paths: Vec::new(),
            nodes: Vec::new(),
            ladders: Vec::new(),
            rungs: Vec::new(),
        };
        let mut is_inside = vec![false; n];
        let mut steps = Vec::new();
        for top in 0..n as u32 {
            if !is_inside[top as usize] && !matches!(ask(top), Asked::Nothing) {
                paths.add(top, &size, &ask, &mut steps);
                let nodes = &paths.nodes[paths.paths[paths.paths.len() - 1].nodes as usize..];
                nodes.iter().for_each(|&node| is_inside[node as usize] = true);
            }
        }
        paths.paths.push(paths.end());
        let rungs = paths.rungs.len() as u32;
        paths.ladders.push(Ladder { feature: 0, missing: NONE, falling: rungs, rising: rungs });
        paths
    }

    /// Where the next path would begin.
    fn end(&self) -> Path {
        Path { nodes: self.nodes.len() as u32, ladders: self.ladders.len() as u32 }
    }

    /// Adds the path that begins at a node.
    fn add(&mut self, top: u32, size: &[u32], ask: &impl Fn(u32) -> Asked, steps: &mut Vec<Step>) {
        self.begins[top as usize] = self.paths.len() as u32;
        self.paths.push(self.end());
        steps.clear();
        let mut node = top;
        while let Asked::AtMost { feature, threshold, missing_left, child } = ask(node) {
            self.nodes.push(node);
            let goes_left = size[child as usize] >= size[child as usize + 1];
            let leaves_missing = missing_left != goes_left;
            steps.push(Step { feature, place: steps.len() as u32, threshold, goes_left, leaves_missing });
            node = if goes_left { child } else { child + 1 };
        }
        self.nodes.push(node);
        steps.sort_by_key(|step| (step.feature, step.place));
        for steps in steps.chunk_by(|a, b| a.feature == b.feature) {
            self.add_ladder(steps);
        }
    }

    /// Adds what the steps of a path ask about one column.
    fn add_ladder(&mut self, steps: &[Step]) {
        let falling = self.rungs.len() as u32;
        let mut least: Option<f64> = None;
        for step in steps.iter().filter(|step| step.goes_left) {
            if least.is_none_or(|least| step.threshold < least) {
                least = Some(step.threshold);
                self.rungs.push((step.threshold, step.place));
            }
        }
        let rising = self.rungs.len() as u32;
        let mut most: Option<f64> = None;
        for step in steps.iter().filter(|step| !step.goes_left) {
            if most.is_none_or(|most| step.threshold > most) {
                most = Some(step.threshold);
                self.rungs.push((step.threshold, step.place));
            }
        }
        let missing = steps.iter().find(|step| step.leaves_missing).map_or(NONE, |step| step.place);
        self.ladders.push(Ladder { feature: steps[0].feature, missing, falling, rising });
    }

    /// The node where a row ends that starts at `root`; `x(feature)` is its value, and `step(node)` where it goes from a node, if anywhere.
    #[inline]
    pub fn walk(&self, root: u32, x: impl Fn(usize) -> f64, step: impl Fn(u32) -> Option<u32>) -> u32 {
        let mut at = root;
        loop {
            let path = self.begins[at as usize] as usize;
            if path == NONE as usize {
                return at;
            }
            let (from, to) = (self.paths[path], self.paths[path + 1]);
            let mut place = to.nodes - from.nodes - 1;
            for i in from.ladders as usize..to.ladders as usize {
                place = place.min(self.leaves(i, x(self.ladders[i].feature as usize)));
            }
            let node = self.nodes[(from.nodes + place) as usize];
            match step(node) {
                Some(next) => at = next,
                None => return node,
            }
        }
    }

    /// The place on its path where a value leaves a ladder.
    #[inline]
    fn leaves(&self, ladder: usize, x: f64) -> u32 {
        let (ladder, end) = (&self.ladders[ladder], self.ladders[ladder + 1].falling);
        if x.is_nan() {
            return ladder.missing;
        }
        let falling = &self.rungs[ladder.falling as usize..ladder.rising as usize];
        let rising = &self.rungs[ladder.rising as usize..end as usize];
        let place = |rungs: &[(f64, u32)], i: usize| rungs.get(i).map_or(NONE, |rung| rung.1);
        let passed = place(falling, falling.partition_point(|rung| x <= rung.0));
        passed.min(place(rising, rising.partition_point(|rung| x > rung.0)))
    }
}

/// A node of a path.
struct Step {
    feature: u32,
    place: u32,
    threshold: f64,
    /// The path goes on to the left.
    goes_left: bool,
    /// Missing values don't.
    leaves_missing: bool,
}

/// The paths of some forests.
#[derive(Debug, Clone)]
pub(crate) struct Deep {
    paths: Vec<Paths>,
}

impl Deep {
    /// The paths of forests, if their leaves are very deep on average.
    pub fn new(forests: &[&Forest]) -> Option<Deep> {
        forests.iter().any(|forest| forest.is_deep()).then(|| Deep::of(forests))
    }

    /// The paths of forests.
    pub fn of(forests: &[&Forest]) -> Deep {
        let paths = |forest: &&Forest| Paths::new(forest.nodes.len(), |node| asked(&forest.nodes[node as usize]));
        Deep { paths: forests.iter().map(paths).collect() }
    }

    /// The node where a row ends in a tree of the `i`-th forest, which is given too.
    #[inline]
    pub fn walk(&self, (i, forest): (usize, &Forest), tree: usize, row: &[f64]) -> u32 {
        let step = |node: u32| {
            let node = &forest.nodes[node as usize];
            forest.step(node, row[node.feature()])
        };
        self.paths[i].walk(forest.roots[tree], |feature| row[feature], step)
    }
}

fn asked(node: &Node) -> Asked {
    let (child, feature) = (node.child, node.feature() as u32);
    match node.kind() {
        kind::LEAF => Asked::Nothing,
        kind::AT_MOST_ELSE_LEFT | kind::AT_MOST_ELSE_RIGHT => {
            let missing_left = node.kind() == kind::AT_MOST_ELSE_LEFT;
            Asked::AtMost { feature, threshold: node.threshold(), missing_left, child }
        }
        kind::IN_SET_ELSE_LEFT | kind::IN_SET_ELSE_RIGHT => Asked::Other { child, n: 2 },
        other => Asked::Other { child, n: node.word as u32 + u32::from(other == kind::EACH_AND_MISSING) },
    }
}

/// Whether the leaves of a forest are deeper than [`DEEP`] on average.
pub(in crate::tree) fn is_deep(forest: &Forest) -> bool {
    // The leaves of a tree of n nodes with two children each are n / 4 deep at most, on average.
    let largest = (0..forest.n_trees()).map(|tree| forest.nodes_of(tree).len()).max().unwrap_or(0);
    if largest <= 4 * DEEP {
        return false;
    }
    let mut depth = vec![0u32; forest.nodes.len()];
    let (mut n_leaves, mut sum) = (0u64, 0u64);
    for (i, node) in forest.nodes.iter().enumerate() {
        let children = asked(node).children();
        if children.is_empty() {
            n_leaves += 1;
            sum += u64::from(depth[i]);
        }
        children.for_each(|child| depth[child as usize] = depth[i] + 1);
    }
    sum > n_leaves * DEEP as u64
}
