"""Meshes: areas, normals, bending, finite elements, barycentric coordinates, closest points."""

# mypy: ignore-errors

import numpy as np
import warp as wp

from tapecheck.hunt.trial import signed, trial, uniform

X = wp.array(dtype=wp.float64)
V = wp.array(dtype=wp.vec3d)
I2 = wp.array2d(dtype=wp.int32)
FACES = (np.array([[0, 1, 2], [2, 1, 3], [4, 5, 0], [3, 5, 4]], dtype=np.int32),)
CELLS = (np.array([[0, 1, 2, 3], [1, 2, 3, 4], [2, 5, 4, 0]], dtype=np.int32),)
POINTS = signed(6, 3)


@trial("areas of triangles", fixed=FACES, x=POINTS)
def areas(face: I2, x: V, y: X):
    t = wp.tid()
    a = x[face[t, 0]]
    y[t] = wp.length(wp.cross(x[face[t, 1]] - a, x[face[t, 2]] - a)) * wp.float64(0.5)


@trial("normals of vertices, added up in memory", output=(6,), dim=4, fixed=FACES, x=POINTS)
def vertex_normals(face: I2, x: V, y: V):
    t = wp.tid()
    a = x[face[t, 0]]
    n = wp.cross(x[face[t, 1]] - a, x[face[t, 2]] - a)
    for k in range(3):
        wp.atomic_add(y, face[t, k], wp.normalize(n))


@trial("the angle between two faces", fixed=CELLS, x=POINTS, output=(3,))
def dihedral(cell: I2, x: V, y: X):
    t = wp.tid()
    a = x[cell[t, 0]]
    b = x[cell[t, 1]]
    e = b - a
    n = wp.cross(e, x[cell[t, 2]] - a)
    m = wp.cross(x[cell[t, 3]] - a, e)
    y[t] = wp.atan2(wp.dot(wp.cross(n, m), wp.normalize(e)), wp.dot(n, m))


@trial("a neo-Hookean tetrahedron: energy", fixed=CELLS, x=POINTS, w=uniform(3, low=1.0, high=2.0), output=(3,))
def neo_hookean(cell: I2, x: V, w: X, y: X):
    t = wp.tid()
    a = x[cell[t, 0]]
    f = wp.matrix_from_cols(x[cell[t, 1]] - a, x[cell[t, 2]] - a, x[cell[t, 3]] - a)
    j = wp.determinant(f)
    y[t] = w[t] * (wp.ddot(f, f) - wp.float64(3.0)) + (j - w[t]) * (j - w[t])


@trial("a tetrahedron's forces scattered to its corners", output=(6,), dim=3, fixed=CELLS, x=POINTS)
def element_forces(cell: I2, x: V, y: V):
    t = wp.tid()
    a = x[cell[t, 0]]
    f = wp.matrix_from_cols(x[cell[t, 1]] - a, x[cell[t, 2]] - a, x[cell[t, 3]] - a)
    e = (wp.transpose(f) * f - wp.identity(n=3, dtype=wp.float64)) * wp.float64(0.5)
    s = f * (e * wp.float64(2.0) + wp.identity(n=3, dtype=wp.float64) * wp.trace(e))
    p = wp.vec3d(s[0, 0], s[1, 0], s[2, 0])
    q = wp.vec3d(s[0, 1], s[1, 1], s[2, 1])
    r = wp.vec3d(s[0, 2], s[1, 2], s[2, 2])
    wp.atomic_add(y, cell[t, 1], p)
    wp.atomic_add(y, cell[t, 2], q)
    wp.atomic_add(y, cell[t, 3], r)
    wp.atomic_sub(y, cell[t, 0], p + q + r)


@trial("a corotated energy with a rotation from the singular values", fixed=CELLS, x=POINTS, output=(3,))
def corotated(cell: I2, x: V, y: X):
    t = wp.tid()
    a = x[cell[t, 0]]
    f = wp.matrix_from_cols(x[cell[t, 1]] - a, x[cell[t, 2]] - a, x[cell[t, 3]] - a)
    u = wp.mat33d()
    s = wp.vec3d()
    v = wp.mat33d()
    wp.svd3(f, u, s, v)
    d = f - u * wp.transpose(v)
    y[t] = wp.ddot(d, d)


@trial("barycentric coordinates of a point in a triangle", fixed=FACES, x=POINTS, p=(4, 3))
def barycentric(face: I2, x: V, p: V, y: V):
    t = wp.tid()
    a = x[face[t, 0]]
    u = x[face[t, 1]] - a
    v = x[face[t, 2]] - a
    w = p[t] - a
    uu = wp.dot(u, u)
    uv = wp.dot(u, v)
    vv = wp.dot(v, v)
    d = uu * vv - uv * uv + wp.float64(0.1)
    b = (vv * wp.dot(w, u) - uv * wp.dot(w, v)) / d
    c = (uu * wp.dot(w, v) - uv * wp.dot(w, u)) / d
    y[t] = wp.vec3d(wp.float64(1.0) - b - c, b, c)


@trial("the closest point on an edge, clamped", fixed=FACES, x=POINTS, p=POINTS)
def closest_on_edge(face: I2, x: V, p: V, y: X):
    t = wp.tid()
    a = x[face[t, 0]]
    e = x[face[t, 1]] - a
    s = wp.clamp(wp.dot(p[t] - a, e) / wp.dot(e, e), wp.float64(0.0), wp.float64(1.0))
    y[t] = wp.length(p[t] - (a + e * s))


@trial("a signed distance to a box", p=uniform(6, 3, low=0.5, high=1.9), b=(6, 3), output=(6,))
def box_distance(p: V, b: V, y: X):
    t = wp.tid()
    q = wp.vec3d(wp.abs(p[t][0]) - b[t][0], wp.abs(p[t][1]) - b[t][1], wp.abs(p[t][2]) - b[t][2])
    zero = wp.float64(0.0)
    out = wp.vec3d(wp.max(q[0], zero), wp.max(q[1], zero), wp.max(q[2], zero))
    far = wp.float64(0.0)
    if wp.dot(out, out) > zero:
        far = wp.length(out)
    y[t] = far + wp.min(wp.max(q[0], wp.max(q[1], q[2])), zero)


@trial("a smooth union of spheres", p=POINTS, c=POINTS, output=(6,))
def smooth_union(p: V, c: V, y: X):
    t = wp.tid()
    a = wp.length(p[t] - c[0]) - wp.float64(0.5)
    b = wp.length(p[t] - c[1]) - wp.float64(0.8)
    k = wp.float64(1.5)
    h = wp.clamp(wp.float64(0.5) + wp.float64(0.5) * (b - a) / k, wp.float64(0.0), wp.float64(1.0))
    y[t] = wp.lerp(b, a, h) - k * h * (wp.float64(1.0) - h)


@trial("the cotangent Laplacian, scattered by edges of a face", output=(6,), dim=4, fixed=FACES, x=POINTS, s=(6,))
def cotangent_laplacian(face: I2, x: V, s: X, y: X):
    t = wp.tid()
    for k in range(3):
        i = face[t, k]
        j = face[t, (k + 1) % 3]
        o = face[t, (k + 2) % 3]
        u = x[i] - x[o]
        v = x[j] - x[o]
        w = wp.dot(u, v) / wp.length(wp.cross(u, v))
        wp.atomic_add(y, i, w * (s[j] - s[i]))
        wp.atomic_add(y, j, w * (s[i] - s[j]))
