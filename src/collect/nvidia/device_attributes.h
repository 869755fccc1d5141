/*
 * Attributes of a device by the driver's numbers: X(NAME, number, "name", "description"). They are
 * the driver's CU_DEVICE_ATTRIBUTE_NAME, and ncu's metrics device__attribute_name.
 */
#ifndef KS_COLLECT_NVIDIA_DEVICE_ATTRIBUTES_H
#define KS_COLLECT_NVIDIA_DEVICE_ATTRIBUTES_H

// a line each
// clang-format off
#define KS_CUDA_DEVICE_ATTRIBUTES(X) \
    X(MAX_THREADS_PER_BLOCK, 1, "max_threads_per_block", "Most threads of a block") \
    X(MAX_BLOCK_DIM_X, 2, "max_block_dim_x", "Largest x of a block") \
    X(MAX_BLOCK_DIM_Y, 3, "max_block_dim_y", "Largest y of a block") \
    X(MAX_BLOCK_DIM_Z, 4, "max_block_dim_z", "Largest z of a block") \
    X(MAX_GRID_DIM_X, 5, "max_grid_dim_x", "Largest x of a grid") \
    X(MAX_GRID_DIM_Y, 6, "max_grid_dim_y", "Largest y of a grid") \
    X(MAX_GRID_DIM_Z, 7, "max_grid_dim_z", "Largest z of a grid") \
    X(MAX_SHARED_MEMORY_PER_BLOCK, 8, "max_shared_memory_per_block", "Bytes of shared memory that a block may have without asking for more") \
    X(TOTAL_CONSTANT_MEMORY, 9, "total_constant_memory", "Bytes of constant memory for a kernel's __constant__ variables") \
    X(WARP_SIZE, 10, "warp_size", "Threads of a warp") \
    X(MAX_PITCH, 11, "max_pitch", "Largest pitch of a copy in bytes") \
    X(MAX_REGISTERS_PER_BLOCK, 12, "max_registers_per_block", "Most 32-bit registers of a block") \
    X(CLOCK_RATE, 13, "clock_rate", "Top clock of the SMs in kHz") \
    X(TEXTURE_ALIGNMENT, 14, "texture_alignment", "Alignment of textures in bytes") \
    X(GPU_OVERLAP, 15, "gpu_overlap", "1: copies and kernels may overlap") \
    X(MULTIPROCESSOR_COUNT, 16, "multiprocessor_count", "SMs") \
    X(KERNEL_EXEC_TIMEOUT, 17, "kernel_exec_timeout", "1: kernels that run too long are ended") \
    X(INTEGRATED, 18, "integrated", "1: shares its memory with the host") \
    X(CAN_MAP_HOST_MEMORY, 19, "can_map_host_memory", "1: host memory can be mapped") \
    X(COMPUTE_MODE, 20, "compute_mode", "Compute mode, 0: any process may use it") \
    X(MAXIMUM_TEXTURE1D_WIDTH, 21, "maximum_texture1d_width", "Largest 1D texture") \
    X(MAXIMUM_TEXTURE2D_WIDTH, 22, "maximum_texture2d_width", "Largest width of a 2D texture") \
    X(MAXIMUM_TEXTURE2D_HEIGHT, 23, "maximum_texture2d_height", "Largest height of a 2D texture") \
    X(MAXIMUM_TEXTURE3D_WIDTH, 24, "maximum_texture3d_width", "Largest width of a 3D texture") \
    X(MAXIMUM_TEXTURE3D_HEIGHT, 25, "maximum_texture3d_height", "Largest height of a 3D texture") \
    X(MAXIMUM_TEXTURE3D_DEPTH, 26, "maximum_texture3d_depth", "Largest depth of a 3D texture") \
    X(MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 27, "maximum_texture2d_layered_width", "Largest width of a layered 2D texture") \
    X(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 28, "maximum_texture2d_layered_height", "Largest height of a layered 2D texture") \
    X(MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 29, "maximum_texture2d_layered_layers", "Most layers of a layered 2D texture") \
    X(SURFACE_ALIGNMENT, 30, "surface_alignment", "Alignment of surfaces in bytes") \
    X(CONCURRENT_KERNELS, 31, "concurrent_kernels", "1: kernels may run at the same time") \
    X(ECC_ENABLED, 32, "ecc_enabled", "1: memory has ECC on") \
    X(PCI_BUS_ID, 33, "pci_bus_id", "PCI bus") \
    X(PCI_DEVICE_ID, 34, "pci_device_id", "PCI device, the slot's number") \
    X(TCC_DRIVER, 35, "tcc_driver", "1: driven by TCC (Windows)") \
    X(MEMORY_CLOCK_RATE, 36, "memory_clock_rate", "Top clock of the memory in kHz") \
    X(GLOBAL_MEMORY_BUS_WIDTH, 37, "global_memory_bus_width", "Width of the memory bus in bits") \
    X(L2_CACHE_SIZE, 38, "l2_cache_size", "Bytes of the L2 cache") \
    X(MAX_THREADS_PER_MULTIPROCESSOR, 39, "max_threads_per_multiprocessor", "Most threads on an SM") \
    X(ASYNC_ENGINE_COUNT, 40, "async_engine_count", "Engines that copy") \
    X(UNIFIED_ADDRESSING, 41, "unified_addressing", "1: one address space with the host") \
    X(MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 42, "maximum_texture1d_layered_width", "Largest width of a layered 1D texture") \
    X(MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 43, "maximum_texture1d_layered_layers", "Most layers of a layered 1D texture") \
    X(CAN_TEX2D_GATHER, 44, "can_tex2d_gather", "1: 2D textures can be gathered from") \
    X(MAXIMUM_TEXTURE2D_GATHER_WIDTH, 45, "maximum_texture2d_gather_width", "Largest width of a 2D texture that is gathered from") \
    X(MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 46, "maximum_texture2d_gather_height", "Largest height of a 2D texture that is gathered from") \
    X(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 47, "maximum_texture3d_width_alternate", "Largest width of a 3D texture of the other shape") \
    X(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 48, "maximum_texture3d_height_alternate", "Largest height of a 3D texture of the other shape") \
    X(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 49, "maximum_texture3d_depth_alternate", "Largest depth of a 3D texture of the other shape") \
    X(PCI_DOMAIN_ID, 50, "pci_domain_id", "PCI domain") \
    X(TEXTURE_PITCH_ALIGNMENT, 51, "texture_pitch_alignment", "Alignment of a texture's pitch in bytes") \
    X(MAXIMUM_TEXTURECUBEMAP_WIDTH, 52, "maximum_texturecubemap_width", "Largest cubemap texture") \
    X(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 53, "maximum_texturecubemap_layered_width", "Largest layered cubemap texture") \
    X(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 54, "maximum_texturecubemap_layered_layers", "Most layers of a layered cubemap texture") \
    X(MAXIMUM_SURFACE1D_WIDTH, 55, "maximum_surface1d_width", "Largest 1D surface") \
    X(MAXIMUM_SURFACE2D_WIDTH, 56, "maximum_surface2d_width", "Largest width of a 2D surface") \
    X(MAXIMUM_SURFACE2D_HEIGHT, 57, "maximum_surface2d_height", "Largest height of a 2D surface") \
    X(MAXIMUM_SURFACE3D_WIDTH, 58, "maximum_surface3d_width", "Largest width of a 3D surface") \
    X(MAXIMUM_SURFACE3D_HEIGHT, 59, "maximum_surface3d_height", "Largest height of a 3D surface") \
    X(MAXIMUM_SURFACE3D_DEPTH, 60, "maximum_surface3d_depth", "Largest depth of a 3D surface") \
    X(MAXIMUM_SURFACE1D_LAYERED_WIDTH, 61, "maximum_surface1d_layered_width", "Largest width of a layered 1D surface") \
    X(MAXIMUM_SURFACE1D_LAYERED_LAYERS, 62, "maximum_surface1d_layered_layers", "Most layers of a layered 1D surface") \
    X(MAXIMUM_SURFACE2D_LAYERED_WIDTH, 63, "maximum_surface2d_layered_width", "Largest width of a layered 2D surface") \
    X(MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 64, "maximum_surface2d_layered_height", "Largest height of a layered 2D surface") \
    X(MAXIMUM_SURFACE2D_LAYERED_LAYERS, 65, "maximum_surface2d_layered_layers", "Most layers of a layered 2D surface") \
    X(MAXIMUM_SURFACECUBEMAP_WIDTH, 66, "maximum_surfacecubemap_width", "Largest cubemap surface") \
    X(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 67, "maximum_surfacecubemap_layered_width", "Largest layered cubemap surface") \
    X(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 68, "maximum_surfacecubemap_layered_layers", "Most layers of a layered cubemap surface") \
    X(MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 69, "maximum_texture1d_linear_width", "Largest 1D texture in linear memory") \
    X(MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 70, "maximum_texture2d_linear_width", "Largest width of a 2D texture in linear memory") \
    X(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 71, "maximum_texture2d_linear_height", "Largest height of a 2D texture in linear memory") \
    X(MAXIMUM_TEXTURE2D_LINEAR_PITCH, 72, "maximum_texture2d_linear_pitch", "Largest pitch of a 2D texture in linear memory") \
    X(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 73, "maximum_texture2d_mipmapped_width", "Largest width of a 2D texture with mipmaps") \
    X(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 74, "maximum_texture2d_mipmapped_height", "Largest height of a 2D texture with mipmaps") \
    X(COMPUTE_CAPABILITY_MAJOR, 75, "compute_capability_major", "Compute capability, before the point") \
    X(COMPUTE_CAPABILITY_MINOR, 76, "compute_capability_minor", "Compute capability, behind the point") \
    X(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 77, "maximum_texture1d_mipmapped_width", "Largest 1D texture with mipmaps") \
    X(STREAM_PRIORITIES_SUPPORTED, 78, "stream_priorities_supported", "1: streams have priorities") \
    X(GLOBAL_L1_CACHE_SUPPORTED, 79, "global_l1_cache_supported", "1: L1 caches global memory") \
    X(LOCAL_L1_CACHE_SUPPORTED, 80, "local_l1_cache_supported", "1: L1 caches local memory") \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81, "max_shared_memory_per_multiprocessor", "Bytes of shared memory of an SM") \
    X(MAX_REGISTERS_PER_MULTIPROCESSOR, 82, "max_registers_per_multiprocessor", "32-bit registers of an SM") \
    X(MANAGED_MEMORY, 83, "managed_memory", "1: has managed memory") \
    X(MULTI_GPU_BOARD, 84, "multi_gpu_board", "1: on a board with other GPUs") \
    X(MULTI_GPU_BOARD_GROUP_ID, 85, "multi_gpu_board_group_id", "Number of the board, the same for all its GPUs") \
    X(HOST_NATIVE_ATOMIC_SUPPORTED, 86, "host_native_atomic_supported", "1: the link to the host has all native atomics") \
    X(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 87, "single_to_double_precision_perf_ratio", "Speed of single over double precision") \
    X(PAGEABLE_MEMORY_ACCESS, 88, "pageable_memory_access", "1: reads and writes pageable memory of the host") \
    X(CONCURRENT_MANAGED_ACCESS, 89, "concurrent_managed_access", "1: managed memory may be used by host and device at once") \
    X(COMPUTE_PREEMPTION_SUPPORTED, 90, "compute_preemption_supported", "1: kernels can be preempted") \
    X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91, "can_use_host_pointer_for_registered_mem", "1: registered host memory has the same address on the device") \
    X(CAN_USE_STREAM_MEM_OPS_V1, 92, "can_use_stream_mem_ops_v1", "1: the first memory operations of streams") \
    X(CAN_USE_64_BIT_STREAM_MEM_OPS_V1, 93, "can_use_64_bit_stream_mem_ops_v1", "1: their 64-bit form") \
    X(CAN_USE_STREAM_WAIT_VALUE_NOR_V1, 94, "can_use_stream_wait_value_nor_v1", "1: their wait for NOR") \
    X(COOPERATIVE_LAUNCH, 95, "cooperative_launch", "1: cooperative launches") \
    X(COOPERATIVE_MULTI_DEVICE_LAUNCH, 96, "cooperative_multi_device_launch", "1: cooperative launches on several devices") \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97, "max_shared_memory_per_block_optin", "Bytes of shared memory that a block may ask for") \
    X(CAN_FLUSH_REMOTE_WRITES, 98, "can_flush_remote_writes", "1: remote writes can be flushed by a stream") \
    X(HOST_REGISTER_SUPPORTED, 99, "host_register_supported", "1: host memory can be registered") \
    X(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100, "pageable_memory_access_uses_host_page_tables", "1: uses the host's page tables for pageable memory") \
    X(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 101, "direct_managed_mem_access_from_host", "1: the host reaches managed memory on the device") \
    X(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102, "virtual_memory_management_supported", "1: has virtual memory management") \
    X(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103, "handle_type_posix_file_descriptor_supported", "1: memory can be shared as a file descriptor") \
    X(HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 104, "handle_type_win32_handle_supported", "1: memory can be shared as a Windows handle") \
    X(HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED, 105, "handle_type_win32_kmt_handle_supported", "1: memory can be shared as a Windows KMT handle") \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR, 106, "max_blocks_per_multiprocessor", "Most blocks on an SM") \
    X(GENERIC_COMPRESSION_SUPPORTED, 107, "generic_compression_supported", "1: memory can be compressed") \
    X(MAX_PERSISTING_L2_CACHE_SIZE, 108, "max_persisting_l2_cache_size", "Most bytes of L2 for persisting accesses") \
    X(MAX_ACCESS_POLICY_WINDOW_SIZE, 109, "max_access_policy_window_size", "Largest access policy window in bytes") \
    X(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110, "gpu_direct_rdma_with_cuda_vmm_supported", "1: RDMA with virtual memory management") \
    X(RESERVED_SHARED_MEMORY_PER_BLOCK, 111, "reserved_shared_memory_per_block", "Bytes of shared memory that the driver takes of each block") \
    X(SPARSE_CUDA_ARRAY_SUPPORTED, 112, "sparse_cuda_array_supported", "1: sparse arrays") \
    X(READ_ONLY_HOST_REGISTER_SUPPORTED, 113, "read_only_host_register_supported", "1: host memory can be registered read-only") \
    X(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 114, "timeline_semaphore_interop_supported", "1: timeline semaphores") \
    X(MEMORY_POOLS_SUPPORTED, 115, "memory_pools_supported", "1: memory pools") \
    X(GPU_DIRECT_RDMA_SUPPORTED, 116, "gpu_direct_rdma_supported", "1: RDMA") \
    X(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117, "gpu_direct_rdma_flush_writes_options", "Ways to flush writes of RDMA, a bit each") \
    X(GPU_DIRECT_RDMA_WRITES_ORDERING, 118, "gpu_direct_rdma_writes_ordering", "How far writes of RDMA are in order") \
    X(MEMPOOL_SUPPORTED_HANDLE_TYPES, 119, "mempool_supported_handle_types", "Handles by which pools can be shared, a bit each") \
    X(CLUSTER_LAUNCH, 120, "cluster_launch", "1: launches with clusters") \
    X(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, 121, "deferred_mapping_cuda_array_supported", "1: arrays can be mapped later") \
    X(CAN_USE_64_BIT_STREAM_MEM_OPS, 122, "can_use_64_bit_stream_mem_ops", "1: 64-bit memory operations of streams") \
    X(CAN_USE_STREAM_WAIT_VALUE_NOR, 123, "can_use_stream_wait_value_nor", "1: streams can wait for NOR") \
    X(DMA_BUF_SUPPORTED, 124, "dma_buf_supported", "1: memory can be shared as a DMA buffer") \
    X(IPC_EVENT_SUPPORTED, 125, "ipc_event_supported", "1: events can be shared between processes") \
    X(MEM_SYNC_DOMAIN_COUNT, 126, "mem_sync_domain_count", "Memory domains") \
    X(TENSOR_MAP_ACCESS_SUPPORTED, 127, "tensor_map_access_supported", "1: tensor maps") \
    X(HANDLE_TYPE_FABRIC_SUPPORTED, 128, "handle_type_fabric_supported", "1: memory can be shared as a fabric handle") \
    X(UNIFIED_FUNCTION_POINTERS, 129, "unified_function_pointers", "1: function pointers are the same everywhere") \
    X(NUMA_CONFIG, 130, "numa_config", "NUMA configuration") \
    X(NUMA_ID, 131, "numa_id", "NUMA node of its memory") \
    X(MULTICAST_SUPPORTED, 132, "multicast_supported", "1: multicast and reductions by the switch") \
    X(MPS_ENABLED, 133, "mps_enabled", "1: contexts are shared by MPS") \
    X(HOST_NUMA_ID, 134, "host_numa_id", "NUMA node of the host that is nearest, -1: none") \
    X(D3D12_CIG_SUPPORTED, 135, "d3d12_cig_supported", "1: graphics of D3D12 inside CUDA") \
    X(MEM_DECOMPRESS_ALGORITHM_MASK, 136, "mem_decompress_algorithm_mask", "Formats that it decompresses, a bit each") \
    X(MEM_DECOMPRESS_MAXIMUM_LENGTH, 137, "mem_decompress_maximum_length", "Most bytes of one decompression") \
    X(VULKAN_CIG_SUPPORTED, 138, "vulkan_cig_supported", "1: graphics of Vulkan inside CUDA") \
    X(GPU_PCI_DEVICE_ID, 139, "gpu_pci_device_id", "PCI device and vendor") \
    X(GPU_PCI_SUBSYSTEM_ID, 140, "gpu_pci_subsystem_id", "PCI subsystem and its vendor") \
    X(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 141, "host_numa_virtual_memory_management_supported", "1: virtual memory management of a NUMA node of the host") \
    X(HOST_NUMA_MEMORY_POOLS_SUPPORTED, 142, "host_numa_memory_pools_supported", "1: memory pools on a NUMA node of the host") \
    X(HOST_NUMA_MULTINODE_IPC_SUPPORTED, 143, "host_numa_multinode_ipc_supported", "1: memory of a NUMA node of the host can be shared between hosts") \
    X(HOST_MEMORY_POOLS_SUPPORTED, 144, "host_memory_pools_supported", "1: memory pools on the host") \
    X(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 145, "host_virtual_memory_management_supported", "1: virtual memory management of the host") \
    X(HOST_ALLOC_DMA_BUF_SUPPORTED, 146, "host_alloc_dma_buf_supported", "1: page-locked host memory can be shared as a DMA buffer") \
    X(ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 147, "only_partial_host_native_atomic_supported", "1: the link to the host has only some native atomics")
// clang-format on

/** The largest number. */
#define KS_CUDA_LAST_ATTRIBUTE 147

#endif
