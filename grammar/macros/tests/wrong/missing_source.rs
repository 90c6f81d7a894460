//! A kernel whose source is not there.

fn main() {
    let _ = peak_macros::kernel!(
        r#"
        kernel copy "B = A"
          computes B[i] = A[i]
          element f32
          input n: int in 1024
          input A: array[n] of f32, random normal
          output B: array[n] of f32
          device code for cuda from "kernels/copy.cu"
          host code
            launch copy
              grid 4
              block 256
              arguments A, B, n
        "#
    );
}
