// `npm run part`: what runs in the control plane that `npm start` holds up, and a way to hurt one
// part of it by name.
import { readArguments, UsageError } from '../../../shared/arguments.ts';
import { type PartRow, readPartsFile } from './plane/parts-file.ts';
import { livePlanes } from './process/run-directory.ts';

const SIGNALS = { kill: 'SIGKILL', pause: 'SIGSTOP', resume: 'SIGCONT' } as const;
type Verb = keyof typeof SIGNALS;

const USAGE = `usage: npm run part -- [list | kill NAME | pause NAME | resume NAME]

  list          the parts of the running control plane, with state and pid (the default)
  kill NAME     SIGKILL: npm start reports the death and starts the part again
  pause NAME    SIGSTOP: the part hangs until it is resumed
  resume NAME   SIGCONT

NAME is a name from the list, such as etcd or adapter/metadata.

  --plane DIR   which control plane, when several run: the directory of its kubeconfig
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  plane: { type: 'string' },
} as const;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const { help, plane } = values;
  if (help === true) return print(USAGE);
  const [verb = 'list', name, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`too many words: ${more.join(' ')}`);
  if (verb === 'list') return print(table(await runningParts(plane)));
  if (!isVerb(verb)) throw new UsageError(`there is no command "${verb}"`);
  if (name === undefined) throw new UsageError(`${verb} needs the name of a part`);
  await send(verb, name, await runningParts(plane));
}

const isVerb = (word: string): word is Verb => word in SIGNALS;

async function send(verb: Verb, name: string, parts: readonly PartRow[]): Promise<void> {
  const part = parts.find((row) => row.name === name);
  if (part?.pid === undefined) {
    const names = parts.filter(({ pid }) => pid !== undefined).map((row) => row.name);
    throw new Error(`no running part is named ${name}; there are: ${names.join(', ')}`);
  }
  process.kill(part.pid, SIGNALS[verb]);
  print(`${verb}: ${name} (pid ${part.pid})`);
}

async function runningParts(chosen: string | undefined): Promise<readonly PartRow[]> {
  if (chosen !== undefined) return readPartsFile(chosen);
  const planes = await livePlanes();
  const [dir, ...others] = planes;
  if (dir === undefined) throw new Error('no control plane runs here; start one with: npm start');
  if (others.length === 0) return readPartsFile(dir);
  const list = planes.join(', ');
  throw new Error(`several control planes run here; choose one with --plane: ${list}`);
}

function table(parts: readonly PartRow[]): string {
  const width = Math.max(...parts.map(({ name }) => name.length));
  return parts
    .map(
      ({ name, state, pid, url }) =>
        `${name.padEnd(width)}  ${state.padEnd(8)}  ${pid ?? '-'}  ${url}`,
    )
    .join('\n');
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(
    `${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${USAGE}` : ''}`,
  );
  process.exitCode = isUsage ? 2 : 1;
}
