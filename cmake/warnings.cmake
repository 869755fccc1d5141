# How our own code is compiled. Vendored code is compiled as it is, with warnings off.
add_library(ks_warnings INTERFACE)
target_compile_options(ks_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
  $<$<BOOL:${KS_WERROR}>:-Werror>)
