/* What NVML tells of GPUs: heat, clocks, energy. Time passes when a test says so. */
#include "fakes/nvidia/internal.h"

#include <math.h>

static const fake_board usual = {.temperature = 40,
                                 .margin = 40,
                                 .watts = 200,
                                 .update_ms = 100,
                                 .sm_mhz = 1980,
                                 .memory_mhz = 3201};

static fake_board boards[DEVICES_MAX];
static double used_j[DEVICES_MAX]; /* of the counter's last move */
static double moved_s[DEVICES_MAX];
static double now_s;

void fake_forget_boards_locked(void)
{
    now_s = 0.0;
    for (int i = 0; i < DEVICES_MAX; i++) {
        boards[i] = usual;
        used_j[i] = 1e6; /* as if it had run for a while */
        moved_s[i] = 0.0;
    }
}

__attribute__((constructor)) static void begin(void)
{
    fake_forget_boards_locked();
}

fake_board *fake_board_of(int device)
{
    return &boards[device];
}

unsigned long long fake_now_ns(void)
{
    fake_lock();
    double seconds = now_s;
    fake_unlock();
    return 1000000000ull + (unsigned long long)(seconds * 1e9 + 0.5);
}

void fake_pass(double seconds)
{
    fake_lock();
    now_s += seconds;
    for (int i = 0; i < DEVICES_MAX; i++) {
        double step = boards[i].update_ms / 1e3;
        double moves = step > 0.0 ? floor((now_s - moved_s[i]) / step + 1e-6) : 0.0;
        used_j[i] += moves * step * boards[i].watts;
        moved_s[i] += moves * step;
        boards[i].margin += seconds * boards[i].cooling;
    }
    fake_unlock();
}

double fake_energy_locked(int device)
{
    return used_j[device] * 1e3;
}
