// `npm run chaos:feed -- --seeds N`: breaks a feed on real parts in N ways that come from N seeds,
// and says whether every reader was right in the end. Ends with 1 when one was not, with 2 when it
// was asked wrongly.
import { readOptions, USAGE } from './options.ts';
import { runChaos } from './run-chaos.ts';

const chaos = { usage: USAGE, readOptions, load: () => import('./run-seeds.ts') };

// Not by its own end: Node 24 may wait for ever, at full speed, for a write to a socket whose other
// side was frozen when it was closed.
process.exit(await runChaos(chaos));
