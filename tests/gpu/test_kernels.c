/* The kernels compute what they say: without kernsight, so that a wrong count is not their fault.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "tap.h"

enum {
    SIDE = 256,
    N = SIDE * SIDE
};

static float first[N], second[N];

/* a of gt_floats(): small whole numbers, so that sums are exact in any order. */
static float input(size_t i)
{
    return (float)((int)(i % 7) - 3);
}

static void products_are_equal(void)
{
    gt_ptr a = gt_floats(N);
    gt_ptr b = gt_floats(N);
    gt_ptr c = gt_alloc(sizeof first);
    float sum = 0.0f;
    for (size_t k = 0; k < SIDE; k++) {
        sum += input(5 * SIDE + k) * input(k * SIDE + 9);
    }
    gt_matmul_naive(c, a, b, SIDE);
    gt_copy_out(first, c, sizeof first);
    TAP_EXACT(first[5 * SIDE + 9], sum);
    gt_matmul_tiled(c, a, b, SIDE);
    gt_copy_out(second, c, sizeof second);
    TAP_CHECK(memcmp(first, second, sizeof first) == 0, "tiled differs");
    memset(second, 0, sizeof second);
    gt_copy_in(c, second, sizeof second);
    gt_matmul_fast(c, a, b, SIDE);
    gt_copy_out(second, c, sizeof second);
    TAP_CHECK(memcmp(first, second, sizeof first) == 0, "fast differs");
    gt_free(a);
    gt_free(b);
    gt_free(c);
}

static void transposes_are_equal(void)
{
    static const char *const ways[] = {"transpose_naive", "transpose_shared", "transpose_padded"};
    gt_ptr from = gt_floats(N);
    gt_ptr to = gt_alloc(sizeof first);
    for (size_t w = 0; w < 3; w++) {
        memset(first, 0, sizeof first);
        gt_copy_in(to, first, sizeof first);
        gt_transpose(ways[w], to, from, SIDE);
        gt_copy_out(first, to, sizeof first);
        size_t wrong = 0;
        for (size_t i = 0; i < N; i++) {
            wrong += first[i] != input(i % SIDE * SIDE + i / SIDE);
        }
        TAP_CHECK(wrong == 0, "%s: %zu elements are wrong", ways[w], wrong);
    }
    gt_free(from);
    gt_free(to);
}

static void sums_and_copies_are_right(void)
{
    gt_ptr a = gt_floats(N);
    gt_ptr c = gt_alloc(sizeof first);
    float all = 0.0f;
    for (size_t i = 0; i < N; i++) {
        all += input(i);
    }
    gt_reduce(c, a, 8, N);
    gt_copy_out(first, c, 8 * sizeof first[0]);
    float sum = 0.0f;
    for (size_t i = 0; i < 8; i++) {
        sum += first[i];
    }
    TAP_EXACT(sum, all);
    gt_vadd(c, a, a, N);
    gt_copy_out(first, c, sizeof first);
    TAP_EXACT(first[12345], 2.0f * input(12345));
    gt_copy(c, a, sizeof first);
    gt_copy_out(first, c, sizeof first);
    TAP_EXACT(first[N - 1], input(N - 1));
    gt_fma_chain(c, 1, 32, 2); /* (x / 2 + 1) / 2 + 1 */
    gt_copy_out(first, c, 32 * sizeof first[0]);
    TAP_EXACT(first[4], 2.5f);
    gt_shared_loads(c, 1, 32, 10);
    gt_copy_out(first, c, 32 * sizeof first[0]);
    TAP_EXACT(first[3], 30.0f);
    gt_free(a);
    gt_free(c);
}

static void a_spin_takes_as_many_cycles_as_it_was_told(void)
{
    gt_ptr out = gt_alloc(32 * sizeof(int64_t));
    int64_t cycles[32] = {0};
    gt_spin(out, 100000);
    gt_copy_out(cycles, out, sizeof cycles);
    TAP_CHECK(cycles[0] >= 100000 && cycles[0] < 101000, "%lld cycles", (long long)cycles[0]);
    gt_free(out);
}

int main(void)
{
    static const tap_test tests[] = {
        {"products are equal", products_are_equal},
        {"transposes are equal", transposes_are_equal},
        {"sums and copies are right", sums_and_copies_are_right},
        {"a spin takes as many cycles as it was told", a_spin_takes_as_many_cycles_as_it_was_told},
    };
    const char *why = gt_open(GT_PTX);
    if (why == NULL) {
        tap_note("%s, %d multiprocessors, %d bytes of L2", gt_name(), gt_multiprocessors(),
                 gt_l2_bytes());
    }
    return why != NULL ? tap_skip_all(why) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
