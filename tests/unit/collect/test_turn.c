/* Turns between processes: nobody is told a time, everybody waits for what another one said. */
#include "fakes/nvidia/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/nvidia/profiler.h"
#include "collect/nvidia/turn.h"

#define GPU_0   "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00" /* the fake's */
#define GPU_1   "GPU-fafafafa-fafa-fafa-fafa-fafafafafa01"
#define FOREVER 1e6
#define SOON    0.05 /* looks more than once */

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- another process --------------------------------------------------------------------------
 */

/* It does what it is told, a letter each, and answers with one. */
typedef struct peer {
    pid_t pid;
    int to;
    int from;
} peer;

/* A child of a peer's lives as long as somebody has the other end. */
static int leash[2];

static ks_status one_kernel(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("one") {
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

static char run_a_plan(void)
{
    ks_plan *own = NULL;
    ks_results *out = NULL;
    ks_error e = KS_ERROR_INIT;
    ks_plan_new(&own, &e);
    ks_plan_metric(own, TIME, &e);
    ks_status status = ks_run(own, one_kernel, NULL, &out, &e);
    ks_results_free(out);
    ks_plan_free(own);
    return status == KS_OK ? 'y' : 'n';
}

/* It has begun, and so has done what a fork does, when this returns. */
static char have_a_child(void)
{
    int begun[2];
    char letter = 'y';
    if (pipe2(begun, O_CLOEXEC) != 0) {
        return 'n';
    }
    if (fork() == 0) {
        close(leash[1]);
        bool told = write(begun[1], &letter, 1) == 1;
        _exit(told && read(leash[0], &letter, 1) == 0 ? 0 : 1);
    }
    close(begun[1]);
    return read(begun[0], &letter, 1) == 1 ? 'y' : 'n';
}

static char obey(char letter, ks_turn **turn, ks_turn *inherited)
{
    ks_error e = KS_ERROR_INIT;
    switch (letter) {
    case 't': /* take */
        return ks_turn_take(GPU_0, FOREVER, NULL, turn, &e) == KS_OK ? 'y' : 'n';
    case 'g': /* give */
        ks_turn_give(*turn);
        *turn = NULL;
        return 'y';
    case 'w': /* wait until somebody waits */
        while (!ks_turn_wanted(*turn)) {
            pause_a_little();
        }
        return 'y';
    case 'i': /* give what the parent had taken */
        ks_turn_give(inherited);
        return 'y';
    case 'f': /* have a child that lives on */
        return have_a_child();
    case 'r':
        return run_a_plan();
    case 'b': /* give back what is held between runs */
        return ks_release(&e) == KS_OK ? 'y' : 'n';
    default:
        _exit(0);
    }
}

static peer start_peer(ks_turn *inherited)
{
    int down[2];
    int up[2];
    assert_int_equal(pipe2(down, O_CLOEXEC), 0);
    assert_int_equal(pipe2(up, O_CLOEXEC), 0);
    fflush(stdout);
    peer p = {fork(), down[1], up[0]};
    assert_true(p.pid >= 0);
    if (p.pid > 0) {
        close(down[0]);
        close(up[1]);
        return p;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
    close(down[1]);
    close(up[0]);
    ks_turn *turn = NULL;
    char letter = 0;
    while (read(down[0], &letter, 1) == 1) {
        char answer = obey(letter, &turn, inherited);
        if (write(up[1], &answer, 1) != 1) {
            break;
        }
    }
    _exit(0);
}

static void tell(const peer *p, char letter)
{
    assert_int_equal(write(p->to, &letter, 1), 1);
}

static void hear_yes(const peer *p)
{
    char answer = 0;
    assert_int_equal(read(p->from, &answer, 1), 1);
    assert_int_equal(answer, 'y');
}

static void let(const peer *p, char letter)
{
    tell(p, letter);
    hear_yes(p);
}

static void reap_peer(peer *p)
{
    close(p->to);
    close(p->from);
    assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
}

static void end_peer(peer *p)
{
    tell(p, 'e'); /* later ones have its pipe too: to close it here tells it nothing */
    reap_peer(p);
}

static void kill_peer(peer *p)
{
    kill(p->pid, SIGKILL);
    reap_peer(p);
}

static ks_turn *take(const char *uuid)
{
    ks_turn *turn = NULL;
    KT_OK(ks_turn_take(uuid, 0, NULL, &turn, &err));
    return turn;
}

static void wait_for_somebody(const ks_turn *turn)
{
    while (!ks_turn_wanted(turn)) {
        pause_a_little();
    }
}

/* ---- turns ------------------------------------------------------------------------------------
 */

static void one_process_has_the_turn_and_the_error_names_it(void **state)
{
    (void)state;
    ks_turn *turn = NULL;
    char holder[KS_TURN_HOLDER_MAX];
    char expected[KS_TURN_HOLDER_MAX];
    peer p = start_peer(NULL);
    assert_false(ks_turn_holder(GPU_0, holder));
    let(&p, 't');
    snprintf(expected, sizeof expected, "%d (%.40s)", (int)p.pid, program_invocation_short_name);
    KT_FAILS(ks_turn_take(GPU_0, SOON, NULL, &turn, &err), KS_EBUSY, expected);
    KT_FAILS(ks_turn_take(GPU_0, 0, NULL, &turn, &err), KS_EBUSY, GPU_0);
    assert_null(turn);
    assert_true(ks_turn_holder(GPU_0, holder));
    assert_string_equal(holder, expected);
    let(&p, 'g');
    ks_turn_give(take(GPU_0));
    end_peer(&p);
}

static void who_waits_has_it_when_it_is_given_back(void **state)
{
    (void)state;
    ks_turn *turn = take(GPU_0);
    peer p = start_peer(NULL);
    assert_false(ks_turn_wanted(turn));
    tell(&p, 't');
    wait_for_somebody(turn);
    ks_turn_give(turn);
    hear_yes(&p);
    end_peer(&p);
}

static void who_gives_it_back_cannot_get_ahead_of_who_waits(void **state)
{
    (void)state;
    ks_turn *turn = take(GPU_0);
    peer p = start_peer(NULL);
    tell(&p, 't');
    wait_for_somebody(turn);
    ks_turn_give(turn);
    KT_FAILS(ks_turn_take(GPU_0, 0, NULL, &turn, &err), KS_EBUSY, GPU_0);
    hear_yes(&p);
    end_peer(&p);
}

static void several_that_wait_all_have_it_in_the_end(void **state)
{
    (void)state;
    peer peers[3];
    ks_turn *turn = take(GPU_0);
    for (int i = 0; i < 3; i++) {
        peers[i] = start_peer(NULL);
        tell(&peers[i], 't');
        tell(&peers[i], 'g');
    }
    wait_for_somebody(turn);
    ks_turn_give(turn);
    for (int i = 0; i < 3; i++) {
        hear_yes(&peers[i]);
        hear_yes(&peers[i]);
        end_peer(&peers[i]);
    }
}

static void a_process_that_is_killed_gives_it_back(void **state)
{
    (void)state;
    peer p = start_peer(NULL);
    let(&p, 't');
    kill_peer(&p);
    ks_turn_give(take(GPU_0));
}

static void devices_have_turns_of_their_own(void **state)
{
    (void)state;
    peer p = start_peer(NULL);
    ks_turn *turn = take(GPU_1);
    let(&p, 't');
    assert_false(ks_turn_wanted(turn));
    ks_turn_give(turn);
    end_peer(&p);
}

static void a_process_has_it_until_it_gave_it_as_often_as_it_took_it(void **state)
{
    (void)state;
    ks_turn *first = take(GPU_0);
    ks_turn *second = take(GPU_0);
    peer p = start_peer(NULL);
    ks_turn_give(first);
    tell(&p, 't');
    wait_for_somebody(second);
    ks_turn_give(second);
    hear_yes(&p);
    end_peer(&p);
}

static void waiting_can_be_cancelled(void **state)
{
    (void)state;
    atomic_bool cancelled = true;
    ks_turn *turn = NULL;
    peer p = start_peer(NULL);
    let(&p, 't');
    KT_FAILS(ks_turn_take(GPU_0, FOREVER, &cancelled, &turn, &err), KS_ECANCELED, GPU_0);
    let(&p, 'g');
    KT_OK(ks_turn_take(GPU_0, FOREVER, &cancelled, &turn, &err));
    ks_turn_give(turn);
    end_peer(&p);
}

static void nothing_is_done_without_a_turn(void **state)
{
    (void)state;
    ks_turn_give(NULL);
    assert_false(ks_turn_wanted(NULL));
}

/* ---- forks ------------------------------------------------------------------------------------
 */

static void a_forked_child_cannot_give_its_parents_turn(void **state)
{
    (void)state;
    ks_turn *turn = take(GPU_0);
    peer p = start_peer(turn);
    peer other = start_peer(NULL);
    let(&p, 'i');
    tell(&other, 't');
    wait_for_somebody(turn); /* it would have it otherwise */
    ks_turn_give(turn);
    hear_yes(&other);
    end_peer(&p);
    end_peer(&other);
}

static void a_forked_child_does_not_keep_its_parents_turn(void **state)
{
    (void)state;
    assert_int_equal(pipe2(leash, O_CLOEXEC), 0);
    peer p = start_peer(NULL);
    let(&p, 't');
    let(&p, 'f');
    kill_peer(&p);
    ks_turn_give(take(GPU_0));
    close(leash[0]);
    close(leash[1]);
}

/* ---- the folder -------------------------------------------------------------------------------
 */

static void use_runtime_folder(const char *name)
{
    const char *path = kt_path(name);
    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    setenv("XDG_RUNTIME_DIR", path, 1);
}

/* Whether turns are kept elsewhere than in the runtime folder. */
static bool is_elsewhere(void)
{
    char folder[600];
    ks_turn_folder(folder, sizeof folder);
    return strncmp(folder, getenv("XDG_RUNTIME_DIR"), strlen(getenv("XDG_RUNTIME_DIR"))) != 0;
}

static void the_folder_is_private(void **state)
{
    (void)state;
    char folder[600];
    struct stat s;
    use_runtime_folder("new");
    assert_true(ks_turn_folder(folder, sizeof folder));
    assert_string_equal(folder, kt_path("new/kernsight"));
    assert_int_equal(stat(folder, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    ks_turn_give(take(GPU_0));
    assert_int_equal(stat(kt_path("new/kernsight/" GPU_0), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
}

static void a_folder_that_others_may_use_is_not_used(void **state)
{
    (void)state;
    use_runtime_folder("open");
    assert_int_equal(mkdir(kt_path("open/kernsight"), 0700), 0);
    assert_false(is_elsewhere());
    assert_int_equal(chmod(kt_path("open/kernsight"), 0707), 0);
    assert_true(is_elsewhere());
    assert_int_equal(chmod(kt_path("open/kernsight"), 0750), 0);
    assert_true(is_elsewhere());
}

static void a_link_or_a_file_in_its_place_is_not_used(void **state)
{
    (void)state;
    use_runtime_folder("link");
    assert_int_equal(symlink("/tmp", kt_path("link/kernsight")), 0);
    assert_true(is_elsewhere());
    use_runtime_folder("file");
    kt_write(kt_path("file/kernsight"), "");
    assert_true(is_elsewhere());
}

static void a_folder_of_another_user_is_not_used(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip(); /* only root can make one */
    }
    use_runtime_folder("theirs");
    assert_int_equal(mkdir(kt_path("theirs/kernsight"), 0700), 0);
    assert_int_equal(chown(kt_path("theirs/kernsight"), 12345, (gid_t)-1), 0);
    assert_true(is_elsewhere());
    use_runtime_folder("parent");
    assert_int_equal(chown(kt_path("parent"), 12345, (gid_t)-1), 0);
    assert_true(is_elsewhere());
    assert_int_not_equal(access(kt_path("parent/kernsight"), F_OK), 0);
}

static void without_a_file_nobody_is_waited_for(void **state)
{
    (void)state;
    char holder[KS_TURN_HOLDER_MAX];
    ks_turn *turn = take("no/file");
    assert_false(ks_turn_wanted(turn));
    assert_false(ks_turn_holder("no/file", holder));
    ks_turn_give(turn);
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static void a_run_waits_until_the_next_run_of_another_process_ends(void **state)
{
    (void)state;
    peer p = start_peer(NULL);
    ask(TIME);
    measure(one_kernel, NULL);
    assert_true(ks_profilers_held());
    measure(one_kernel, NULL);
    assert_true(ks_profilers_held()); /* nobody wants them */
    tell(&p, 'r');
    while (!ks_profilers_wanted()) {
        pause_a_little();
    }
    measure(one_kernel, NULL);
    assert_false(ks_profilers_held());
    hear_yes(&p); /* and now holds them */
    let(&p, 'b');
    measure(one_kernel, NULL);
    assert_true(ks_profilers_held());
    end_peer(&p);
}

static void contexts_of_a_device_share_its_turn(void **state)
{
    (void)state;
    char holder[KS_TURN_HOLDER_MAX];
    ask(TIME);
    measure(one_kernel, NULL);
    ks_cuda_context other = fake_new_context(0);
    const ks_cuda *cuda = NULL;
    KT_OK(ks_cuda_get(&cuda, &err));
    assert_int_equal(cuda->push_context(other), 0);
    measure(one_kernel, NULL);
    assert_int_equal(profilers(), 1); /* one of them has counters at a time */
    assert_true(ks_turn_holder(GPU_0, holder));
    KT_OK(ks_release(&err));
    assert_false(ks_turn_holder(GPU_0, holder));
    assert_int_equal(cuda->pop_context(&other), 0);
}

static void a_run_that_fails_to_have_counters_keeps_no_turn(void **state)
{
    (void)state;
    char holder[KS_TURN_HOLDER_MAX];
    fake_script("cuptiRangeProfilerStart=26");
    ask(TIME);
    measure_in_vain(one_kernel, NULL, KS_EBUSY, "26");
    assert_false(ks_turn_holder(GPU_0, holder));
}

static void *cancel_when_it_waits(void *arg)
{
    let(arg, 'w');
    ks_plan_cancel(plan);
    return NULL;
}

static void a_run_that_waits_can_be_cancelled(void **state)
{
    (void)state;
    pthread_t thread;
    peer p = start_peer(NULL);
    let(&p, 't');
    ask(TIME);
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_it_waits, &p), 0);
    measure_in_vain(one_kernel, NULL, KS_ECANCELED, "cancelled");
    pthread_join(thread, NULL);
    let(&p, 'g');
    measure(one_kernel, NULL);
    end_peer(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(one_process_has_the_turn_and_the_error_names_it),
        T(who_waits_has_it_when_it_is_given_back),
        T(who_gives_it_back_cannot_get_ahead_of_who_waits),
        T(several_that_wait_all_have_it_in_the_end),
        T(a_process_that_is_killed_gives_it_back),
        T(devices_have_turns_of_their_own),
        T(a_process_has_it_until_it_gave_it_as_often_as_it_took_it),
        T(waiting_can_be_cancelled),
        T(nothing_is_done_without_a_turn),
        T(a_forked_child_cannot_give_its_parents_turn),
        T(a_forked_child_does_not_keep_its_parents_turn),
        T(the_folder_is_private),
        T(a_folder_that_others_may_use_is_not_used),
        T(a_link_or_a_file_in_its_place_is_not_used),
        T(a_folder_of_another_user_is_not_used),
        T(without_a_file_nobody_is_waited_for),
        T(a_run_waits_until_the_next_run_of_another_process_ends),
        T(contexts_of_a_device_share_its_turn),
        T(a_run_that_fails_to_have_counters_keeps_no_turn),
        T(a_run_that_waits_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
