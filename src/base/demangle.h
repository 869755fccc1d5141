/* C++ names of functions as people write them. Where no C++ library is to be found, and for names
 * that are none of C++, the name stays as it is. */
#ifndef KS_BASE_DEMANGLE_H
#define KS_BASE_DEMANGLE_H

#include <stdbool.h>

/**
 * A function's full name with its arguments: "void scale<float, 4>(float*, int)".
 *
 * @return text that stays for the process's life, or `mangled` itself. Safe from any thread.
 */
const char *ks_demangle(const char *mangled);

/** Without its arguments and return type: "scale<float, 4>". Likewise. */
const char *ks_demangle_short(const char *mangled);

/** Whether a pattern (as for ks_match()) matches a function's name: mangled, or demangled with or
 * without its arguments. */
bool ks_function_matches(const char *pattern, const char *mangled);

#endif
