/*
 * The kernels that tests/gpu and bench/gpu measure. What each does is known by hand: so many bytes,
 * instructions, launches. kernels.ptx is made of this file by make_ptx, and committed, so that no
 * CUDA toolkit is needed to build or run the tests.
 *
 * All are extern "C": their names are what profilers show.
 */
#define TILE 32

extern "C" {

/* Nothing: 1 launch. */
__global__ void nothing(void)
{
}

/* 16 n bytes read, 16 n written; grid x block = n. */
__global__ void copy16(float4 *to, const float4 *from, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = from[i];
    }
}

/* 8 n bytes read, 4 n written. */
__global__ void vadd(float *c, const float *a, const float *b, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

/* Reads 16 n bytes past the L1 cache, and does nothing else: `from` is all zeros. */
__global__ void sweep(float *sink, const float4 *from, unsigned n)
{
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = __ldcg(from + i);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum != 0.0f) {
        *sink = sum;
    }
}

/* n FFMA in each thread, each waiting for the one before. */
__global__ void fma_chain(float *out, float a, float b, unsigned n)
{
    float x = (float)threadIdx.x;
    for (unsigned i = 0; i < n; i++) {
        x = __fmaf_rn(x, a, b);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/* n loads from shared memory in each warp. */
__global__ void shared_loads(float *out, unsigned n)
{
    __shared__ float words[1024];
    words[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    volatile float *from = words;
    float sum = 0.0f;
    for (unsigned i = 0; i < n; i++) {
        sum += from[threadIdx.x];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Busy for that many cycles of its multiprocessor. */
__global__ void spin(long long *out, long long cycles)
{
    long long start = clock64();
    long long now = start;
    while (now - start < cycles) {
        now = clock64();
    }
    out[threadIdx.x] = now - start;
}

/* n^3 FFMA, a thread for each element of c. */
__global__ void matmul_naive(float *c, const float *a, const float *b, unsigned n)
{
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; k++) {
        sum = __fmaf_rn(a[row * n + k], b[k * n + column], sum);
    }
    c[row * n + column] = sum;
}

/* n^3 FFMA; tiles of 32 x 32 in shared memory; n is a multiple of 32. */
__global__ void matmul_tiled(float *c, const float *a, const float *b, unsigned n)
{
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    unsigned row = blockIdx.y * TILE + threadIdx.y;
    unsigned column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (unsigned t = 0; t < n; t += TILE) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (unsigned k = 0; k < TILE; k++) {
            sum = __fmaf_rn(as[threadIdx.y][k], bs[k][threadIdx.x], sum);
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

/* n^3 FFMA, 8 x 8 elements of c a thread, tiles of 128 x 128; 256 threads; n a multiple of 128. */
__global__ void __launch_bounds__(256) matmul_fast(float *c, const float *a, const float *b, unsigned n)
{
    __shared__ float as[8][128];
    __shared__ float bs[8][128];
    unsigned tx = threadIdx.x % 16;
    unsigned ty = threadIdx.x / 16;
    const float *from_a = a + (blockIdx.y * 128 + threadIdx.x / 2) * n + threadIdx.x % 2 * 4;
    const float *from_b = b + (threadIdx.x / 32) * n + blockIdx.x * 128 + threadIdx.x % 32 * 4;
    float sum[8][8] = {{0.0f}};
    for (unsigned t = 0; t < n; t += 8) {
        float4 va = *(const float4 *)(from_a + t);
        float4 vb = *(const float4 *)(from_b + t * n);
        unsigned k4 = threadIdx.x % 2 * 4;
        as[k4][threadIdx.x / 2] = va.x;
        as[k4 + 1][threadIdx.x / 2] = va.y;
        as[k4 + 2][threadIdx.x / 2] = va.z;
        as[k4 + 3][threadIdx.x / 2] = va.w;
        *(float4 *)&bs[threadIdx.x / 32][threadIdx.x % 32 * 4] = vb;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < 8; k++) {
            float4 a0 = *(float4 *)&as[k][ty * 4];
            float4 a1 = *(float4 *)&as[k][64 + ty * 4];
            float4 b0 = *(float4 *)&bs[k][tx * 4];
            float4 b1 = *(float4 *)&bs[k][64 + tx * 4];
            float ra[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            float rb[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
            for (unsigned i = 0; i < 8; i++) {
#pragma unroll
                for (unsigned j = 0; j < 8; j++) {
                    sum[i][j] = __fmaf_rn(ra[i], rb[j], sum[i][j]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        unsigned row = blockIdx.y * 128 + i / 4 * 64 + ty * 4 + i % 4;
#pragma unroll
        for (unsigned j = 0; j < 8; j += 4) {
            unsigned column = blockIdx.x * 128 + j / 4 * 64 + tx * 4;
            *(float4 *)&c[row * n + column] =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        }
    }
}

/* One sum for each block of 256 threads. */
__global__ void reduce(float *sums, const float *from, unsigned n)
{
    __shared__ float words[256];
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        sum += from[i];
    }
    words[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            words[threadIdx.x] += words[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = words[0];
    }
}

/* Writes stride through memory. n is a multiple of 32, here and below. */
__global__ void transpose_naive(float *to, const float *from, unsigned n)
{
    unsigned row = blockIdx.y * TILE + threadIdx.y;
    unsigned column = blockIdx.x * TILE + threadIdx.x;
    to[column * n + row] = from[row * n + column];
}

/* Reads of the tile's columns hit one bank of shared memory. */
__global__ void transpose_shared(float *to, const float *from, unsigned n)
{
    __shared__ float tile[TILE][TILE];
    tile[threadIdx.y][threadIdx.x] =
        from[(blockIdx.y * TILE + threadIdx.y) * n + blockIdx.x * TILE + threadIdx.x];
    __syncthreads();
    to[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}

/* No conflicts: each row of the tile is one word longer. */
__global__ void transpose_padded(float *to, const float *from, unsigned n)
{
    __shared__ float tile[TILE][TILE + 1];
    tile[threadIdx.y][threadIdx.x] =
        from[(blockIdx.y * TILE + threadIdx.y) * n + blockIdx.x * TILE + threadIdx.x];
    __syncthreads();
    to[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}

} /* extern "C" */
