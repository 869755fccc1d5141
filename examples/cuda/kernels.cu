/*
 * Two tasks, each done in three ways that differ in how they use memory. kernels.ptx was made of this
 * file by tests/gpu/make_ptx; the build makes it anew where it finds nvcc.
 */
#define TILE 32

extern "C" {

/* ---- to[column][row] = from[row][column]; n is a multiple of 32 ---- */

/* Neighbouring threads write n floats apart: a sector of 32 bytes for each 4. */
__global__ void transpose_naive(float *to, const float *from, unsigned n)
{
    unsigned row = blockIdx.y * TILE + threadIdx.y;
    unsigned column = blockIdx.x * TILE + threadIdx.x;
    to[column * n + row] = from[row * n + column];
}

/* Whole lines in and out; the tile is read by columns, which are all in one bank. */
__global__ void transpose_shared(float *to, const float *from, unsigned n)
{
    __shared__ float tile[TILE][TILE];
    tile[threadIdx.y][threadIdx.x] =
        from[(blockIdx.y * TILE + threadIdx.y) * n + blockIdx.x * TILE + threadIdx.x];
    __syncthreads();
    to[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}

/* One word more in each row of the tile: a column is in 32 banks. */
__global__ void transpose_padded(float *to, const float *from, unsigned n)
{
    __shared__ float tile[TILE][TILE + 1];
    tile[threadIdx.y][threadIdx.x] =
        from[(blockIdx.y * TILE + threadIdx.y) * n + blockIdx.x * TILE + threadIdx.x];
    __syncthreads();
    to[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}

/* ---- a sum for each block of 256 threads ---- */

/* One element a thread, and a stride that doubles: more and more threads meet in one bank. */
__global__ void reduce_strided(float *sums, const float *from, unsigned n)
{
    __shared__ float words[256];
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    words[threadIdx.x] = i < n ? from[i] : 0.0f;
    __syncthreads();
    for (unsigned stride = 1; stride < 256; stride *= 2) {
        unsigned at = 2 * stride * threadIdx.x;
        if (at + stride < 256) {
            words[at] += words[at + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = words[0];
    }
}

/* The upper half on the lower half: no two threads meet. */
__global__ void reduce_halves(float *sums, const float *from, unsigned n)
{
    __shared__ float words[256];
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    words[threadIdx.x] = i < n ? from[i] : 0.0f;
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

/* Many elements a thread, four at once, then by registers; n is a multiple of 4. */
__global__ void reduce_wide(float *sums, const float *from, unsigned n)
{
    __shared__ float words[8];
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
        float4 v = ((const float4 *)from)[i];
        sum += v.x + v.y + (v.z + v.w);
    }
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        words[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned i = 1; i < 8; i++) {
            sum += words[i];
        }
        sums[blockIdx.x] = sum;
    }
}

} /* extern "C" */
