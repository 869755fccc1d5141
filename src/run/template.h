/* Texts with `{name}` for the values of parameters. */
#ifndef KS_RUN_TEMPLATE_H
#define KS_RUN_TEMPLATE_H

#include "base/buf.h"
#include "plan/call.h"

/** Whether a text has any `{name}`. */
bool ks_template_has_names(const char *text);

/** Whether a text has `{name}`. */
bool ks_template_names(const char *text, const char *name);

/** Whether the plan has every parameter that a text names. KS_EINVAL: which it has not. */
ks_status ks_template_check(const char *text, const ks_plan *plan, ks_error *err);

/** Add the text with the values of the call's config: `{{` becomes `{`. */
void ks_template_expand(const char *text, const ks_call *call, ks_buf *to);

#endif
