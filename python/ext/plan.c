/*
 * A plan, and running it. Configs are numbers here: the values of a config are looked up by whoever
 * hands the body over, so that each call gets the very objects of the caller.
 */
#include "core.h"

typedef struct plan {
    PyObject_HEAD ks_plan *plan;
    PyObject *kept; /* a list: callables that the plan calls */
} plan;

/* A run, for its callbacks. */
typedef struct run {
    plan *plan;
    PyObject *body;
    PyObject *raised[3]; /* what the body raised first: type, value, traceback */
} run;

static PyObject *plan_type;

static ks_plan *of(PyObject *object)
{
    return ((plan *)object)->plan;
}

static PyObject *done(const ks_error *err)
{
    if (core_failed(err)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    ks_error err = KS_ERROR_INIT;
    if (PyTuple_Size(args) != 0 || (names != NULL && PyDict_Size(names) != 0)) {
        PyErr_SetString(PyExc_TypeError, "Plan() takes no arguments");
        return NULL;
    }
    plan *self = (plan *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->kept = PyList_New(0);
    ks_plan_new(&self->plan, &err);
    if (self->kept == NULL || core_failed(&err)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int plan_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((plan *)object)->kept);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int plan_clear(PyObject *object)
{
    Py_CLEAR(((plan *)object)->kept);
    return 0;
}

static void plan_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    ks_plan_free(of(object));
    plan_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* ---- what to measure --------------------------------------------------------------------------
 */

static PyObject *plan_param(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &name)) {
        return NULL;
    }
    ks_plan_param(of(self), name, &err);
    return done(&err);
}

/* The value for the table: numbers, texts and None as they are, others by a text: (object, text).
 */
static int to_value(PyObject *from, ks_value *out)
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

static PyObject *plan_config(PyObject *self, PyObject *values)
{
    ks_error err = KS_ERROR_INIT;
    Py_ssize_t count = PySequence_Size(values);
    ks_value *list = count < 0 ? NULL : PyMem_Calloc((size_t)count + 1, sizeof *list);
    if (list == NULL) {
        return count < 0 ? NULL : PyErr_NoMemory();
    }
    Py_ssize_t i = 0;
    for (; i < count; i++) {
        PyObject *value = PySequence_GetItem(values, i); /* stays in the sequence */
        int failed = value == NULL || to_value(value, &list[i]) < 0;
        Py_XDECREF(value);
        if (failed) {
            break;
        }
    }
    if (i == count) {
        ks_plan_config(of(self), list, (size_t)count, &err);
    }
    PyMem_Free(list);
    return i < count ? NULL : done(&err);
}

static PyObject *plan_metric(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &name)) {
        return NULL;
    }
    ks_plan_metric(of(self), name, &err);
    return done(&err);
}

static PyObject *plan_ignore_kernel(PyObject *self, PyObject *args)
{
    const char *pattern = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &pattern)) {
        return NULL;
    }
    ks_plan_ignore_kernel(of(self), pattern, &err);
    return done(&err);
}

static PyObject *plan_fact(PyObject *self, PyObject *args)
{
    const char *key = NULL;
    const char *text = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "ss", &key, &text)) {
        return NULL;
    }
    ks_plan_fact(of(self), key, text, &err);
    return done(&err);
}

static PyObject *plan_normalize(PyObject *self, PyObject *args)
{
    const char *annotation = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &annotation)) {
        return NULL;
    }
    ks_plan_normalize(of(self), annotation, &err);
    return done(&err);
}

/* ---- numbers and switches ---------------------------------------------------------------------
 */

static PyObject *plan_runs(PyObject *self, PyObject *args)
{
    unsigned runs = 0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "I", &runs)) {
        return NULL;
    }
    ks_plan_runs(of(self), runs, &err);
    return done(&err);
}

static PyObject *plan_auto_runs(PyObject *self, PyObject *args)
{
    ks_auto_runs options = KS_AUTO_RUNS_INIT;
    unsigned min_runs = options.min_runs;
    unsigned max_runs = options.max_runs;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "|dIId", &options.precision, &min_runs, &max_runs,
                          &options.budget_s)) {
        return NULL;
    }
    options.min_runs = min_runs;
    options.max_runs = max_runs;
    ks_plan_auto_runs(of(self), &options, &err);
    return done(&err);
}

static PyObject *plan_warmup(PyObject *self, PyObject *args)
{
    unsigned calls = 0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "I", &calls)) {
        return NULL;
    }
    ks_plan_warmup(of(self), calls, &err);
    return done(&err);
}

