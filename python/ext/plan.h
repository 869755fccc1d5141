/* A plan as an object of Python, and what its two files share. */
#ifndef KERNSIGHT_PYTHON_PLAN_H
#define KERNSIGHT_PYTHON_PLAN_H

#include "core.h"

typedef struct plan {
    PyObject_HEAD ks_plan *plan;
    PyObject *kept; /* a list: callables that the plan calls */
} plan;

/** The text of the exception that is set, which is cleared. */
void core_take_text(char *to, size_t size);
/** int, float, bool, text or None as a value: texts are borrowed. @return -1 with an exception set
 */
int core_to_value(PyObject *from, ks_value *out);

/* callbacks.c: methods of a plan */
PyObject *core_plan_combine_fn(PyObject *self, PyObject *callable);
PyObject *core_plan_derive(PyObject *self, PyObject *args);
PyObject *core_plan_info(PyObject *self, PyObject *args);
PyObject *core_plan_progress(PyObject *self, PyObject *callable);

#endif
