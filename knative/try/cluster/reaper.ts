// Cleans up after a cluster whose starter ended without a word. Started with the cluster, as a
// shell that waits; this runs only when there is something to do.
import { cleanUp } from './clean-up.ts';

const [dir] = process.argv.slice(2);
if (dir !== undefined) await cleanUp(dir);