static PyObject *plan_order(PyObject *self, PyObject *args)
{
    int order = 0;
    unsigned long long seed = 0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "i|K", &order, &seed)) {
        return NULL;
    }
    ks_plan_order(of(self), (ks_order)order, seed, &err);
    return done(&err);
}

/* set(what, number): each switch of the plan that is one number. */
static PyObject *plan_set(PyObject *self, PyObject *args)
{
    const char *what = NULL;
    int number = 0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "si", &what, &number)) {
        return NULL;
    }
    if (strcmp(what, "replay") == 0) {
        ks_plan_replay(of(self), (ks_replay)number, &err);
    } else if (strcmp(what, "cache_control") == 0) {
        ks_plan_cache_control(of(self), (ks_cache_control)number, &err);
    } else if (strcmp(what, "clock_control") == 0) {
        ks_plan_clock_control(of(self), (ks_clock_control)number, &err);
    } else if (strcmp(what, "combine") == 0) {
        ks_plan_combine(of(self), (ks_combine)number, &err);
    } else if (strcmp(what, "tolerant") == 0) {
        ks_plan_tolerant(of(self), number != 0, &err);
    } else if (strcmp(what, "hold_counters") == 0) {
        ks_plan_hold_counters(of(self), number != 0, &err);
    } else {
        PyErr_Format(PyExc_ValueError, "a plan has no switch '%s'", what);
        return NULL;
    }
    return done(&err);
}

static PyObject *plan_thermal(PyObject *self, PyObject *args)
{
    ks_thermal options = KS_THERMAL_INIT;
    int mode = 0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "iiidi", &mode, &options.wait_c, &options.cont_c,
                          &options.timeout_s, &options.device)) {
        return NULL;
    }
    options.mode = (ks_thermal_mode)mode;
    ks_plan_thermal(of(self), &options, &err);
    return done(&err);
}

static PyObject *plan_drain_limit(PyObject *self, PyObject *args)
{
    double seconds = 0.0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "d", &seconds)) {
        return NULL;
    }
    ks_plan_drain_limit(of(self), seconds, &err);
    return done(&err);
}

/* ---- callbacks --------------------------------------------------------------------------------
 */

/* The text of the exception that is set, which is cleared. */
static void take_text(char *to, size_t size)
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
        take_text(text, sizeof text);
    }
    PyGILState_Release(state);
    return failed ? ks_fail(err, KS_EBODY, "python", 0, "combining: %s", text) : KS_OK;
}

static PyObject *plan_combine_fn(PyObject *self, PyObject *callable)
{
    ks_error err = KS_ERROR_INIT;
    if (keep(self, callable) < 0) {
        return NULL;
    }
    ks_plan_combine_fn(of(self), call_combine, callable, &err);
    return done(&err);
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
        take_text(text, sizeof text);
    }
    Py_XDECREF(values);
    Py_XDECREF(metric);
    Py_XDECREF(capsule);
    PyGILState_Release(state);
    return failed ? ks_fail(err, KS_EBODY, "python", 0, "%s", text) : err->code;
}

static PyObject *plan_derive(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    PyObject *callable = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sO", &name, &callable) || keep(self, callable) < 0) {
        return NULL;
    }
    ks_plan_derive(of(self), name, call_derive, callable, &err);
    return done(&err);
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
    bool failed = value == NULL || to_value(value, out) < 0;
    if (failed) {
        take_text(text, sizeof text);
        Py_XDECREF(value);
    } else {
        PyList_SetItem(user, 1, value);
    }
    PyGILState_Release(state);
    return failed ? ks_fail(err, KS_EBODY, "python", 0, "%s", text) : KS_OK;
}

/* info(name, scope, callable): called as callable(config or -1, annotation or None). */
static PyObject *plan_info(PyObject *self, PyObject *args)
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
    return done(&err);
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

