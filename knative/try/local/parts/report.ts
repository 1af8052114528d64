// How a build of parts tells what it does: one line that renews itself on a terminal, and on a pipe
// a plain line per step, with a sign of life while a step is long.

export type BuildStep =
  | 'waiting for another build'
  | 'reading modules'
  | 'downloading modules'
  | 'compiling'
  | 'linking';

export interface BuildProgress {
  readonly part: string;
  readonly step: BuildStep;
  /** `312 of 1804 packages` */
  readonly detail?: string;
}

export interface BuildReporter {
  /** All binaries that are going to be built, in their order. */
  plan(parts: readonly string[]): void;
  /** These are there without a build: somebody else has made them meanwhile. */
  drop(parts: readonly string[]): void;
  /** A whole sentence that stays on the screen. */
  note(text: string): void;
  progress(progress: BuildProgress): void;
  /** The part that was last reported is built. */
  done(): void;
  close(): void;
}

export interface ReporterOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Often enough that the seconds move. */
const REPAINT_MS = 500;
/** Long enough not to fill a log, short enough that nobody thinks it hangs. */
export const SIGN_OF_LIFE_MS = 15_000;
const DEFAULT_COLUMNS = 80;
const CLEAR_LINE = '\r\u001B[K';

export function buildReporter(output: ReporterOutput = process.stderr): BuildReporter {
  return output.isTTY === true ? new TerminalReporter(output) : new PlainReporter(output);
}

/** Shared by both reporters: which part is in which step, and since when. */
abstract class TimedReporter implements BuildReporter {
  #current: BuildProgress | undefined;
  #planned: readonly string[] = [];
  #left: readonly string[] = [];
  #startedMs = 0;
  #timer: NodeJS.Timeout | undefined;

  abstract note(text: string): void;
  protected abstract readonly periodMs: number;
  protected abstract onProgress(isNewStep: boolean): void;
  protected abstract onPeriod(): void;

  plan(parts: readonly string[]): void {
    this.#planned = parts;
    this.#left = parts;
  }

  drop(parts: readonly string[]): void {
    this.#left = this.#left.filter((part) => !parts.includes(part));
  }

  progress(progress: BuildProgress): void {
    const before = this.#current;
    if (before?.part !== progress.part) this.#startedMs = Date.now();
    this.#current = progress;
    const isNewStep = before?.part !== progress.part || before.step !== progress.step;
    if (isNewStep) this.#restartTimer();
    this.onProgress(isNewStep);
  }

  done(): void {
    if (this.#current === undefined) return;
    const { part } = this.#current;
    const text = `${part}: built in ${this.#elapsed()}`;
    this.close();
    this.drop([part]);
    const count = `${this.#left.length} of ${this.#planned.length}`;
    this.note(this.#left.length === 0 ? text : `${text}; ${count} left: ${this.#left.join(', ')}`);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#current = undefined;
  }

  protected line(): string {
    if (this.#current === undefined) return '';
    const { part, step, detail } = this.#current;
    const shownStep = detail === undefined ? step : `${step}, ${detail}`;
    const place = this.#planned.indexOf(part) + 1;
    const which = place === 0 ? '' : `, binary ${place} of ${this.#planned.length}`;
    return `${part}: ${shownStep} (${this.#elapsed()}${which})`;
  }

  #elapsed(): string {
    return formatElapsed(Date.now() - this.#startedMs);
  }

  #restartTimer(): void {
    clearInterval(this.#timer);
    // A reporter that somebody forgot to close must not keep the process alive.
    this.#timer = setInterval(() => this.onPeriod(), this.periodMs).unref();
  }
}

class TerminalReporter extends TimedReporter {
  protected readonly periodMs = REPAINT_MS;
  readonly #output: ReporterOutput;

  constructor(output: ReporterOutput) {
    super();
    this.#output = output;
  }

  note(text: string): void {
    this.#output.write(`${CLEAR_LINE}${text}\n${this.#fitted()}`);
  }

  override close(): void {
    super.close();
    this.#output.write(CLEAR_LINE);
  }

  protected onProgress(): void {
    this.#output.write(`${CLEAR_LINE}${this.#fitted()}`);
  }

  protected onPeriod(): void {
    this.onProgress();
  }

  /** A line that wraps could not be taken back. */
  #fitted(): string {
    return this.line().slice(0, (this.#output.columns ?? DEFAULT_COLUMNS) - 1);
  }
}

class PlainReporter extends TimedReporter {
  protected readonly periodMs = SIGN_OF_LIFE_MS;
  readonly #output: ReporterOutput;

  constructor(output: ReporterOutput) {
    super();
    this.#output = output;
  }

  note(text: string): void {
    this.#output.write(`${text}\n`);
  }

  protected onProgress(isNewStep: boolean): void {
    if (isNewStep) this.note(this.line());
  }

  protected onPeriod(): void {
    this.note(this.line());
  }
}

export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
