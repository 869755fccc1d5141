/* Results of a run. */
#include "core.h"

typedef struct results {
    PyObject_HEAD ks_results *results;
} results;

static PyObject *results_type;

PyObject *core_results_new(ks_results *from)
{
    results *self = (results *)PyType_GenericAlloc((PyTypeObject *)results_type, 0);
    if (self == NULL) {
        ks_results_free(from);
        return NULL;
    }
    self->results = from;
    return (PyObject *)self;
}

static void results_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ks_results_free(((results *)object)->results);
    PyObject_Free(object);
    Py_DECREF(type);
}

static const ks_results *of(PyObject *object)
{
    return ((results *)object)->results;
}

static PyObject *results_table(PyObject *object, PyObject *unused)
{
    (void)unused;
    return core_table_new(ks_results_table(of(object)), object);
}

/* One of the tables that are made anew. */
static PyObject *make(PyObject *object,
                      ks_status (*how)(const ks_results *, ks_table **, ks_error *))
{
    ks_error err = KS_ERROR_INIT;
    ks_table *table = NULL;
    PyThreadState *state = PyEval_SaveThread();
    how(of(object), &table, &err);
    PyEval_RestoreThread(state);
    return core_failed(&err) ? NULL : core_table_new(table, NULL);
}

static PyObject *results_samples(PyObject *object, PyObject *unused)
{
    (void)unused;
    return make(object, ks_results_samples);
}

static PyObject *results_launches(PyObject *object, PyObject *unused)
{
    (void)unused;
    return make(object, ks_results_launches);
}

static PyObject *results_kernels(PyObject *object, PyObject *unused)
{
    (void)unused;
    return make(object, ks_results_kernels);
}

/* (planned, finished, succeeded, complete) */
static PyObject *results_counts(PyObject *object, PyObject *unused)
{
    (void)unused;
    const ks_results *r = of(object);
    return Py_BuildValue("(nnnO)", (Py_ssize_t)ks_results_planned(r),
                         (Py_ssize_t)ks_results_finished(r), (Py_ssize_t)ks_results_succeeded(r),
                         ks_results_complete(r) ? Py_True : Py_False);
}

typedef struct printing {
    const ks_results *results;
    const ks_print_options *options;
} printing;

static PyObject *results_text(PyObject *object, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"width", "color", "ascii", "launches", NULL};
    ks_print_options options = KS_PRINT_OPTIONS_INIT;
    Py_ssize_t width = 0;
    int color = 0;
    int ascii = 0;
    int launches = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|nppp", keywords, &width, &color, &ascii,
                                     &launches)) {
        return NULL;
    }
    options.width = width > 0 ? (size_t)width : 0;
    options.color = color;
    options.ascii = ascii;
    options.launches = launches;
    char *text = NULL;
    size_t size = 0;
    ks_error err = KS_ERROR_INIT;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return PyErr_NoMemory();
    }
    ks_results_print(of(object), to, &options, &err);
    fclose(to);
    PyObject *out =
        core_failed(&err) ? NULL : PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
    free(text);
    return out;
}

static PyObject *write_to(PyObject *object, PyObject *args,
                          ks_status (*how)(const ks_results *, const char *, ks_error *))
{
    PyObject *path = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    char *bytes = PyBytes_AsString(path);
    if (bytes != NULL) {
        PyThreadState *state = PyEval_SaveThread();
        how(of(object), bytes, &err);
        PyEval_RestoreThread(state);
    }
    Py_DECREF(path);
    if (bytes == NULL || core_failed(&err)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *results_write_csv(PyObject *object, PyObject *args)
{
    return write_to(object, args, ks_results_write_csv);
}

static PyObject *results_write_json(PyObject *object, PyObject *args)
{
    return write_to(object, args, ks_results_write_json);
}

static PyMethodDef methods[] = {
    {"table", results_table, METH_NOARGS,
     "table() -> Table with a row per annotation, metric, config"},
    {"samples", results_samples, METH_NOARGS, "samples() -> Table with a row per sample"},
    {"launches", results_launches, METH_NOARGS, "launches() -> Table with a row per kernel launch"},
    {"kernels", results_kernels, METH_NOARGS,
     "kernels() -> Table with a row per annotation, kernel"},
    {"counts", results_counts, METH_NOARGS,
     "counts() -> configs (planned, finished, succeeded, complete)"},
    {"text", (PyCFunction)(void (*)(void))results_text, METH_VARARGS | METH_KEYWORDS,
     "text(width=0, color=False, ascii=False, launches=False) -> the table for people"},
    {"write_csv", results_write_csv, METH_VARARGS, "write_csv(path)"},
    {"write_json", results_write_json, METH_VARARGS, "write_json(path)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, results_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What a run gave (kernsight/results.h). It never changes."},
    {0, NULL},
};

static PyType_Spec spec = {"kernsight._core.Results", sizeof(results), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int core_add_results(PyObject *module)
{
    results_type = PyType_FromSpec(&spec);
    return results_type == NULL ? -1 : PyModule_AddObjectRef(module, "Results", results_type);
}
