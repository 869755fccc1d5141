/* What the run needs to know of a program before it starts. */
#ifndef KS_RUN_PROGRAM_H
#define KS_RUN_PROGRAM_H

#include "kernsight/program.h"

/** Whether the plan has every parameter that the program's templates name. */
ks_status ks_program_check(const ks_program *program, const ks_plan *plan, ks_error *err);

/** Whether any template of the program names a parameter. */
bool ks_program_uses(const ks_program *program, const char *param);

#endif
