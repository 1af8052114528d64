// The command that ships as one file: `node storage-audit.mjs FILE`.
import { runAsProgram } from './program.ts';

await runAsProgram();
