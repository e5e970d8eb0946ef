/* Sensors whose truth is scripted: one text file, written by scene.py, drives all of them.
 *
 * Each source has a waveform (watts over seconds since the start of the script, straight lines between points) and
 * the habits of its sensor: when it updates, over what it averages, how it errs, when it stops answering. Everything
 * follows from the script and the clock, so that every process that asks sees the same sensor.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_SOURCES 32
#define MAX_WORKERS 256

typedef struct {
    char name[64], path[512], model[96], fails_when[512];
    int perf_config, perf_cpu, denied, fails_with, has_energy, has_power, architecture, temperature, points;
    double update, jitter, window, noise, gain, quantum, offset, wrap, fails_at, latency, limit;
    double *seconds, *watts, *joules;
    double busy_watts;
    long walked, worked;
    double walk, work, highest;
} Source;

/* Processes of the scene, for sources that answer real work. */
static struct { int pid; double seconds; } lab_worker[MAX_WORKERS];
static int lab_workers;
static double lab_looked = -1e9;

static struct {
    int loaded, sources, perf_type, perf_denied, perf_closed, nvml_init;
    long long start_ns;
    Source source[MAX_SOURCES];
} lab;

static double lab_number(const char *line, const char *key, double *into) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) == 0 && line[length] == ' ') { *into = atof(line + length + 1); return 1; }
    return 0;
}

static void lab_text(const char *line, const char *key, char *into, size_t size) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) == 0 && line[length] == ' ') {
        snprintf(into, size, "%s", line + length + 1);
        into[strcspn(into, "\n")] = 0;
    }
}

static void lab_source_line(Source *s, const char *line) {
    double number, watts;
    lab_text(line, "path", s->path, sizeof s->path);
    lab_text(line, "model", s->model, sizeof s->model);
    lab_text(line, "fails_when", s->fails_when, sizeof s->fails_when);
    lab_number(line, "update", &s->update);
    lab_number(line, "jitter", &s->jitter);
    lab_number(line, "window", &s->window);
    lab_number(line, "noise", &s->noise);
    lab_number(line, "gain", &s->gain);
    lab_number(line, "quantum", &s->quantum);
    lab_number(line, "offset", &s->offset);
    lab_number(line, "limit", &s->limit);
    lab_number(line, "wrap", &s->wrap);
    lab_number(line, "fails_at", &s->fails_at);
    lab_number(line, "latency", &s->latency);
    lab_number(line, "busy_watts", &s->busy_watts);
    if (lab_number(line, "fails_with", &number)) s->fails_with = (int)number;
    if (lab_number(line, "denied", &number)) s->denied = (int)number;
    if (lab_number(line, "perf_config", &number)) s->perf_config = (int)number;
    if (lab_number(line, "perf_cpu", &number)) s->perf_cpu = (int)number;
    if (lab_number(line, "has_energy", &number)) s->has_energy = (int)number;
    if (lab_number(line, "has_power", &number)) s->has_power = (int)number;
    if (lab_number(line, "architecture", &number)) s->architecture = (int)number;
    if (lab_number(line, "temperature", &number)) s->temperature = (int)number;
    if (sscanf(line, "point %lf %lf", &number, &watts) == 2) {
        int n = s->points++;
        s->seconds = realloc(s->seconds, sizeof(double) * s->points);
        s->watts = realloc(s->watts, sizeof(double) * s->points);
        s->joules = realloc(s->joules, sizeof(double) * s->points);
        s->seconds[n] = number;
        s->watts[n] = watts;
        s->joules[n] = n ? s->joules[n - 1] + (number - s->seconds[n - 1]) * (watts + s->watts[n - 1]) / 2 : 0;
    }
}

static void lab_load(void) {
    const char *script = getenv("ENERGY_LAB_SCRIPT");
    char line[700];
    double number;
    Source *s = NULL;
    FILE *file;
    if (lab.loaded) return;
    lab.loaded = 1;
    file = script ? fopen(script, "r") : NULL;
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "source ", 7) == 0 && lab.sources < MAX_SOURCES) {
            s = &lab.source[lab.sources++];
            s->gain = 1;
            s->fails_at = INFINITY;
            lab_text(line, "source", s->name, sizeof s->name);
        }
        if (strncmp(line, "start_ns ", 9) == 0) lab.start_ns = atoll(line + 9);
        if (lab_number(line, "perf_type", &number)) lab.perf_type = (int)number;
        if (lab_number(line, "perf_denied", &number)) lab.perf_denied = (int)number;
        if (lab_number(line, "perf_closed", &number)) lab.perf_closed = (int)number;
        if (lab_number(line, "nvml_init", &number)) lab.nvml_init = (int)number;
        if (s) lab_source_line(s, line);
    }
    fclose(file);
}

static double lab_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)((long long)t.tv_sec * 1000000000LL + t.tv_nsec - lab.start_ns) * 1e-9;
}

