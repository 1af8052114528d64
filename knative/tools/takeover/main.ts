// `npm run takeover`: prints what operators that are gone left behind, and how it would be taken
// over.
import { runAsProgram } from './program.ts';

await runAsProgram();
