/* Names of C++ kernels (case C19): whole whatever their length, and matched in each form. */
#include "harness.h"

#include <dlfcn.h>

#include "base/demangle.h"

enum {
    SOME = 140, /* numbers: just under the 1,024 characters that GCC's demangler reads */
    MANY = 800  /* over 5,000 characters */
};

/* f<L<1000, 1001, ...>, last>(), with so many numbers. */
static void write_long(char *to, size_t size, int numbers, int last)
{
    size_t length = (size_t)snprintf(to, size, "_Z1fI1LIJ");
    for (int i = 0; i < numbers; i++) {
        length += (size_t)snprintf(to + length, size - length, "Li%dE", 1000 + i);
    }
    snprintf(to + length, size - length, "EELi%dEEvPT_", last);
}

static void skip_without_demangler(void)
{
    if (strcmp(ks_demangle_short("_Z1fv"), "f") != 0) {
        skip(); /* there is no C++ library */
    }
}

static void long_names_are_whole_and_stay_apart(void **state)
{
    (void)state;
    static char mangled[2][8192];
    skip_without_demangler();
    for (int i = 0; i < 2; i++) {
        write_long(mangled[i], sizeof mangled[i], SOME, i + 1);
        const char *brief = ks_demangle_short(mangled[i]);
        assert_true(strncmp(brief, "f<L<1000, 1001, ", 16) == 0);
        assert_string_equal(strstr(brief, "1139"), i == 0 ? "1139>, 1>" : "1139>, 2>");
        KT_HAS(ks_demangle(mangled[i]), brief);
        assert_true(strncmp(ks_demangle(mangled[i]), "void f<L<", 9) == 0);
    }
}

/* GCC's demangler gives up on it: it is read where there is LLVM's, else stays as it is; never cut,
 * never like another. */
static void no_name_is_too_long(void **state)
{
    (void)state;
    static char mangled[2][8192];
    skip_without_demangler();
    bool llvm = dlopen("libc++abi.so.1", RTLD_NOW) != NULL;
    for (int i = 0; i < 2; i++) {
        write_long(mangled[i], sizeof mangled[i], MANY, i + 1);
        assert_true(strlen(mangled[i]) > 5000);
        const char *full = ks_demangle(mangled[i]);
        bool read = strcmp(full, mangled[i]) != 0;
        assert_true(read || !llvm);
        KT_HAS(full, read ? (i == 0 ? "1799>, 1>" : "1799>, 2>") : "Li1799EEE");
        assert_true(ks_function_matches("*1799*", mangled[i]));
    }
    assert_true(strcmp(ks_demangle_short(mangled[0]), ks_demangle_short(mangled[1])) != 0);
}

static void names_that_cannot_be_read_stay_as_they_are(void **state)
{
    (void)state;
    static const char *const names[] = {"plain_c", "_ZN6brokenI", "_Z", "_Znot", "", "a b(c)"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_string_equal(ks_demangle(names[i]), names[i]);
        assert_string_equal(ks_demangle_short(names[i]), names[i]);
    }
}

static void patterns_match_each_form(void **state)
{
    (void)state;
    static const char name[] = "_ZN2at6native4fillIfLi4EEEvPT_i";
    skip_without_demangler();
    assert_true(ks_function_matches("_ZN2at6native4fillI*", name));
    assert_true(ks_function_matches("at::native::fill<float, 4>", name));
    assert_true(ks_function_matches("void at::native::fill<float, 4>(float*, int)", name));
    assert_true(ks_function_matches("*fill*", name));
    assert_false(ks_function_matches("fill", name));
    assert_false(ks_function_matches("at::native::fill<float, 5>", name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_names_are_whole_and_stay_apart),
        cmocka_unit_test(no_name_is_too_long),
        cmocka_unit_test(names_that_cannot_be_read_stay_as_they_are),
        cmocka_unit_test(patterns_match_each_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
