// Small systems of linear equations whose matrix has a unit diagonal: correlations of the columns of a leaf.
#pragma once

#include <cstddef>
#include <vector>

namespace gossamer {

// Cholesky's factor of a symmetric matrix with a unit diagonal plus a ridge. Unknowns that are explained by earlier
// ones are left out.
class Factor {
 public:
  Factor() = default;
  // The matrix row by row; its lower triangle is read.
  Factor(std::vector<double> matrix, std::size_t n, double ridge);

  // Replaces x by the solution of (matrix + ridge) y = x.
  void solve(double* x) const;

 private:
  // Replaces x by the solution of L y = x; 0 for unknowns that are left out.
  void solve_lower(double* x) const;
  double& cell(std::size_t i, std::size_t j) { return lower_[i * n_ + j]; }
  double cell(std::size_t i, std::size_t j) const { return lower_[i * n_ + j]; }

  std::size_t n_ = 0;
  std::vector<double> lower_;
  std::vector<char> kept_;
};

// Chooses unknowns one by one, first the one that lowers the loss most, while one lowers it by more than `least`
// (twice the loss). Returns them in increasing order. The whole matrix is read.
std::vector<std::size_t> choose_terms(std::vector<double> matrix, std::vector<double> right, double ridge,
                                      double least);

}  // namespace gossamer
