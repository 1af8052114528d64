// The process that is the whole cluster: pid 1 of namespaces of its own, in a cgroup of its own.
// When it ends, and it ends with its starter, everything inside is gone.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { enterCgroup, type Hierarchies } from './cgroups.ts';
import type { InsideMessage } from './inside/config.ts';

export interface Inside {
  /** In the cluster's network namespace from `isReady` on. */
  readonly pid: number;
  /** Resolves with what it printed, when it ends. */
  readonly ended: Promise<string>;
  /** Tells it that the wire is there. */
  go(): void;
  /** Not a goodbye: pid 1 and all below it are killed. Resolves when they are gone. */
  end(): Promise<void>;
}

/** It ends in milliseconds; past this, what holds the namespaces is killed from outside. */
const END_GRACE_MS = 5_000;

const SUPERVISOR = join(import.meta.dirname, 'inside/main.ts');
const LINES_KEPT = 20;

export interface InsideOptions {
  readonly configPath: string;
  readonly cgroup: string;
  readonly hierarchies: Hierarchies;
  /** Beside what the starter has. */
  readonly env: Readonly<Record<string, string>>;
  readonly onMessage: (message: InsideMessage) => void;
}

export async function enterNamespaces(options: InsideOptions): Promise<Inside> {
  const child = spawnInside(options);
  const lines: string[] = [];
  const { stdin, stdout, stderr, pid } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes');
  // A killed process reads no more.
  stdin.on('error', () => undefined);
  createInterface({ input: stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', () => resolve(lines.join('\n')));
  });
  let isUp = (): void => undefined;
  const up = new Promise<void>((resolve) => (isUp = resolve));
  createInterface({ input: stdout }).on('line', (line) => {
    if (line === 'in') isUp();
    else options.onMessage(JSON.parse(line));
  });
  const early = await Promise.race([up, ended]);
  if (typeof early === 'string' || pid === undefined)
    throw new Error(`The namespaces could not be made: ${early ?? ''}`);
  return {
    pid,
    ended,
    go: () => void stdin.write('go\n'),
    end: async () => {
      // From inside, so that each of them is waited for by its own parent.
      stdin.end();
      const grace = setTimeout(() => child.kill('SIGKILL'), END_GRACE_MS);
      await ended;
      clearTimeout(grace);
    },
  };
}

function spawnInside({ configPath, cgroup, hierarchies, env }: InsideOptions): ChildProcess {
  const enter = enterCgroup(`${cgroup}/supervisor`, hierarchies);
  const namespaces = '--mount --net --pid --uts --ipc --fork --kill-child --mount-proc';
  // The inner shell is pid 1: it takes the dead children that nobody waits for, which Node would
  // leave. The outer one becomes unshare, which dies with us and takes the inner one along.
  const inner = 'hostname ballast 2> /dev/null; echo in; "$@"; exit $?';
  const become = `${enter} && exec unshare ${namespaces} sh -c '${inner}' sh "$@"`;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const supervisor = ['env', ...variables, process.execPath, SUPERVISOR, configPath];
  const shell = ['sh', '-c', become, 'sh', ...supervisor];
  return spawn('setpriv', ['--pdeathsig', 'KILL', ...shell], {
    // Ctrl-C reaches the starter alone, which ends the cluster in its own way.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}
