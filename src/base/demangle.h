/* C++ names of functions as people write them. Where no C++ library is to be found, and for names
 * that are none of C++, the name stays as it is. */
#ifndef KS_BASE_DEMANGLE_H
#define KS_BASE_DEMANGLE_H

/**
 * A function's full name with its arguments: "void scale<float, 4>(float*, int)".
 *
 * @return text that stays for the process's life, or `mangled` itself. Safe from any thread.
 */
const char *ks_demangle(const char *mangled);

/** Without its arguments and return type: "scale<float, 4>". Likewise. */
const char *ks_demangle_short(const char *mangled);

#endif
