#include "collect/nvidia/flush.h"

#include "base/error.h"
#include "collect/nvidia/refusal.h"

/* Reads `count` groups of 16 bytes past the L1 cache, four at once while there are as many. The
 * buffer is all zeros, so that the store is never made; it is there so that the loads are. */
static const char source[] = ".version 6.3\n"
                             ".target sm_70\n"
                             ".address_size 64\n"
                             ".visible .entry ks_flush_l2(.param .u64 data, .param .u64 count)\n"
                             "{\n"
                             "  .reg .pred %p<2>;\n"
                             "  .reg .b32 %r<20>;\n"
                             "  .reg .b64 %d<9>;\n"
                             "  ld.param.u64 %d0, [data];\n"
                             "  cvta.to.global.u64 %d0, %d0;\n"
                             "  ld.param.u64 %d1, [count];\n"
                             "  mov.u32 %r0, %ctaid.x;\n"
                             "  mov.u32 %r1, %ntid.x;\n"
                             "  mov.u32 %r2, %tid.x;\n"
                             "  cvt.u64.u32 %d3, %r2;\n"
                             "  mul.wide.u32 %d2, %r0, %r1;\n"
                             "  add.u64 %d2, %d2, %d3;\n"
                             "  mov.u32 %r3, %nctaid.x;\n"
                             "  mul.wide.u32 %d4, %r3, %r1;\n"
                             "  shl.b64 %d5, %d2, 4;\n"
                             "  add.u64 %d5, %d0, %d5;\n"
                             "  shl.b64 %d6, %d4, 4;\n"
                             "  mul.lo.u64 %d7, %d4, 3;\n"
                             "  mov.u32 %r4, 0;\n"
                             "four:\n"
                             "  add.u64 %d8, %d2, %d7;\n"
                             "  setp.ge.u64 %p0, %d8, %d1;\n"
                             "  @%p0 bra one;\n"
                             "  ld.global.cg.v4.u32 {%r5, %r6, %r7, %r8}, [%d5];\n"
                             "  add.u64 %d5, %d5, %d6;\n"
                             "  ld.global.cg.v4.u32 {%r9, %r10, %r11, %r12}, [%d5];\n"
                             "  add.u64 %d5, %d5, %d6;\n"
                             "  ld.global.cg.v4.u32 {%r13, %r14, %r15, %r16}, [%d5];\n"
                             "  add.u64 %d5, %d5, %d6;\n"
                             "  ld.global.cg.v4.u32 {%r17, %r18, %r19, %r0}, [%d5];\n"
                             "  add.u64 %d5, %d5, %d6;\n"
                             "  add.u64 %d2, %d8, %d4;\n"
                             "  or.b32 %r5, %r5, %r6;\n"
                             "  or.b32 %r7, %r7, %r8;\n"
                             "  or.b32 %r9, %r9, %r10;\n"
                             "  or.b32 %r11, %r11, %r12;\n"
                             "  or.b32 %r13, %r13, %r14;\n"
                             "  or.b32 %r15, %r15, %r16;\n"
                             "  or.b32 %r17, %r17, %r18;\n"
                             "  or.b32 %r19, %r19, %r0;\n"
                             "  or.b32 %r5, %r5, %r7;\n"
                             "  or.b32 %r9, %r9, %r11;\n"
                             "  or.b32 %r13, %r13, %r15;\n"
                             "  or.b32 %r17, %r17, %r19;\n"
                             "  or.b32 %r5, %r5, %r9;\n"
                             "  or.b32 %r13, %r13, %r17;\n"
                             "  or.b32 %r4, %r4, %r5;\n"
                             "  or.b32 %r4, %r4, %r13;\n"
                             "  bra four;\n"
                             "one:\n"
                             "  setp.ge.u64 %p0, %d2, %d1;\n"
                             "  @%p0 bra end;\n"
                             "  ld.global.cg.v4.u32 {%r5, %r6, %r7, %r8}, [%d5];\n"
                             "  add.u64 %d5, %d5, %d6;\n"
                             "  add.u64 %d2, %d2, %d4;\n"
                             "  or.b32 %r5, %r5, %r6;\n"
                             "  or.b32 %r7, %r7, %r8;\n"
                             "  or.b32 %r5, %r5, %r7;\n"
                             "  or.b32 %r4, %r4, %r5;\n"
                             "  bra one;\n"
                             "end:\n"
                             "  setp.ne.u32 %p1, %r4, 0;\n"
                             "  @%p1 st.global.u32 [%d0], %r4;\n"
                             "  ret;\n"
                             "}\n";

enum {
    THREADS = 512,
    BLOCKS_PER_SM = 4
};

static ks_cuda_result init(ks_flush *f, ks_cuda_device device)
{
    const ks_cuda *cuda = f->cuda;
    int sms = 0;
    int l2_bytes = 0;
    ks_cuda_result result = cuda->attribute(&sms, KS_CUDA_SM_COUNT, device);
    result = result != 0 ? result : cuda->attribute(&l2_bytes, KS_CUDA_L2_BYTES, device);
    f->bytes = 2 * (size_t)l2_bytes;
    f->blocks = (unsigned)sms * BLOCKS_PER_SM;
    result = result != 0 ? result : cuda->module_load(&f->module, source);
    result = result != 0 ? result : cuda->module_function(&f->kernel, f->module, "ks_flush_l2");
    result = result != 0 ? result : cuda->alloc(&f->buffer, f->bytes);
    return result != 0 ? result : cuda->memset(f->buffer, 0, f->bytes);
}

ks_status ks_flush_init(const ks_cuda *cuda, ks_cuda_device device, ks_flush *out, ks_error *err)
{
    *out = (ks_flush){.cuda = cuda};
    ks_cuda_result result = init(out, device);
    if (result != 0) {
        ks_flush_fini(out);
        return ks_cuda_fail(cuda, result,
                            "cannot prepare to sweep the GPU's caches (cache control can be turned "
                            "off, KS_CACHE_NONE)",
                            err);
    }
    return KS_OK;
}

void ks_flush_fini(ks_flush *flush)
{
    if (flush->buffer != 0) {
        flush->cuda->free(flush->buffer);
    }
    if (flush->module != NULL) {
        flush->cuda->module_unload(flush->module);
    }
    *flush = (ks_flush){0};
}

ks_cuda_result ks_flush_launch(const ks_flush *flush, ks_cuda_stream stream)
{
    ks_cuda_address data = flush->buffer;
    unsigned long long count = flush->bytes / 16;
    void *arguments[] = {&data, &count};
    return flush->cuda->launch(flush->kernel, flush->blocks, 1, 1, THREADS, 1, 1, 0, stream,
                               arguments, NULL);
}
