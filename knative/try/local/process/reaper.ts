// Ends the parts of a plane whose starter ended without a word. Started with the plane, as a shell
// that waits; this runs only when there is something to do.
import { endPlane } from './run-directory.ts';

const [dir] = process.argv.slice(2);
if (dir !== undefined) await endPlane(dir);
