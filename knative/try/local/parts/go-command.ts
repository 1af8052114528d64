// Runs the Go command in a group's module: its lines go to whoever counts progress, the last ones
// into the explanation of a failure.
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import type { PartGroup, PartEntry } from './part-entry.ts';
import { ldflags, moduleDir, tagFlags } from './cache.ts';
import { explainGoFailure } from './explain.ts';
import type { PartsSettings } from './settings.ts';

export interface GoOptions {
  readonly settings: PartsSettings;
  readonly signal?: AbortSignal;
  readonly onOutput?: (line: string) => void;
  /** True when the line is progress and not worth keeping for an explanation. */
  readonly onMessage?: (line: string) => boolean;
}

/** Enough for a compiler's complaint or Go's security error, which takes twelve lines. */
const LINES_KEPT = 20;

/** Flags that make a build the same wherever it runs; given last, they win over GOFLAGS. */
const MODULE_FLAGS = ['-mod=readonly', '-trimpath'];

/**
 * Resolves with what Go calls its version in this module, after any switch of toolchains that
 * GOTOOLCHAIN allows.
 */
export async function goVersion(group: PartGroup, options: GoOptions): Promise<string> {
  let version = '';
  const onOutput = (line: string): void => {
    version = line;
  };
  await runGo(group, ['env', 'GOVERSION'], { ...options, onOutput });
  return version;
}

/**
 * The import paths that a build of this part would compile; downloads the modules that are not
 * there yet.
 */
export async function stalePackages(
  entry: PartEntry,
  options: GoOptions,
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>();
  const format = '{{if .Stale}}{{.ImportPath}}{{end}}';
  const args = ['list', ...buildFlags(entry), '-deps', '-f', format];
  const onOutput = (line: string): void => {
    if (line !== '') stale.add(line);
  };
  await runGo(entry.group, [...args, entry.package], { ...options, onOutput });
  return stale;
}

export async function goBuild(
  entry: PartEntry,
  outputPath: string,
  options: GoOptions,
): Promise<void> {
  const flags = ['-v', ...buildFlags(entry), '-o', outputPath];
  await runGo(entry.group, ['build', ...flags, entry.package], options);
}

const buildFlags = (entry: PartEntry): readonly string[] => [
  ...MODULE_FLAGS,
  ...tagFlags(entry),
  `-ldflags=${ldflags(entry.stamps)}`,
];

/** Where the module cache has the sources of a module that this group pins; fetched if absent. */
export async function moduleSources(
  group: PartGroup,
  module: string,
  options: GoOptions,
): Promise<string> {
  let dir = '';
  const onOutput = (line: string): void => {
    dir ||= /^\t"Dir": (".*"),?$/.exec(line)?.[1] ?? '';
  };
  await runGo(group, ['mod', 'download', '-json', module], { ...options, onOutput });
  return String(JSON.parse(dir));
}

async function runGo(
  group: PartGroup,
  args: readonly string[],
  { settings, signal, onOutput, onMessage }: GoOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const lastLines: string[] = [];
  const child = spawn('go', args, {
    cwd: moduleDir(group),
    env: { ...settings.goEnv },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Go takes an interrupt as the wish to stop, and removes its work directory.
    ...(signal === undefined ? {} : { signal, killSignal: 'SIGINT' as const }),
  });
  const ended = new Promise<string>((resolve, reject) => {
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
      if (child.pid === undefined) reject(error);
    });
    child.once('close', (code, endSignal) => {
      if (failure === undefined) resolve(endSignal ?? (code === 0 ? '' : `exit code ${code}`));
      else reject(failure);
    });
  });
  const [ending] = await Promise.all([
    ended,
    eachLine(child.stdout, (line) => onOutput?.(line)),
    eachLine(child.stderr, (line) => {
      if (onMessage?.(line) === true) return;
      lastLines.push(line);
      if (lastLines.length > LINES_KEPT) lastLines.shift();
    }),
  ]);
  if (ending !== '') throw new Error(explainGoFailure(args[0] ?? '', ending, lastLines));
}

async function eachLine(stream: Readable, take: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream })) take(line);
}
