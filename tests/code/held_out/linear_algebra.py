import numpy as np
import tensorflow as tf
from tensorflow import linalg as la, math as m
from tensorflow.python.framework import ops as framework_ops
from tensorflow.python.ops import array_ops


def power_iteration(matrix, steps):
    vector = tf.random.uniform((matrix.shape[0], 1), seed=2)
    for _ in range(steps):
        vector = la.matmul(matrix, vector)
        vector = vector / la.norm(vector)
    return tf.squeeze(la.matmul(vector, matrix @ vector, transpose_a=True)), vector


def conjugate_gradient(A, b, tol=1e-6):
    x = tf.zeros_like(b)
    r = b - la.matvec(A, x)
    p, rs = r, tf.tensordot(r, r, 1)
    for _ in range(b.shape[0]):
        Ap = la.matvec(A, p)
        alpha = rs / tf.reduce_sum(p * Ap)
        x, r = x + alpha * p, r - alpha * Ap
        new = tf.reduce_sum(m.square(r))
        if m.sqrt(new) < tol:
            break
        p, rs = r + (new / rs) * p, new
    return x


A = tf.constant([[4.0, 1.0], [1.0, 3.0]])
value, vector = power_iteration(A, 3)
print(value.numpy(), vector.numpy().ravel())
print(conjugate_gradient(A, tf.constant([1.0, 2.0])).numpy(), la.solve(A, tf.constant([[1.0], [2.0]])).numpy())
eigenvalues, eigenvectors = la.eigh(A)
q, r = tf.linalg.qr(A)
print(eigenvalues.numpy(), eigenvectors.shape, (q @ r).numpy(), la.det(A).numpy(), la.inv(A)[0, 0].numpy())
L = la.cholesky(A)
print(tf.reduce_all(tf.abs(la.matmul(L, L, transpose_b=True) - A) < 1e-5).numpy(), la.trace(A), la.diag_part(A).numpy())
t = framework_ops.convert_to_tensor([1.0, 2.0])
print(array_ops.expand_dims(t, 0).shape, tf.signal.rfft(t).numpy(), m.cumprod(t).numpy())
fn = tf.vectorized_map(lambda row: m.reduce_max(row), A)
scan = tf.scan(lambda acc, v: acc + v, t)
mapped = tf.map_fn(lambda v: v * 2, t)
print(fn.numpy(), scan.numpy(), mapped.numpy(), tf.foldl(lambda a, v: a + v, t).numpy())
result = tf.while_loop(lambda i: i < 3, lambda i: [tf.add(i, 1)], [tf.constant(0)])
print(result[0].numpy(), tf.cond(value > 0, lambda: tf.constant("pos"), lambda: tf.constant("neg")).numpy())
print(np.linalg.norm(A.numpy()), tf.bitwise.bitwise_and(3, 5).numpy(), tf.histogram_fixed_width([1.0, 2.0], [0.0, 3.0], 3).numpy())