static int lab_segment(const Source *s, double at) {
    int low = 0, high = s->points - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (s->seconds[middle] <= at) low = middle; else high = middle - 1;
    }
    return low;
}

static double lab_watts(const Source *s, double at) {
    int i = lab_segment(s, at);
    if (at <= s->seconds[0] || i == s->points - 1) return s->watts[i];
    return s->watts[i] + (at - s->seconds[i]) / (s->seconds[i + 1] - s->seconds[i]) * (s->watts[i + 1] - s->watts[i]);
}

/* True joules since the first point. */
static double lab_joules(const Source *s, double at) {
    int i = lab_segment(s, at);
    if (at <= s->seconds[0]) return (at - s->seconds[0]) * s->watts[0];
    return s->joules[i] + (at - s->seconds[i]) * (s->watts[i] + lab_watts(s, at)) / 2;
}

/* A number from 0 to 1 that depends on nothing but the source and the update. */
static double lab_hash(const Source *s, uint64_t k, uint64_t salt) {
    uint64_t x = k * 0x9E3779B97F4A7C15ULL + salt * 0xD1B54A32D192ED03ULL + (uint64_t)(s - lab.source) * 0x2545F491ULL;
    x ^= x >> 33; x *= 0xFF51AFD7ED558CCDULL; x ^= x >> 33; x *= 0xC4CEB9FE1A85EC53ULL; x ^= x >> 33;
    return (double)(x >> 11) / 9007199254740992.0;
}

static double lab_normal(const Source *s, uint64_t k) {
    return sqrt(-2 * log(1 - lab_hash(s, k, 1))) * cos(6.283185307179586 * lab_hash(s, k, 2));
}

static double lab_moment(const Source *s, long k) {
    return ((double)k + s->jitter * lab_hash(s, (uint64_t)k, 3)) * s->update;
}

/* The number of the last update before a time. */
static long lab_update(const Source *s, double at) {
    long k = (long)floor(at / s->update);
    return lab_moment(s, k) > at ? k - 1 : k;
}

static void lab_look_for_workers(double now) {
    const char *folder = getenv("ENERGY_LAB_WORKERS");
    DIR *directory = folder && now - lab_looked > 0.02 ? opendir(folder) : NULL;
    struct dirent *entry;
    int i, pid;
    if (!directory) return;
    lab_looked = now;
    while ((entry = readdir(directory))) {
        if (!(pid = atoi(entry->d_name))) continue;
        for (i = 0; i < lab_workers && lab_worker[i].pid != pid; i++) {}
        if (i == lab_workers && i < MAX_WORKERS) lab_worker[lab_workers++].pid = pid;
    }
    closedir(directory);
}

/* CPU seconds that the processes of the scene have used, ended ones included. */
static double lab_cpu_seconds(double now) {
    double sum = 0;
    int i;
    lab_look_for_workers(now);
    for (i = 0; i < lab_workers; i++) {
        struct timespec t;
        if (clock_gettime((clockid_t)(~(unsigned)lab_worker[i].pid << 3 | 2), &t) == 0)
            lab_worker[i].seconds = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
        sum += lab_worker[i].seconds;
    }
    return sum;
}

/* What the counter has counted: the truth at its last update, plus white noise of the power. */
static double lab_counted(Source *s, double at) {
    long k = lab_update(s, at);
    double counted;
    for (; s->walked < k; s->walked++)
        s->walk += s->noise * lab_watts(s, lab_moment(s, s->walked)) * sqrt(0.05 * s->update) * lab_normal(s, (uint64_t)s->walked);
    if (s->busy_watts > 0 && k != s->worked) {
        s->work = s->busy_watts * lab_cpu_seconds(at);
        s->worked = k;
    }
    counted = s->gain * (lab_joules(s, lab_moment(s, k)) + s->walk + s->work);
    if (counted > s->highest) s->highest = counted;
    counted = s->highest + s->offset;
    return s->quantum > 0 ? floor(counted / s->quantum) * s->quantum : counted;
}

/* What a power sensor shows: the mean over its window before its last update. */
static double lab_mean_watts(Source *s, double at) {
    long k = lab_update(s, at);
    double end = lab_moment(s, k), mean = (lab_joules(s, end) - lab_joules(s, end - s->window)) / s->window;
    return s->gain * mean * (1 + s->noise * lab_normal(s, (uint64_t)k));
}

/* Whether the device is gone: since a time of the script, or since a file appeared. */
static int lab_gone(const Source *s, double at) {
    return at >= s->fails_at || (s->fails_when[0] && access(s->fails_when, F_OK) == 0);
}

static void lab_delay(const Source *s) {
    struct timespec t = {(time_t)s->latency, (long)((s->latency - floor(s->latency)) * 1e9)};
    if (s->latency > 0) nanosleep(&t, NULL);
}
