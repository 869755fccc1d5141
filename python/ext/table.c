/* Tables: columns as lists, or as bytes that numpy reads without a copy of each cell. */
#include "core.h"

typedef struct table {
    PyObject_HEAD const ks_table *table;
    PyObject *owner; /* keeps it alive; NULL: it is ours */
} table;

static PyObject *table_type;

PyObject *core_table_new(const ks_table *from, PyObject *owner)
{
    table *self = (table *)PyType_GenericAlloc((PyTypeObject *)table_type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->table = from;
    Py_XINCREF(owner);
    self->owner = owner;
    return (PyObject *)self;
}

static void table_dealloc(PyObject *object)
{
    table *self = (table *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->owner == NULL) {
        ks_table_free((ks_table *)self->table);
    }
    Py_XDECREF(self->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *from_value(const ks_value *value)
{
    switch (value->type) {
    case KS_BOOL:
        return PyBool_FromLong(value->as.boolean);
    case KS_I64:
        return PyLong_FromLongLong(value->as.i64);
    case KS_F64:
        return PyFloat_FromDouble(value->as.f64);
    case KS_TEXT:
    case KS_OPAQUE:
        return PyUnicode_DecodeUTF8(value->text, (Py_ssize_t)strlen(value->text), "replace");
    default:
        Py_RETURN_NONE;
    }
}

/* [(name, type, role)] */
static PyObject *table_columns(PyObject *object, PyObject *unused)
{
    static const char *const types[] = {"missing", "bool", "i64", "f64", "text", "opaque"};
    static const char *const roles[] = {"plain", "parameter", "info"};
    (void)unused;
    const ks_table *t = ((table *)object)->table;
    size_t count = ks_table_columns(t);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t c = 0; list != NULL && c < count; c++) {
        PyObject *column = Py_BuildValue("(sss)", ks_table_name(t, c), types[ks_table_type(t, c)],
                                         roles[ks_table_role(t, c)]);
        if (column == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SetItem(list, (Py_ssize_t)c, column);
        }
    }
    return list;
}

static int read_column(PyObject *args, const ks_table *t, size_t *out)
{
    unsigned long long column = 0;
    if (!PyArg_ParseTuple(args, "K", &column)) {
        return 0;
    }
    if (column >= ks_table_columns(t)) {
        PyErr_SetString(PyExc_IndexError, "no such column");
        return 0;
    }
    *out = (size_t)column;
    return 1;
}

static PyObject *table_cells(PyObject *object, PyObject *args)
{
    const ks_table *t = ((table *)object)->table;
    size_t column = 0;
    if (!read_column(args, t, &column)) {
        return NULL;
    }
    size_t rows = ks_table_rows(t);
    PyObject *list = PyList_New((Py_ssize_t)rows);
    for (size_t row = 0; list != NULL && row < rows; row++) {
        ks_value value = ks_table_get(t, row, column);
        PyObject *cell = from_value(&value);
        if (cell == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SetItem(list, (Py_ssize_t)row, cell);
        }
    }
    return list;
}

/* (cells, validity bits or None) of a column of numbers. */
static PyObject *table_data(PyObject *object, PyObject *args)
{
    const ks_table *t = ((table *)object)->table;
    size_t column = 0;
    if (!read_column(args, t, &column)) {
        return NULL;
    }
    const void *data = ks_table_data(t, column);
    const uint8_t *bits = ks_table_validity(t, column);
    size_t rows = ks_table_rows(t);
    size_t cell = ks_table_type(t, column) == KS_BOOL ? 1 : 8;
    if (data == NULL && rows > 0) {
        PyErr_SetString(PyExc_TypeError, "a column of texts has no array");
        return NULL;
    }
    return Py_BuildValue("(y#y#)", (const char *)data, (Py_ssize_t)(rows * cell),
                         (const char *)bits, (Py_ssize_t)(bits != NULL ? (rows + 7) / 8 : 0));
}

/* [(key, value)], in the order in which they were stored; keys that end in [] come several times.
 */
static PyObject *table_facts(PyObject *object, PyObject *unused)
{
    (void)unused;
    const ks_table *t = ((table *)object)->table;
    PyObject *list = PyList_New(0);
    const char *key = NULL;
    for (size_t i = 0; list != NULL && (key = ks_table_fact_key(t, i)) != NULL; i++) {
        ks_value value = ks_table_fact_value(t, i);
        PyObject *fact = Py_BuildValue("(sN)", key, from_value(&value));
        if (fact == NULL || PyList_Append(list, fact) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(fact);
    }
    return list;
}

static Py_ssize_t table_length(PyObject *object)
{
    return (Py_ssize_t)ks_table_rows(((table *)object)->table);
}

static PyMethodDef methods[] = {
    {"columns", table_columns, METH_NOARGS, "columns() -> [(name, type, role)]"},
    {"cells", table_cells, METH_VARARGS, "cells(column) -> [cell, None where it is missing]"},
    {"data", table_data, METH_VARARGS, "data(column) -> (cells as bytes, validity bits or None)"},
    {"facts", table_facts, METH_NOARGS, "facts() -> [(key, value)]"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_methods, methods},
    {Py_sq_length, table_length},
    {Py_tp_doc, "A table of typed columns (kernsight/table.h). It never changes."},
    {0, NULL},
};

static PyType_Spec spec = {"kernsight._core.Table", sizeof(table), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int core_add_table(PyObject *module)
{
    table_type = PyType_FromSpec(&spec);
    return table_type == NULL ? -1 : PyModule_AddObjectRef(module, "Table", table_type);
}
