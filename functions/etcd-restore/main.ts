// The program that ships as one file: `node etcd-restore.mjs`. Ended by a signal it says so.
import { setFlagsFromString } from 'node:v8';
import { Failure } from '../../shared/errors.ts';
import { runRestore } from './command.ts';

// A large snapshot makes gigabytes of short-lived objects: left alone, V8 takes more and more
// memory to collect them less often.
setFlagsFromString('--semi-space-growth-factor=1');

const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    const message = `The restore was ended by ${name}. Its next attempt begins anew.`;
    end.abort(new Failure('RESTORE_STOPPED', message));
  });
}
const terminal = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  isWatched: false,
};
process.exitCode = await runRestore(process.argv.slice(2), terminal, end.signal);
