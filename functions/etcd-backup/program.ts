// The process of the command: arguments, terminal and signals in, the exit code out. Ended by a
// signal it leaves nothing behind, and says so.
import { setFlagsFromString } from 'node:v8';
import { Failure } from '../../shared/errors.ts';
import type { CalledAs } from './called-as.ts';
import { runBackup } from './command.ts';
import { isRehearsal } from './rehearsal/options.ts';
import { isRemoval } from './remove/options.ts';

const ENDED = {
  backup: ['The backup', 'Nothing was kept. Take it again.'],
  rehearsal: ['The rehearsal', 'The backup stays, and its next attempt begins anew.'],
  removal: ['The removal', 'Begin it again.'],
} as const;
type What = keyof typeof ENDED;

export async function runAsProgram(
  args: readonly string[] = process.argv.slice(2),
  calledAs?: CalledAs,
): Promise<void> {
  keepMemoryFlat();
  const what = whatIn(args);
  const end = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      const [subject, next] = ENDED[what];
      end.abort(new Failure('BACKUP_STOPPED', `${subject} was ended by ${name}. ${next}`));
    });
  }
  const terminal = {
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
    isWatched: process.stderr.isTTY,
  };
  // A reader who has gone does not end a backup that is under way.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const run = await runnerOf(what);
  process.exitCode = await run(args, terminal, end.signal, calledAs);
}

function keepMemoryFlat(): void {
  // A large snapshot makes gigabytes of short-lived objects: left alone, V8 takes more and more
  // memory to collect them less often.
  setFlagsFromString('--semi-space-growth-factor=1');
  // It collects the memory of what passed by sooner: 20 MB less, for half a second of each
  // gigabyte.
  setFlagsFromString('--optimize-for-size');
  // V8's middle compiler keeps 10 MB of working memory, which a program this long has no use for.
  setFlagsFromString('--no-maglev');
}

async function runnerOf(what: What): Promise<typeof runBackup> {
  if (what === 'rehearsal') return (await import('./rehearsal/command.ts')).runRehearsal;
  return what === 'removal' ? (await import('./remove/command.ts')).runRemoval : runBackup;
}

function whatIn(words: readonly string[]): What {
  if (isRehearsal(words)) return 'rehearsal';
  return isRemoval(words) ? 'removal' : 'backup';
}
