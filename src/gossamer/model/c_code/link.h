/* Predictions@NOTE@: out has MODEL_n_predictions numbers for each row. */
MODEL_API void MODEL_predict(const double* row, double* out);
MODEL_API void MODEL_predict_rows(const double* rows, int64_t n_rows, int64_t stride, double* out);
MODEL_API void MODEL_predict_rows_f32(const float* rows, int64_t n_rows, int64_t stride, double* out);
