/* A call of the body: a config, and which run and pass of it. */
#ifndef KS_PLAN_CALL_H
#define KS_PLAN_CALL_H

#include "base/buf.h"
#include "base/fault.h"
#include "kernsight/run.h"
#include "plan/plan.h"

struct ks_call {
    const ks_plan *plan;
    size_t config;
    uint32_t run;
    uint32_t pass;
    bool warmup;
    ks_fault *fault; /**< parameters that were asked for in vain */
};

/** A value as people read it: "64", "0.5", "True", "fast"; "" for a missing one. */
void ks_value_text(const ks_value *value, ks_buf *to);

#endif
