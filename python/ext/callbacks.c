/* What a plan calls besides the body: combining, deriving, information, progress. */
#include "plan.h"

/* The value for the table: numbers, texts and None as they are, others by a text: (object, text).
 */
int core_to_value(PyObject *from, ks_value *out)
{
    int over = 0;
    if (from == Py_None) {
        *out = ks_missing();
    } else if (PyBool_Check(from)) {
        *out = ks_bool(from == Py_True);
    } else if (PyLong_Check(from)) {
        long long number = PyLong_AsLongLongAndOverflow(from, &over);
        *out = over == 0 ? ks_i64(number) : ks_f64(PyLong_AsDouble(from));
    } else if (PyFloat_Check(from)) {
        *out = ks_f64(PyFloat_AsDouble(from));
    } else {
        const char *text = PyUnicode_AsUTF8AndSize(from, NULL);
        *out = ks_text(text);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static ks_plan *of(PyObject *object)
{
    return ((plan *)object)->plan;
}

/* ---- callbacks --------------------------------------------------------------------------------
 */

/* The text of the exception that is set, which is cleared. */
void core_take_text(char *to, size_t size)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *trace = NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *name = type != NULL ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    const char *what = name != NULL ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const char *why = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    snprintf(to, size, "%s: %s", what != NULL ? what : "exception", why != NULL ? why : "?");
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

static int keep(PyObject *self, PyObject *callable)
{
    if (!PyCallable_Check(callable)) {
        PyErr_SetString(PyExc_TypeError, "this is not callable");
        return -1;
    }
    return PyList_Append(((plan *)self)->kept, callable);
}

static ks_status call_combine(double sum, double next, double *out, void *user, ks_error *err)
{
    char text[400];
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *value = PyObject_CallFunction(user, "dd", sum, next);
    *out = value != NULL ? PyFloat_AsDouble(value) : 0.0;
    Py_XDECREF(value);
    bool failed = PyErr_Occurred() != NULL;
    if (failed) {
        core_take_text(text, sizeof text);
    }
    PyGILState_Release(state);
    return failed ? ks_fail(err, KS_EBODY, "python", 0, "combining: %s", text) : KS_OK;
}

PyObject *core_plan_combine_fn(PyObject *self, PyObject *callable)
{
    ks_error err = KS_ERROR_INIT;
    if (keep(self, callable) < 0) {
        return NULL;
    }
    ks_plan_combine_fn(of(self), call_combine, callable, &err);
    return core_done(&err);
}

/* derive(config, annotation, value of a metric's name) -> [(name, value, unit)] */
typedef struct deriving {
    ks_derivation *derivation;
    ks_error *err;
} deriving;

static PyObject *metric_of(PyObject *capsule, PyObject *name)
{
    deriving *d = PyCapsule_GetPointer(capsule, "kernsight.derivation");
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    double value = 0.0;
    ks_error err = KS_ERROR_INIT;
    if (d == NULL || text == NULL) {
        return NULL;
    }
    ks_derivation_metric(d->derivation, text, &value, &err);
    return core_failed(&err) ? NULL : PyFloat_FromDouble(value);
}

static PyMethodDef metric_of_def = {"metric", metric_of, METH_O, "metric(name) -> its value"};

static int give_values(PyObject *list, ks_derivation *derivation, ks_error *err)
{
    Py_ssize_t count = PySequence_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *name = NULL;
        const char *unit = NULL;
        double value = 0.0;
        PyObject *one = PySequence_GetItem(list, i);
        int read = one != NULL && PyArg_ParseTuple(one, "sdz", &name, &value, &unit);
        if (read) {
            ks_derivation_set(derivation, name, value, unit, err);
        }
        Py_XDECREF(one);
        if (!read) {
            return -1;
        }
    }
    return count < 0 ? -1 : 0;
}

static ks_status call_derive(ks_derivation *derivation, const ks_call *call, void *user,
                             ks_error *err)
{
    char text[400];
    deriving d = {derivation, err};
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *capsule = PyCapsule_New(&d, "kernsight.derivation", NULL);
    PyObject *metric = capsule != NULL ? PyCFunction_NewEx(&metric_of_def, capsule, NULL) : NULL;
    PyObject *values = metric != NULL
                           ? PyObject_CallFunction(user, "nsO", (Py_ssize_t)ks_call_config(call),
                                                   ks_derivation_annotation(derivation), metric)
                           : NULL;
    bool failed = values == NULL || give_values(values, derivation, err) < 0;
    if (failed) {
        core_take_text(text, sizeof text);
    }
    Py_XDECREF(values);
    Py_XDECREF(metric);
    Py_XDECREF(capsule);
    PyGILState_Release(state);
    return failed ? ks_fail(err, KS_EBODY, "python", 0, "%s", text) : err->code;
}

PyObject *core_plan_derive(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    PyObject *callable = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sO", &name, &callable) || keep(self, callable) < 0) {
        return NULL;
    }
    ks_plan_derive(of(self), name, call_derive, callable, &err);
    return core_done(&err);
}

/* `user` is a list: the callable, and the last text that it gave, which the library has yet to
 * copy. */
static ks_status call_info(const ks_call *call, const char *annotation, ks_value *out, void *user,
                           ks_error *err)
{
    char text[400];
    PyGILState_STATE state = PyGILState_Ensure();
    Py_ssize_t config = call != NULL ? (Py_ssize_t)ks_call_config(call) : -1;
    PyObject *value = PyObject_CallFunction(PyList_GetItem(user, 0), "nz", config, annotation);
    bool failed = value == NULL || core_to_value(value, out) < 0;
    if (failed) {
        core_take_text(text, sizeof text);
        Py_XDECREF(value);
    } else {
        PyList_SetItem(user, 1, value);
    }
    PyGILState_Release(state);
    return failed ? ks_fail(err, KS_EBODY, "python", 0, "%s", text) : KS_OK;
}

/* info(name, scope, callable): called as callable(config or -1, annotation or None). */
PyObject *core_plan_info(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    int scope = 0;
    PyObject *callable = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "siO", &name, &scope, &callable)) {
        return NULL;
    }
    PyObject *user = Py_BuildValue("[OO]", callable, Py_None);
    if (user == NULL || PyList_Append(((plan *)self)->kept, user) < 0) {
        Py_XDECREF(user);
        return NULL;
    }
    Py_DECREF(user); /* the plan keeps it */
    ks_plan_info(of(self), name, (ks_info_scope)scope, call_info, user, &err);
    return core_done(&err);
}

/* progress(phase, config, configs, run, runs, pass, passes, done, calls, elapsed, remaining,
 * margin) */
static void call_progress(const ks_progress *p, void *user)
{
    static const char *const phases[] = {"start", "warmup", "run", "end", "wait"};
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = PyObject_CallFunction(
        user, "snnIIIIKKddd", phases[p->phase], (Py_ssize_t)p->config, (Py_ssize_t)p->configs,
        p->run, p->runs, p->pass, p->passes, (unsigned long long)p->calls_done,
        (unsigned long long)p->calls, p->elapsed_s, p->remaining_s, p->margin_c);
    if (result == NULL) {
        PyErr_WriteUnraisable(user);
    }
    Py_XDECREF(result);
    PyGILState_Release(state);
}

PyObject *core_plan_progress(PyObject *self, PyObject *callable)
{
    ks_error err = KS_ERROR_INIT;
    if (keep(self, callable) < 0) {
        return NULL;
    }
    ks_plan_progress(of(self), call_progress, callable, &err);
    return core_done(&err);
}
