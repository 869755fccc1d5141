#include "collect/nvidia/nothing.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/demangle.h"
#include "base/error.h"
#include "base/str.h"

void ks_nothing_fini(ks_nothing *nothing)
{
    ks_free(nothing->did);
    nothing->did = NULL;
    nothing->count = nothing->capacity = 0;
}

void ks_nothing_start(ks_nothing *nothing)
{
    nothing->outside = 0;
    if (nothing->count > 0) {
        memset(nothing->did, 0, nothing->count);
    }
}

ks_status ks_nothing_note(ks_nothing *nothing, const ks_annotation *annotation, ks_instead what,
                          ks_error *err)
{
    for (const ks_annotation *a = annotation; a != NULL; a = a->parent) {
        size_t need = (size_t)a->id + 1;
        KS_TRY(KS_GROW(nothing->did, nothing->capacity, need, err));
        for (; nothing->count < need; nothing->count++) {
            nothing->did[nothing->count] = 0;
        }
        nothing->did[a->id] |= (uint8_t)what;
    }
    return KS_OK;
}

/* ---- reasons ----------------------------------------------------------------------------------
 */

static const char *reason_of(unsigned did, bool sees_copies)
{
    return (did & KS_DID_IGNORED) != 0 ? "the plan leaves out all kernels that were launched in it "
                                         "(ks_plan_ignore_kernel())"
           : (did & KS_DID_CAPTURE) != 0
               ? "no kernel was launched in it: its launches went into a CUDA graph that was being "
                 "captured; annotate where the graph is launched"
           : (did & KS_DID_COPY) != 0
               ? "no kernel was launched in it, only copies or memsets, which are not measured"
           : sees_copies
               ? "no kernel was launched in it, nor a copy or memset (what other processes "
                 "do is not seen)"
               : "no kernel was launched in it (copies and memsets are none)";
}

/* Launches outside annotations in the first run that has some; of one kernel, or (0) of all. */
static uint64_t count_outside(const ks_ledger *ledger, ks_text_id kernel)
{
    uint64_t count = 0;
    const ks_launch *first = NULL;
    for (size_t i = 0; i < ledger->count; i++) {
        const ks_launch *l = &ledger->launches[i];
        if (l->pass != ledger->first_pass || l->annotation != KS_NO_ANNOTATION) {
            continue;
        }
        first = first != NULL ? first : l;
        count += l->run == first->run && (kernel == 0 || l->kernel == kernel);
    }
    return count;
}

/* " (a 2x, b 1x)" behind a text. */
static void name_outside(const ks_ledger *ledger, char to[KS_NOTHING_MAX])
{
    enum {
        MOST = 3
    };
    unsigned named = 0;
    for (ks_text_id kernel = 1; kernel <= ledger->kernels.count && named <= MOST; kernel++) {
        uint64_t count = count_outside(ledger, kernel);
        size_t length = strlen(to);
        if (count > 0 && named++ < MOST) {
            snprintf(to + length, KS_NOTHING_MAX - length, "%s%.40s %llux",
                     named == 1 ? " (" : ", ",
                     ks_demangle_short(ks_pool_text(&ledger->kernels, kernel)),
                     (unsigned long long)count);
        }
    }
    size_t length = strlen(to);
    snprintf(to + length, KS_NOTHING_MAX - length, "%s",
             named > MOST ? ", ...)"
             : named > 0  ? ")"
                          : "");
}

void ks_nothing_reason(const ks_nothing *nothing, uint32_t annotation, char to[KS_NOTHING_MAX])
{
    unsigned did = annotation < nothing->count ? nothing->did[annotation] : 0;
    uint64_t outside = count_outside(nothing->ledger, 0);
    outside = outside > nothing->outside ? outside : nothing->outside;
    int length = snprintf(to, KS_NOTHING_MAX, "%s", reason_of(did, nothing->sees_copies));
    if (outside > 0) {
        snprintf(to + length, KS_NOTHING_MAX - (size_t)length,
                 "; %llu kernel%s launched outside any annotation", (unsigned long long)outside,
                 outside == 1 ? " was" : "s were");
        name_outside(nothing->ledger, to);
    }
    ks_utf8_clean(to);
}

/* ---- telling ----------------------------------------------------------------------------------
 */

static bool has_values(const ks_samples *samples, uint32_t annotation, uint32_t run,
                       uint32_t number)
{
    const ks_cell *cell = ks_samples_cell(samples, annotation, run, number);
    return cell->count > 0 || cell->why != 0;
}

static ks_status tell(uint32_t annotation, const uint32_t *numbers, size_t count, const char *why,
                      ks_samples *into, ks_error *err)
{
    for (uint32_t run = 0; run < into->runs; run++) {
        bool entered = ks_samples_presence(into, annotation, run)->visits > 0;
        for (size_t i = 0; entered && i < count; i++) {
            if (!has_values(into, annotation, run, numbers[i])) {
                KS_TRY(ks_samples_missing(into, annotation, run, numbers[i], why, err));
            }
        }
    }
    return KS_OK;
}

ks_status ks_nothing_tell(const ks_nothing *nothing, const uint32_t *numbers, size_t count,
                          ks_samples *into, ks_error *err)
{
    char why[KS_NOTHING_MAX];
    for (uint32_t i = 0; i < into->entered_count; i++) {
        ks_nothing_reason(nothing, into->entered[i], why);
        KS_TRY(tell(into->entered[i], numbers, count, why, into, err));
    }
    return KS_OK;
}

ks_status ks_nothing_idle(const ks_nothing *nothing, ks_samples *into, ks_error *err)
{
    char why[KS_NOTHING_MAX];
    if (into->idle.code != KS_OK || into->entered_count == 0) {
        return KS_OK;
    }
    ks_buf text;
    ks_buf_init(&text, 1u << 16);
    for (uint32_t i = 0; i < into->entered_count; i++) {
        uint32_t annotation = into->entered[i];
        ks_nothing_reason(nothing, annotation, why);
        ks_buf_addf(&text, "%sannotation '%.100s': %s", i > 0 ? "; " : "",
                    ks_session_annotation(annotation)->path, why);
    }
    ks_status status = ks_buf_status(&text, err);
    if (status == KS_OK) {
        ks_fail(&into->idle, KS_ESTATE, "nvidia", 0, "%s", ks_buf_text(&text));
    }
    ks_buf_fini(&text);
    return status;
}

bool ks_nothing_ignores(const ks_controls *controls, bool *matched, const char *kernel)
{
    bool ignored = false;
    for (size_t i = 0; i < controls->ignored_count && kernel != NULL; i++) {
        if (ks_function_matches(controls->ignored[i], kernel)) {
            matched[i] = true;
            ignored = true;
        }
    }
    return ignored;
}

ks_status ks_nothing_matched(const ks_controls *controls, const bool *matched, ks_pool *warnings,
                             ks_error *err)
{
    for (size_t i = 0; i < controls->ignored_count; i++) {
        if (!matched[i]) {
            char text[320];
            ks_text_id id = 0;
            snprintf(text, sizeof text,
                     "no kernel matched '%.200s', which the plan leaves out (kernels' names are in "
                     "the column Kernel)",
                     controls->ignored[i]);
            ks_utf8_clean(text);
            KS_TRY(ks_pool_add(warnings, text, &id, err));
        }
    }
    return KS_OK;
}
