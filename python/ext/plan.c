/*
 * A plan, and running it. Configs are numbers here: the values of a config are looked up by whoever
 * hands the body over, so that each call gets the very objects of the caller.
 */
#include "plan.h"

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

/* What a plan is told by a text. */
static PyObject *give_text(PyObject *self, PyObject *args,
                           ks_status (*how)(ks_plan *, const char *, ks_error *))
{
    const char *text = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &text)) {
        return NULL;
    }
    how(of(self), text, &err);
    return core_done(&err);
}

static PyObject *plan_param(PyObject *self, PyObject *args)
{
    return give_text(self, args, ks_plan_param);
}

static PyObject *plan_metric(PyObject *self, PyObject *args)
{
    return give_text(self, args, ks_plan_metric);
}

static PyObject *plan_ignore_kernel(PyObject *self, PyObject *args)
{
    return give_text(self, args, ks_plan_ignore_kernel);
}

static PyObject *plan_normalize(PyObject *self, PyObject *args)
{
    return give_text(self, args, ks_plan_normalize);
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
        int failed = value == NULL || core_to_value(value, &list[i]) < 0;
        Py_XDECREF(value);
        if (failed) {
            break;
        }
    }
    if (i == count) {
        ks_plan_config(of(self), list, (size_t)count, &err);
    }
    PyMem_Free(list);
    return i < count ? NULL : core_done(&err);
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
    return core_done(&err);
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
    return core_done(&err);
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
    return core_done(&err);
}

static PyObject *plan_warmup(PyObject *self, PyObject *args)
{
    unsigned calls = 0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "I", &calls)) {
        return NULL;
    }
    ks_plan_warmup(of(self), calls, &err);
    return core_done(&err);
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
    return core_done(&err);
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
    return core_done(&err);
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
    return core_done(&err);
}

static PyObject *plan_drain_limit(PyObject *self, PyObject *args)
{
    double seconds = 0.0;
    ks_error err = KS_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "d", &seconds)) {
        return NULL;
    }
    ks_plan_drain_limit(of(self), seconds, &err);
    return core_done(&err);
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
        core_take_text(text, sizeof text);
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
    {"combine_fn", core_plan_combine_fn, METH_O, "combine_fn(callable of two values)"},
    {"derive", core_plan_derive, METH_VARARGS, "derive(name, callable)"},
    {"info", core_plan_info, METH_VARARGS, "info(name, scope, callable)"},
    {"progress", core_plan_progress, METH_O, "progress(callable)"},
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
