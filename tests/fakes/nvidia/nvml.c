/* libnvidia-ml: what manages devices. */
#include "collect/nvidia/abi_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/nvidia/internal.h"

#define DECLARE(type, member, arguments, name) \
    FAKE_EXPORT type nvml_##member arguments __asm__(#name);
KS_NVML_FUNCTIONS(DECLARE)
KS_NVML_OPTIONAL_FUNCTIONS(DECLARE)
#undef DECLARE

enum {
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    MISMATCH = 18,
    VERSION_MISMATCH = 25,
    WHOLE_DIVIDED = 1, /* of `mig` in the script */
    PART = 2,
    CANNOT = 3
};

struct ks_nvml_device_st {
    int number;
    bool part;
};

static struct ks_nvml_device_st wholes[DEVICES_MAX];
static struct ks_nvml_device_st parts[DEVICES_MAX];

__attribute__((constructor)) static void number_devices(void)
{
    for (int i = 0; i < DEVICES_MAX; i++) {
        wholes[i].number = parts[i].number = i;
        parts[i].part = true;
    }
}

ks_nvml_result nvml_init(void)
{
    ENTER("nvmlInit_v2");
    return 0;
}

const char *nvml_error_string(ks_nvml_result result)
{
    return result == MISMATCH                ? "Driver/library version mismatch"
           : result == NOT_SUPPORTED         ? "Not Supported"
           : result == KS_NVML_NO_PERMISSION ? "Insufficient Permissions"
                                             : "Some Error";
}

ks_nvml_result nvml_driver_version(char *to, unsigned size)
{
    ENTER("nvmlSystemGetDriverVersion");
    fake_lock();
    snprintf(to, size, "%s", fake_set.driver);
    fake_unlock();
    return 0;
}

ks_nvml_result nvml_device(const char *uuid, ks_nvml_device *out)
{
    ENTER("nvmlDeviceGetHandleByUUID");
    fake_lock();
    bool divided = fake_set.mig == PART;
    long devices = fake_set.devices;
    fake_unlock();
    size_t length = strlen(uuid);
    long number = length > 2 ? strtol(uuid + length - 2, NULL, 16) : devices;
    if (strncmp(uuid, divided ? "MIG-" : "GPU-", 4) != 0 || number >= devices) {
        return NOT_FOUND;
    }
    *out = divided ? &parts[number] : &wholes[number];
    return 0;
}

ks_nvml_result nvml_mig_mode(ks_nvml_device device, unsigned *now, unsigned *after_reset)
{
    ENTER("nvmlDeviceGetMigMode");
    fake_lock();
    bool cannot = device->part || fake_set.mig == CANNOT;
    *now = *after_reset = fake_set.mig == WHOLE_DIVIDED;
    fake_unlock();
    return cannot ? NOT_SUPPORTED : 0;
}

ks_nvml_result nvml_whole(ks_nvml_device part, ks_nvml_device *out)
{
    ENTER("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
    *out = &wholes[part->number];
    return part->part ? 0 : INVALID_ARGUMENT;
}

/* Parts have no sensors, clocks and meters of their own. */
#define ENTER_BOARD(function, device)                          \
    ENTER(function);                                           \
    const fake_board *board = fake_board_of((device)->number); \
    if ((device)->part) {                                      \
        return NOT_SUPPORTED;                                  \
    }

ks_nvml_result nvml_clock(ks_nvml_device device, ks_nvml_clock which, unsigned *mhz)
{
    ENTER_BOARD("nvmlDeviceGetClockInfo", device);
    *mhz = which == KS_NVML_CLOCK_MEMORY ? board->memory_mhz : board->sm_mhz;
    return 0;
}

ks_nvml_result nvml_temperature(ks_nvml_device device, ks_nvml_sensor sensor, unsigned *celsius)
{
    ENTER_BOARD("nvmlDeviceGetTemperature", device);
    *celsius = board->temperature;
    return sensor == KS_NVML_SENSOR_GPU ? 0 : NOT_SUPPORTED;
}

ks_nvml_result nvml_margin(ks_nvml_device device, ks_nvml_margin *margin)
{
    ENTER_BOARD("nvmlDeviceGetMarginTemperature", device);
    fake_lock();
    margin->celsius = fake_set.margin != 0 ? (int)fake_set.margin : (int)board->margin;
    fake_unlock();
    return margin->version == KS_NVML_MARGIN_VERSION ? 0 : VERSION_MISMATCH;
}

ks_nvml_result nvml_energy(ks_nvml_device device, ks_nvml_u64 *mj)
{
    ENTER_BOARD("nvmlDeviceGetTotalEnergyConsumption", device);
    fake_pass(board->reading_s);
    fake_lock();
    *mj = (ks_nvml_u64)(fake_energy_locked(device->number) + (board->watts >= 0.0 ? 0.5 : 0.0));
    fake_unlock();
    return 0;
}

ks_nvml_result nvml_reasons(ks_nvml_device device, ks_nvml_u64 *reasons)
{
    ENTER_BOARD("nvmlDeviceGetCurrentClocksThrottleReasons", device);
    *reasons = board->reasons;
    return 0;
}

ks_nvml_result nvml_violation(ks_nvml_device device, ks_nvml_policy policy,
                              ks_nvml_violation *violation)
{
    ENTER_BOARD("nvmlDeviceGetViolationStatus", device);
    violation->held_ns = policy == KS_NVML_POLICY_POWER     ? board->power_held_ns
                         : policy == KS_NVML_POLICY_THERMAL ? board->heat_held_ns
                                                            : 0;
    return 0;
}

ks_nvml_result nvml_lock_clocks(ks_nvml_device device, unsigned min_mhz, unsigned max_mhz)
{
    ENTER("nvmlDeviceSetGpuLockedClocks");
    fake_board *board = fake_board_of(device->number);
    if (device->part) {
        return NOT_SUPPORTED;
    }
    board->locked_min = min_mhz;
    board->locked_max = max_mhz;
    return 0;
}

ks_nvml_result nvml_unlock_clocks(ks_nvml_device device)
{
    ENTER("nvmlDeviceResetGpuLockedClocks");
    fake_board *board = fake_board_of(device->number);
    board->locked_min = board->locked_max = 0;
    return 0;
}
