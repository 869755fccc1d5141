/*
 * kernsight._core: the public C API for Python, by CPython's stable ABI (3.10 and later).
 *
 * Failures are raised as kernsight.errors' classes. The GIL is given up while the library works,
 * and taken for the body and the callbacks; nothing of Python is touched in a callback of CUPTI's.
 */
#ifndef KERNSIGHT_PYTHON_CORE_H
#define KERNSIGHT_PYTHON_CORE_H

#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <kernsight/kernsight.h>

/* errors.c */
/** The class of a status is asked for here: a function (status, message, native, origin). */
int core_set_error_maker(PyObject *maker);
/** Raise a failure. @return NULL */
PyObject *core_raise(const ks_error *err);
/** Raise it if there is one. @return whether */
int core_failed(const ks_error *err);
/** None, or NULL with the failure raised. */
PyObject *core_done(const ks_error *err);

/* table.c */
int core_add_table(PyObject *module);
/** Takes a table over (`owner` NULL), or borrows it from what `owner` keeps alive. */
PyObject *core_table_new(const ks_table *table, PyObject *owner);

/* results.c */
int core_add_results(PyObject *module);
/** Takes the results over. */
PyObject *core_results_new(ks_results *results);

/* plan.c */
int core_add_plan(PyObject *module);

#endif
