#!/usr/bin/env bash
# A whole session on the command line: from a CSV file to predictions, a report and an exported model.
#
#     examples/cli/session.sh            needs `ermine` on the PATH, or its path in ERMINE
#
# Files are written to the folder given as the argument, or to a temporary folder.
set -euo pipefail
ermine=${ERMINE:-ermine}
data=$(cd "$(dirname "$0")/../data" && pwd)
out=${1:-$(mktemp -d)}
cd "$out"

step() { printf '\n=== %s\n' "$1"; }

step "Split the data: every fifth row is kept for the test"
awk 'NR == 1 || NR % 5 != 0' "$data/penguins.csv" > train.csv
awk 'NR == 1 || NR % 5 == 0' "$data/penguins.csv" > test.csv
wc -l train.csv test.csv

step "Which learner? Compare a few by cross-validation, without tuning"
"$ermine" compare train.csv --target species --learners baseline,decision-tree,logistic-regression,random-forest --trials 0

step "What parameters does it have?"
"$ermine" learners logistic-regression

step "Tune one of them and keep the best model"
"$ermine" tune train.csv --target species --learner random-forest --trials 8 -o tuned.ermine

step "Train another, with its default parameters"
"$ermine" train train.csv --target species --learner decision-tree --max-depth 3 -o tree.ermine

step "Look at the model: columns, parameters, certificate and the tree"
"$ermine" show tree.ermine
"$ermine" show tree.ermine --svg tree.svg

step "Evaluate both on the test rows"
"$ermine" evaluate tuned.ermine test.csv
"$ermine" evaluate tree.ermine test.csv

step "Predict, with probabilities"
"$ermine" predict tree.ermine test.csv --proba -o predictions.csv
head -n 4 predictions.csv

step "Why did the first row get its prediction?"
"$ermine" show tree.ermine --explain test.csv --row 1

step "Write a report and a C source file without dependencies"
"$ermine" report tree.ermine test.csv --train train.csv -o report.html
"$ermine" export tree.ermine --format c -o tree.c

step "Written to $out"
ls
