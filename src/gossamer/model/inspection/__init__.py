"""What a model shows of itself: importance, Shapley values, partial dependence, its trees."""
