// The audit as a command: reads what it is told to, writes a page or JSON to stdout, and says by
// its exit code whether anything is old (1) or could not be told (2).
import { UsageError } from '../../shared/arguments.ts';
import { type ErrorCode, Failure } from '../../shared/errors.ts';
import { printable } from '../../shared/function/printable.ts';
import type { Outcome } from '../../shared/stored/verdict.ts';
import type { Input } from './against/manifests.ts';
import type { Verdict } from './against/reason.ts';
import type { StartScratch } from './against/scratch.ts';
import { auditKube } from './kube.ts';
import { type Answer, type AuditOptions, auditEtcd, auditFile, saveAndAudit } from './audit.ts';
import {
  type Against,
  type CommandOptions,
  commandOptions,
  type FindEtcd,
  PLANE_USAGE,
  SCRATCH_USAGE,
  type Source,
  usageOf,
} from './options.ts';
import { kubePageOf, pageOf } from './page.ts';

export interface Terminal {
  /** How it was called, for its usage; by the name of the file that ships when absent. */
  readonly calledAs?: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether somebody watches stderr. */
  readonly isWatched: boolean;
  readonly findEtcd?: FindEtcd;
  /** For new CRDs that are sent; nothing comes when absent. */
  readonly stdin?: Input;
  /** Where the parts of an API server are at hand. */
  readonly startScratch?: StartScratch;
}

const EXIT: Readonly<Record<Outcome | Verdict, number>> = {
  clean: 0,
  safe: 0,
  old: 1,
  unsafe: 1,
  'unsafe-objects': 1,
  unknown: 2,
};
export const CANNOT_TELL = 2;

export async function runAudit(
  args: readonly string[],
  terminal: Terminal,
  signal?: AbortSignal,
): Promise<number> {
  const { out, err, findEtcd } = terminal;
  const usage = usageIn(terminal);
  try {
    const options = await commandOptions(args, findEtcd);
    if (options === undefined) {
      out(usage);
      return 0;
    }
    const { outcome, body, page } = await audit(options, terminal, signal);
    out(options.isJson ? jsonOf(body) : page);
    return EXIT[outcome];
  } catch (error) {
    const failure = failureOf(error);
    // A program that asked for JSON reads stdout, whatever came of it; before the arguments are
    // understood the word alone says so.
    if (args.includes('--json')) out(jsonOf(failure));
    else {
      const text = `${printable(failure.error.message)}\n`;
      err(error instanceof UsageError ? `${text}\n${usage}` : text);
    }
    return CANNOT_TELL;
  }
}

function usageIn({ calledAs = 'storage-audit', findEtcd, startScratch }: Terminal): string {
  const ofPlane = findEtcd === undefined ? '' : PLANE_USAGE;
  return `${usageOf(calledAs)}${ofPlane}${startScratch === undefined ? '' : SCRATCH_USAGE}`;
}

/** Some controls, such as C1, JSON leaves as they are. */
const jsonOf = (body: object): string => `${printable(JSON.stringify(body))}\n`;

interface FailureAnswer {
  readonly outcome: 'unknown';
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

function failureOf(error: unknown): FailureAnswer {
  const message = error instanceof Error ? error.message : String(error);
  const other = error instanceof UsageError ? 'QUERY_INVALID' : 'INTERNAL_BUG';
  const code = error instanceof Failure ? error.code : other;
  return { outcome: 'unknown', error: { code, message } };
}

async function audit(
  { source, prefixes, resources, examplesMax, against }: CommandOptions,
  terminal: Terminal,
  signal: AbortSignal | undefined,
): Promise<Printable> {
  const progress = new Progress(terminal);
  const onProgress = (done: number, total: number): void => progress.show(done, total);
  const options = { prefixes, resources, examplesMax, signal, onProgress };
  try {
    if (against === undefined) return await auditSource(source, options);
    return await auditUpgrade(against, source, options, terminal);
  } finally {
    progress.clear();
  }
}

async function auditUpgrade(
  against: Against,
  source: Source,
  options: AuditOptions,
  { stdin = noInput(), startScratch }: Terminal,
): Promise<Printable> {
  const [{ answerAgainst }, { againstPageOf }] = await Promise.all([
    import('./against/run.ts'),
    import('./against/page.ts'),
  ]);
  const answer = await answerAgainst(against, source, options, { stdin, startScratch });
  return { outcome: answer.verdict, body: answer, page: againstPageOf(answer) };
}

// oxlint-disable-next-line require-yield -- nothing comes
async function* noInput(): AsyncGenerator<never> {}

interface Printable {
  readonly outcome: Outcome | Verdict;
  readonly body: object;
  readonly page: string;
}

async function auditSource(source: Source, options: AuditOptions): Promise<Printable> {
  if (source.kind === 'kube') {
    const answer = await auditKube(source.kubeconfigPath, options);
    return { outcome: answer.outcome, body: answer, page: kubePageOf(answer) };
  }
  const answer = await auditStoredSource(source, options);
  return { outcome: answer.outcome, body: answer, page: pageOf(answer) };
}

async function auditStoredSource(
  source: Exclude<Source, { kind: 'kube' }>,
  options: AuditOptions,
): Promise<Answer> {
  if (source.kind === 'file' && source.keyPath === undefined) {
    const { assertNotSealed } = await import('../../shared/sealed/arrival.ts');
    await assertNotSealed(source.path);
    return auditFile(source.path, options);
  }
  if (source.kind === 'file' || source.kind === 's3') {
    const { auditCopy } = await import('./copy.ts');
    return auditCopy(source, options);
  }
  const { address, savePath } = source;
  if (savePath === undefined) return auditEtcd(address, options);
  return saveAndAudit(address, savePath, options);
}

/** One line that changes, for a file that takes longer than a moment. */
class Progress {
  readonly #terminal: Terminal;
  #percent = -1;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(doneBytes: number, totalBytes: number): void {
    const percent = Math.floor((100 * doneBytes) / Math.max(totalBytes, 1));
    if (!this.#terminal.isWatched || percent === this.#percent) return;
    this.#percent = percent;
    this.#terminal.err(`\r${percent} % of ${(totalBytes / 1e6).toFixed(0)} MB `);
  }

  clear(): void {
    if (this.#percent >= 0) this.#terminal.err('\r\u001B[K');
    this.#percent = -1;
  }
}
