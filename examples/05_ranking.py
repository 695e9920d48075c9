"""Learning to rank: which results of a search should come first.

Made-up searches: each query has results with three properties, and a relevance from 0 to 3.
"""

import numpy as np

import gossamer as gs

# %% Data
rng = np.random.default_rng(0)
n_queries = 400
sizes = rng.integers(5, 30, n_queries)  # results of each query
query = np.repeat(np.arange(n_queries), sizes)
match, age, price = rng.random((3, len(query)))
taste = rng.normal(size=n_queries)[query]  # of the query: the same for all its results
merit = 3 * match - age + 0.3 * rng.normal(size=len(query))
relevance = np.digitize(merit, [0.5, 1.5, 2.3])
x = np.column_stack([match, age, price, taste])

# %% Train
# Whole queries are held out: the first 300 train, the others tell how good the order is.
first = query < 300
train_set = gs.Dataset(x[first], relevance[first], query=query[first])
valid_set = train_set.create_valid(x[~first], relevance[~first], query=query[~first])
model = gs.train(
    {"objective": "lambdarank", "metric": ["ndcg@5", "map@5"], "learning_rate": 0.05},
    train_set,
    num_boost_round=300,
    valid_sets=[valid_set],
    callbacks=[gs.early_stopping(30, first_metric_only=True, verbose=False)],
)
scores = model.best_score["valid_0"]
print(f"NDCG@5 {scores['ndcg@5']:.3f}, MAP@5 {scores['map@5']:.3f}, {model.best_iteration} rounds")

# %% One query
# Scores of one query, best first: only their order means something.
mine = query == 399
order = np.argsort(-model.predict(x[mine]))
print("relevance in the order of the model:", *relevance[mine][order])

# %% The estimator
# The same through the estimator, with the number of rows of each query.
ranker = gs.GossamerRanker(n_estimators=50).fit(x[first], relevance[first], group=sizes[:300])
best = np.argmax(ranker.predict(x[mine]))
print("relevance of the result that the ranker puts first:", relevance[mine][best])
