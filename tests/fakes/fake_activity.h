/*
 * CUPTI's activity API and a GPU, imagined: kernels run one after the other, time goes on by what
 * is done, and records come through the buffers as they do from the library.
 */
#ifndef FAKE_ACTIVITY_H
#define FAKE_ACTIVITY_H

#include "collect/nvidia/tracing/api.h"

typedef struct fake_activity_script {
    const char *absent;   /* nothing here, says the machine */
    bool no_library;      /* connect() fails */
    bool others_listen;   /* another tool is subscribed */
    uint32_t wanted;      /* kinds of records that another tool wants */
    bool old;             /* the library does not tell that */
    bool stolen;          /* another tool has put in its own callbacks */
    double rate;          /* of CUPTI's clock; 0: 1 */
    uint64_t offset;      /* of the times in records to CUPTI's clock, ns */
    uint64_t kernels_off; /* likewise of kernels alone */
    size_t room;          /* records that there is room for, then they are lost; 0: any number */
    bool untimed;         /* kernels have no times */
    int broken;           /* a number from 1: this function fails (FAKE_*) */
    uint16_t registers;   /* of kernels, in their records */
    int shared[2];        /* likewise: static, dynamic */
    uint32_t local;       /* likewise */
    int device;           /* what a wait for it gives from now on; 0: it works */
} fake_activity_script;

enum {
    FAKE_REGISTER = 1,
    FAKE_ENABLE,
    FAKE_FLUSH,
    FAKE_NEXT
};

typedef struct fake_activity_state {
    fake_activity_script script;
    uint64_t now;         /* ns of the steady clock */
    uint64_t gpu;         /* until when the GPU is busy */
    unsigned enabled;     /* bits by kind */
    size_t records;       /* since the beginning */
    unsigned lent;        /* buffers that CUPTI has */
    unsigned registered;  /* how often callbacks were */
    uint32_t correlation; /* of the last call */
} fake_activity_state;

extern fake_activity_state fake_activity;

/** Begin anew, with the calling thread's ids forgotten, and put the table in use. */
void fake_activity_reset(fake_activity_script script);

/** Launch a kernel that runs for so long, once those before it are done. */
void fake_gpu_kernel(const char *name, uint64_t ns);
/** Launch a graph of so many kernels. */
void fake_gpu_graph(unsigned kernels, uint64_t ns);
/** Launch a kernel in a context that nobody waits for: its record comes with the next call's. */
void fake_gpu_elsewhere(const char *name, uint64_t ns);
/** Launch a kernel into a graph that is being captured. */
void fake_gpu_capture(void);
/** A call of the driver that copies memory. */
void fake_gpu_copy(void);
/** A call that launches nothing. */
void fake_gpu_call(void);
/** The program computes for so long. */
void fake_gpu_think(uint64_t ns);
/** Ids that the calling thread has. */
unsigned fake_gpu_ids(void);

#endif
