// `npm run backup`, and the program that ships as one file: `node etcd-backup.mjs`. Ended by a
// signal it leaves nothing behind, and says so.
import { setFlagsFromString } from 'node:v8';
import { Failure } from '../../shared/errors.ts';
import { runBackup } from './command.ts';
import { isRehearsal } from './rehearsal/options.ts';
import { isRemoval } from './remove/options.ts';

// A large snapshot makes gigabytes of short-lived objects: left alone, V8 takes more and more
// memory to collect them less often.
setFlagsFromString('--semi-space-growth-factor=1');

const args = process.argv.slice(2);
const isToRehearse = isRehearsal(args);
const isToRemove = !isToRehearse && isRemoval(args);
const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    const message = isToRemove
      ? `The removal was ended by ${name}. Begin it again.`
      : isToRehearse
        ? `The rehearsal was ended by ${name}. The backup stays, and its next attempt begins anew.`
        : `The backup was ended by ${name}. Nothing was kept. Take it again.`;
    end.abort(new Failure('BACKUP_STOPPED', message));
  });
}
const terminal = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  isWatched: process.stderr.isTTY,
};
// A reader who has gone does not end a backup that is under way.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.exitCode = await (await runner())(args, terminal, end.signal);

async function runner(): Promise<typeof runBackup> {
  if (isToRehearse) return (await import('./rehearsal/command.ts')).runRehearsal;
  return isToRemove ? (await import('./remove/command.ts')).runRemoval : runBackup;
}
