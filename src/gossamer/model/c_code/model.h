/* A model of gradient boosted trees, written by Gossamer: the same bits as its own predictions.
 *
 * A row is MODEL_n_columns numbers in the order of MODEL_column_name(0), MODEL_column_name(1), ...; NAN is a
 * missing value, text and categories are codes. Functions of rows take `stride` numbers from one row to the next.
 * Nothing is allocated and nothing changes: all functions may be called by many threads at once. They use about
 * MODEL_stack_bytes of stack.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#if defined(_WIN32) && defined(MODEL_SHARED)
#define MODEL_API __declspec(dllexport)
#else
#define MODEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MODEL_n_columns = @N_COLUMNS@,
  MODEL_n_outputs = @N_OUTPUTS@,         /* raw scores of a row */
  MODEL_n_predictions = @N_PREDICTIONS@, /* numbers that are predicted of a row */
  MODEL_stack_bytes = @STACK_BYTES@
};

/* Raw scores: out has MODEL_n_outputs numbers for each row. */
MODEL_API void MODEL_predict_raw(const double* row, double* out);
MODEL_API void MODEL_predict_raw_rows(const double* rows, int64_t n_rows, int64_t stride, double* out);
MODEL_API void MODEL_predict_raw_rows_f32(const float* rows, int64_t n_rows, int64_t stride, double* out);
@LINK_DECLARATIONS@
/* The name of a column in UTF-8; NULL: there is none of this number. */
MODEL_API const char* MODEL_column_name(int64_t column);

#ifdef __cplusplus
}
#endif

#endif
