"""Labels, weights, queries and initial scores: found in tables, and checked."""
