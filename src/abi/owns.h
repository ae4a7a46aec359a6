/* What __cleave_owns (hooks.h) says besides that a container has allocated a block for itself, or got one
 * from a node handle: with one of these added, `block` is another container, and what that held is held by
 * this one now. Containers and blocks are aligned to 4 bytes at least. */
#ifndef CLEAVE_ABI_OWNS_H
#define CLEAVE_ABI_OWNS_H

#define CLEAVE_OWNS_ALL 1u       /* all of it */
#define CLEAVE_OWNS_SOME 2u      /* some of it, nobody knows what */
#define CLEAVE_OWNS_EXCHANGED 3u /* and the other way round */

#endif
