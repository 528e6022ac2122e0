"""Small matrices: products, inverses, determinants, decompositions, solvers by hand."""

# ruff: noqa: B007
# mypy: ignore-errors

import numpy as np
import warp as wp

from tapecheck.hunt.trial import trial

X = wp.array(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
M = wp.array(dtype=wp.mat33d)
M2 = wp.array(dtype=wp.mat22d)
M4 = wp.array(dtype=wp.mat44d)


def regular(*shape: int):
    """Matrices far from singular, without symmetries."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        n = shape[-1]
        return rng.uniform(-0.5, 0.5, shape) + np.diag(1.5 + 0.7 * np.arange(n))

    return draw


@trial("inverse of 2×2", x=regular(4, 2, 2))
def inverse_2(x: M2, y: M2):
    i = wp.tid()
    y[i] = wp.inverse(x[i]) * x[3 - i]


@trial("inverse of 3×3", x=regular(4, 3, 3))
def inverse_3(x: M, y: M):
    i = wp.tid()
    y[i] = wp.inverse(x[i]) * x[3 - i]


@trial("inverse of 4×4", x=regular(4, 4, 4))
def inverse_4(x: M4, y: M4):
    i = wp.tid()
    y[i] = wp.inverse(x[i]) * x[3 - i]


@trial("determinants of 3×3", x=regular(4, 3, 3))
def determinant_3(x: M, y: X):
    i = wp.tid()
    d = wp.determinant(x[i])
    y[i] = d * wp.log(d)


@trial("determinants of 4×4", x=regular(4, 4, 4))
def determinant_4(x: M4, y: X):
    i = wp.tid()
    y[i] = wp.determinant(x[i])


@trial("trace, transpose, double dot, skew, outer", x=regular(4, 3, 3), w=(4, 3))
def matrix_parts(x: M, w: V, y: M):
    i = wp.tid()
    a = x[i] + wp.transpose(x[i])
    y[i] = a * wp.trace(x[i]) + wp.outer(w[i], w[3 - i]) * wp.ddot(a, x[3 - i]) + wp.skew(w[i]) * wp.diag(w[i])


@trial("a row vector times a matrix, rows and elements", x=regular(4, 3, 3), w=(4, 3))
def vector_times_matrix(x: M, w: V, y: V):
    i = wp.tid()
    y[i] = w[i] * x[i] + x[i][1] * x[i][0, 2] + wp.get_diag(x[i])


@trial("a matrix from columns and from rows", x=(4, 3), w=(4, 3))
def matrix_from_vectors(x: V, w: V, y: V):
    i = wp.tid()
    a = wp.matrix_from_cols(x[i], w[i], wp.cross(x[i], w[i]))
    b = wp.matrix_from_rows(w[i], x[3 - i], x[i])
    y[i] = (a * b) * w[3 - i]


@trial("singular values", x=regular(4, 3, 3))
def singular_values(x: M, y: V):
    i = wp.tid()
    u = wp.mat33d()
    s = wp.vec3d()
    v = wp.mat33d()
    wp.svd3(x[i], u, s, v)
    y[i] = s


@trial("the rotation of a polar decomposition", x=regular(4, 3, 3))
def polar_rotation(x: M, y: M):
    i = wp.tid()
    u = wp.mat33d()
    s = wp.vec3d()
    v = wp.mat33d()
    wp.svd3(x[i], u, s, v)
    y[i] = u * wp.transpose(v)


@trial("singular values of 2×2", x=regular(4, 2, 2))
def singular_values_2(x: M2, y: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    u = wp.mat22d()
    s = wp.vec2d()
    v = wp.mat22d()
    wp.svd2(x[i], u, s, v)
    y[i] = s


@trial("QR: the triangular factor", x=regular(4, 3, 3))
def triangular_factor(x: M, y: M):
    i = wp.tid()
    q = wp.mat33d()
    r = wp.mat33d()
    wp.qr3(x[i], q, r)
    y[i] = r


@trial("eigenvalues of a symmetric matrix", x=regular(4, 3, 3))
def eigenvalues(x: M, y: V):
    i = wp.tid()
    q = wp.mat33d()
    d = wp.vec3d()
    wp.eig3(x[i] + wp.transpose(x[i]), q, d)
    y[i] = d


@trial("Cholesky by hand in unrolled loops, in a local matrix", x=regular(4, 3, 3), w=(4, 3))
def cholesky_local(x: M, w: V, y: X):
    i = wp.tid()
    a = x[i] * wp.transpose(x[i])
    m = wp.mat33d()
    for j in range(3):
        s = a[j, j]
        for k in range(j):
            s -= m[j, k] * m[j, k]
        m[j, j] = wp.sqrt(s)
        for r in range(j + 1, 3):
            t = a[r, j]
            for k in range(j):
                t -= m[r, k] * m[j, k]
            m[r, j] = t / m[j, j]
    y[i] = wp.dot(m * w[i], w[i])


@trial("Gauss elimination in place, in a local matrix", x=regular(4, 3, 3), w=(4, 3))
def elimination_local(x: M, w: V, y: X):
    i = wp.tid()
    a = x[i]
    b = w[i]
    for j in range(3):
        for r in range(j + 1, 3):
            f = a[r, j] / a[j, j]
            for k in range(3):
                a[r, k] -= f * a[j, k]
            b[r] -= f * b[j]
    y[i] = b[2] / a[2, 2]


@trial("a power iteration in an unrolled loop", x=regular(4, 3, 3), w=(4, 3))
def power_iteration(x: M, w: V, y: X):
    i = wp.tid()
    v = wp.normalize(w[i])
    for k in range(4):
        v = wp.normalize(x[i] * v)
    y[i] = wp.dot(v, x[i] * v)


@trial("conjugate gradients, three unrolled steps", x=regular(4, 3, 3), w=(4, 3))
def conjugate_gradients(x: M, w: V, y: V):
    i = wp.tid()
    a = x[i] * wp.transpose(x[i])
    s = wp.vec3d()
    r = w[i]
    p = r
    rr = wp.dot(r, r)
    for k in range(2):
        ap = a * p
        alpha = rr / wp.dot(p, ap)
        s = s + alpha * p
        r = r - alpha * ap
        new = wp.dot(r, r)
        p = r + (new / rr) * p
        rr = new
    y[i] = s


@trial("a matrix scaled and shifted in place", x=regular(4, 3, 3))
def matrix_in_place(x: M, y: M):
    i = wp.tid()
    m = x[i]
    m *= m[0, 0]
    m += wp.identity(n=3, dtype=wp.float64) * x[i][1, 1]
    m -= wp.transpose(x[i])
    m /= x[i][2, 2]
    y[i] = m * m


@trial("a matrix multiplied by itself in place with `@`", x=regular(4, 3, 3))
def matrix_power(x: M, y: M):
    i = wp.tid()
    m = x[i]
    m = m @ m
    m = m @ x[i]
    y[i] = m
