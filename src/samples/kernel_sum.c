#include "samples/kernel_sum.h"

/* A fact in which launches differ is not known, whatever comes after. */
enum {
    DIFFERS = -2
};

static int64_t agreed(int64_t a, int64_t b)
{
    if (a == b || b == -1) {
        return a;
    }
    return a == -1 ? b : DIFFERS;
}

/* Facts in which both agree; of what one of them does not know, what the other one does. */
static void agree(ks_kernel_facts *facts, const ks_kernel_facts *others)
{
    if (!others->known) {
        return;
    }
    if (!facts->known) {
        *facts = *others;
        return;
    }
    facts->registers = (int32_t)agreed(facts->registers, others->registers);
    facts->shared_bytes = agreed(facts->shared_bytes, others->shared_bytes);
    facts->local_bytes = agreed(facts->local_bytes, others->local_bytes);
    if (facts->occupancy == -1.0) {
        facts->occupancy = others->occupancy;
    } else if (others->occupancy != -1.0 && facts->occupancy != others->occupancy) {
        facts->occupancy = DIFFERS;
    }
}

void ks_kernel_facts_fill(ks_kernel_facts *facts, const ks_kernel_facts *others)
{
    if (!facts->known || !others->known) {
        *facts = facts->known ? *facts : *others;
        return;
    }
    facts->registers = facts->registers < 0 ? others->registers : facts->registers;
    facts->shared_bytes = facts->shared_bytes < 0 ? others->shared_bytes : facts->shared_bytes;
    facts->local_bytes = facts->local_bytes < 0 ? others->local_bytes : facts->local_bytes;
    facts->occupancy = facts->occupancy < 0.0 ? others->occupancy : facts->occupancy;
}

void ks_kernel_sum_launch(ks_kernel_sum *sum, double ns, const ks_kernel_facts *facts)
{
    bool timed = ns > 0.0;
    const ks_kernel_sum one = {.launches = 1,
                               .timed = timed,
                               .ns = timed ? ns : 0.0,
                               .least_ns = ns,
                               .most_ns = ns,
                               .facts = *facts};
    ks_kernel_sum_add(sum, &one);
}

void ks_kernel_sum_add(ks_kernel_sum *sum, const ks_kernel_sum *others)
{
    if (others->timed > 0) {
        bool first = sum->timed == 0;
        sum->least_ns =
            first || others->least_ns < sum->least_ns ? others->least_ns : sum->least_ns;
        sum->most_ns = first || others->most_ns > sum->most_ns ? others->most_ns : sum->most_ns;
    }
    sum->launches += others->launches;
    sum->timed += others->timed;
    sum->ns += others->ns;
    agree(&sum->facts, &others->facts);
}
