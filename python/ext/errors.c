#include "core.h"

static PyObject *make_error;

int core_set_error_maker(PyObject *maker)
{
    Py_XINCREF(maker);
    Py_XDECREF(make_error);
    make_error = maker;
    return 0;
}

PyObject *core_raise(const ks_error *err)
{
    if (make_error == NULL) {
        PyErr_SetString(PyExc_RuntimeError, err->message);
        return NULL;
    }
    PyObject *error = PyObject_CallFunction(make_error, "(ssis)", ks_status_name(err->code),
                                            err->message, (int)err->native, err->origin);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

int core_failed(const ks_error *err)
{
    if (err->code == KS_OK) {
        return 0;
    }
    core_raise(err);
    return 1;
}

PyObject *core_done(const ks_error *err)
{
    if (core_failed(err)) {
        return NULL;
    }
    Py_RETURN_NONE;
}
