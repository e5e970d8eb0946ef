/* A libnvidia-ml.so.1 with the GPUs of the scene, for the real pynvml to load. */
#include "sensors.h"

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3 };

static int started;

static int is_gpu(const Source *s) { return s->model[0] != 0; }

static Source *alive(void *device, int *status) {
    Source *s = device;
    *status = !started ? UNINITIALIZED : lab_gone(s, lab_now()) ? s->fails_with : SUCCESS;
    if (*status == SUCCESS) lab_delay(s);
    return s;
}

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    lab_load();
    if (lab.nvml_init) return lab.nvml_init;
    started++;
    return SUCCESS;
}

int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

int nvmlShutdown(void) {
    if (!started) return UNINITIALIZED;
    started--;
    return SUCCESS;
}

const char *nvmlErrorString(int status) {
    switch (status) {
    case SUCCESS: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case NOT_SUPPORTED: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    default: return "Unknown Error";
    }
}

int nvmlSystemGetDriverVersion(char *version, unsigned size) {
    snprintf(version, size, "550.54.14");
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    int i;
    *count = 0;
    for (i = 0; i < lab.sources; i++) *count += (unsigned)is_gpu(&lab.source[i]);
    return started ? SUCCESS : UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    int i;
    for (i = 0; i < lab.sources; i++)
        if (is_gpu(&lab.source[i]) && index-- == 0) { *device = &lab.source[i]; return SUCCESS; }
    return INVALID_ARGUMENT;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size) {
    snprintf(name, size, "%s", ((Source *)device)->model);
    return SUCCESS;
}

int nvmlDeviceGetArchitecture(void *device, unsigned *architecture) {
    *architecture = (unsigned)((Source *)device)->architecture;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees) {
    int status;
    Source *s = alive(device, &status);
    (void)sensor;
    if (status) return status;
    if (!s->temperature) return NOT_SUPPORTED;
    *degrees = (unsigned)s->temperature;
    return SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
    int status;
    Source *s = alive(device, &status);
    if (status) return status;
    if (!s->has_energy) return NOT_SUPPORTED;
    *millijoules = (unsigned long long)(lab_counted(s, lab_now()) * 1e3);
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    int status;
    Source *s = alive(device, &status);
    if (status) return status;
    if (!s->has_power) return NOT_SUPPORTED;
    *milliwatts = (unsigned)(lab_mean_watts(s, lab_now()) * 1e3 + 0.5);
    return SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
    int status;
    Source *s = alive(device, &status);
    if (status) return status;
    if (s->limit <= 0) return NOT_SUPPORTED;
    *milliwatts = (unsigned)(s->limit * 1e3 + 0.5);
    return SUCCESS;
}
