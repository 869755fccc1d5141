/* The module: annotations, lists of metrics, and what belongs to no object. */
#include "core.h"

/* ---- annotations ------------------------------------------------------------------------------
 */

/* begin(name) -> (run, visit): hand it to end() or fail(), once, on any thread. */
static PyObject *begin(PyObject *module, PyObject *name)
{
    (void)module;
    ks_token token = KS_TOKEN_INIT;
    ks_error err = KS_ERROR_INIT;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text == NULL) {
        return NULL;
    }
    ks_annotate_begin(text, &token, &err);
    return core_failed(&err) ? NULL
                             : Py_BuildValue("(KK)", (unsigned long long)token.run,
                                             (unsigned long long)(uintptr_t)token.visit);
}

static int read_token(PyObject *args, ks_token *token, const char **why)
{
    unsigned long long run = 0;
    unsigned long long visit = 0;
    if (!PyArg_ParseTuple(args, "(KK)|s", &run, &visit, why)) {
        return 0;
    }
    *token = (ks_token){(uint64_t)run, (void *)(uintptr_t)visit};
    return 1;
}

static PyObject *end(PyObject *module, PyObject *args)
{
    (void)module;
    ks_token token = KS_TOKEN_INIT;
    ks_error err = KS_ERROR_INIT;
    const char *why = NULL;
    if (!read_token(args, &token, &why)) {
        return NULL;
    }
    if (why == NULL) {
        ks_annotate_end(token, &err);
    } else {
        ks_annotate_fail(token, why, &err);
    }
    return core_done(&err);
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static PyObject *metrics(PyObject *module, PyObject *args)
{
    (void)module;
    const char *pattern = NULL;
    ks_table *table = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "|z", &pattern)) {
        return NULL;
    }
    PyThreadState *state = PyEval_SaveThread();
    ks_metrics_table(pattern, &table, &err);
    PyEval_RestoreThread(state);
    return core_failed(&err) ? NULL : core_table_new(table, NULL);
}

static PyObject *release(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    ks_error err = KS_ERROR_INIT;
    PyThreadState *state = PyEval_SaveThread();
    ks_release(&err);
    PyEval_RestoreThread(state);
    return core_done(&err);
}

static PyObject *set_error_maker(PyObject *module, PyObject *maker)
{
    (void)module;
    core_set_error_maker(maker);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"begin", begin, METH_O, "begin(name) -> token of an annotation"},
    {"end", end, METH_VARARGS, "end(token, why=None): it ends; with a reason it has failed"},
    {"metrics", metrics, METH_VARARGS, "metrics(pattern=None) -> Table"},
    {"release", release, METH_NOARGS, "release(): give the GPU's counters back"},
    {"set_error_maker", set_error_maker, METH_O, "set_error_maker(callable)"},
    {NULL, NULL, 0, NULL},
};

static int add_all(PyObject *module)
{
    if (core_add_table(module) < 0 || core_add_results(module) < 0 || core_add_plan(module) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "version", ks_version());
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)add_all}, {0, NULL}};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "kernsight._core",
                                 .m_doc = "The C API of kernsight.", .m_methods = methods,
                                 .m_slots = slots};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
