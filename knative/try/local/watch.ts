// `npm run watch`: what a reader of the metadata feed sees, live: what an agent on a node is told,
// or a whole namespace or cluster.
import { runAsProgram } from './watch/program.ts';

await runAsProgram('npm run watch --');
