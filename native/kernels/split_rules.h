// The rules that splits and leaf values follow. No includes: split_math.inl is compiled without a standard library.
#pragma once

namespace gossamer {

// What makes a split admissible and how its gain is computed (LightGBM's meaning of each name).
struct SplitRules {
  double lambda_l1 = 0.0;
  double lambda_l2 = 0.0;
  double min_gain_to_split = 0.0;
  double min_sum_hessian = 1e-3;
  double min_data = 20.0;
  double max_delta_step = 0.0;
  double path_smooth = 0.0;
  // Of categories.
  double cat_l2 = 10.0;
  double cat_smooth = 10.0;
  double min_data_per_group = 100.0;
  int max_cat_threshold = 32;
  int max_cat_to_onehot = 4;
  // Whether lambda_l1 counts in the gain, not only in the leaf value. Plain rules have no lambda_l1.
  bool l1_in_gain = true;

  // The plain gain needs no leaf value; the others are evaluated at the constrained leaf value.
  bool plain() const { return lambda_l1 == 0.0 && max_delta_step <= 0.0 && path_smooth <= 0.0; }
};

}  // namespace gossamer
