"""The estimators among scikit-learn's tools: grid search, pipelines, missing values, class names.

Needs scikit-learn: pip install "gossamer[sklearn]"
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from gossamer import GossamerClassifier

# %% Data
data = load_wine()
x, y = data.data, data.target_names[data.target]  # classes may be strings
x[::10, 0] = np.nan  # NaN is a missing value
x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=0, stratify=y)

# %% Cross-validation
# 133 rows are few: small leaves, and few of them.
model = GossamerClassifier(n_estimators=50, num_leaves=7, min_child_samples=5)
scores = cross_val_score(model, x_train, y_train, cv=3)
print(f"accuracy in cross-validation: {scores.mean():.3f}")

# %% Grid search
search = GridSearchCV(
    model,
    {"num_leaves": [3, 7], "min_child_samples": [2, 5, 10], "colsample_bynode": [0.5, 1.0]},
    scoring="neg_log_loss",
    cv=3,
    n_jobs=2,
)
search.fit(x_train, y_train)
print(f"best parameters: {search.best_params_}")
print(f"accuracy on new rows: {search.best_estimator_.score(x_test, y_test):.3f}")

# %% Probabilities
print("\nthree wines:")
best = search.best_estimator_
for row, true in zip(best.predict_proba(x_test[:3]), y_test, strict=False):
    shown = ", ".join(f"{name} {p:.2f}" for name, p in zip(best.classes_, row, strict=True))
    print(f"  {shown}   (truly {true})")