static PyObject *plan_progress(PyObject *self, PyObject *callable)
{
    ks_error err = KS_ERROR_INIT;
    if (keep(self, callable) < 0) {
        return NULL;
    }
    ks_plan_progress(of(self), call_progress, callable, &err);
    return done(&err);
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* A KeyboardInterrupt that comes while the body runs, or between two calls, ends the run. */
static ks_status call_body(const ks_call *call, void *user, ks_error *err)
{
    run *r = user;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result =
        PyErr_CheckSignals() == 0
            ? PyObject_CallFunction(r->body, "nIIO", (Py_ssize_t)ks_call_config(call),
                                    ks_call_run(call), ks_call_pass(call),
                                    ks_call_is_warmup(call) ? Py_True : Py_False)
            : NULL;
    bool failed = result == NULL || PyErr_CheckSignals() != 0;
    Py_XDECREF(result);
    if (failed) {
        char text[400];
        PyObject *raised[3];
        PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
        PyErr_NormalizeException(&raised[0], &raised[1], &raised[2]);
        bool stops = !PyErr_GivenExceptionMatches(raised[0], PyExc_Exception);
        if (stops) {
            ks_plan_cancel(r->plan->plan);
        }
        for (int i = 0; i < 3; i++) {
            Py_XINCREF(raised[i]);
        }
        PyErr_Restore(raised[0], raised[1], raised[2]);
        take_text(text, sizeof text);
        ks_fail(err, KS_EBODY, "python", 0, "%s", text);
        for (int i = 0; i < 3; i++) { /* one that stops comes before one that was tolerated */
            if (stops || r->raised[0] == NULL || i > 0) {
                Py_XDECREF(r->raised[i]);
                r->raised[i] = raised[i];
            } else {
                Py_XDECREF(raised[i]);
            }
        }
    }
    PyGILState_Release(state);
    return failed ? KS_EBODY : KS_OK;
}

/* run(body) -> (Results or None, what was raised or None, the error or None). The body is called as
 * body(config, run, pass, warmup). */
static PyObject *plan_run(PyObject *object, PyObject *body)
{
    run r = {.plan = (plan *)object, .body = body};
    ks_results *results = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyCallable_Check(body)) {
        PyErr_SetString(PyExc_TypeError, "the body is not callable");
        return NULL;
    }
    PyThreadState *state = PyEval_SaveThread();
    ks_run(r.plan->plan, call_body, &r, &results, &err);
    PyEval_RestoreThread(state);
    PyObject *made = results != NULL ? core_results_new(results) : Py_NewRef(Py_None);
    PyObject *raised = r.raised[1] != NULL ? r.raised[1] : Py_NewRef(Py_None);
    PyObject *error = Py_NewRef(Py_None);
    if (r.raised[1] != NULL && r.raised[2] != NULL) {
        PyException_SetTraceback(r.raised[1], r.raised[2]);
    }
    Py_XDECREF(r.raised[0]);
    Py_XDECREF(r.raised[2]);
    if (made != NULL && err.code != KS_OK) {
        PyObject *type = NULL;
        PyObject *value = NULL;
        PyObject *trace = NULL;
        core_raise(&err);
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
        Py_DECREF(error);
        error = value;
    }
    return made == NULL ? NULL : Py_BuildValue("(NNN)", made, raised, error);
}

static PyObject *plan_cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    ks_plan_cancel(of(self));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"param", plan_param, METH_VARARGS, "param(name): the next parameter of configs"},
    {"config", plan_config, METH_O, "config(values): int, float, bool, str or None each"},
    {"metric", plan_metric, METH_VARARGS, "metric(name or pattern)"},
    {"ignore_kernel", plan_ignore_kernel, METH_VARARGS, "ignore_kernel(pattern)"},
    {"fact", plan_fact, METH_VARARGS, "fact(key, text)"},
    {"normalize", plan_normalize, METH_VARARGS, "normalize(annotation)"},
    {"runs", plan_runs, METH_VARARGS, "runs(number)"},
    {"auto_runs", plan_auto_runs, METH_VARARGS, "auto_runs(precision, min, max, budget_s)"},
    {"warmup", plan_warmup, METH_VARARGS, "warmup(calls)"},
    {"order", plan_order, METH_VARARGS, "order(0 given, 1 shuffled or 2 interleaved, seed=0)"},
    {"set", plan_set, METH_VARARGS, "set(switch, number)"},
    {"thermal", plan_thermal, METH_VARARGS, "thermal(mode, wait_c, cont_c, timeout_s, device)"},
    {"drain_limit", plan_drain_limit, METH_VARARGS, "drain_limit(seconds)"},
    {"combine_fn", plan_combine_fn, METH_O, "combine_fn(callable of two values)"},
    {"derive", plan_derive, METH_VARARGS, "derive(name, callable)"},
    {"info", plan_info, METH_VARARGS, "info(name, scope, callable)"},
    {"progress", plan_progress, METH_O, "progress(callable)"},
    {"run", plan_run, METH_O, "run(body) -> (results, raised, error)"},
    {"cancel", plan_cancel, METH_NOARGS, "cancel(): from any thread"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, plan_new},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_traverse, plan_traverse},
    {Py_tp_clear, plan_clear},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What to measure (kernsight/plan.h). Built by one thread."},
    {0, NULL},
};

static PyType_Spec spec = {"kernsight._core.Plan", sizeof(plan), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int core_add_plan(PyObject *module)
{
    plan_type = PyType_FromSpec(&spec);
    return plan_type == NULL ? -1 : PyModule_AddObjectRef(module, "Plan", plan_type);
}
