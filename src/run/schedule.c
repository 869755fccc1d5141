/* Which pass serves which collector. */
#include "run/loop.h"

uint32_t ks_schedule(ks_member *members, size_t count)
{
    uint32_t passes = 0;
    for (size_t i = 0; i < count; i++) {
        if (members[i].needs.shares_first) {
            members[i].first_pass = 0;
            passes = members[i].needs.passes > passes ? members[i].needs.passes : passes;
        }
    }
    /* those that disturb others have passes of their own, behind the shared ones */
    for (size_t i = 0; i < count; i++) {
        if (!members[i].needs.shares_first) {
            members[i].first_pass = passes;
            passes += members[i].needs.passes;
        }
    }
    return passes;
}
