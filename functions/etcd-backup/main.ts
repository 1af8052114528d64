// `npm run backup`, and the program that ships as one file: `node etcd-backup.mjs`.
import { runAsProgram } from './program.ts';

await runAsProgram();
