// One real process of the control plane: started, probed until ready, watched, ended. It never
// outlives a call to `stop` or `kill`, and a death that nobody asked for is told to every listener
// with the last lines it printed.
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LineRing } from './line-ring.ts';
import { PATIENCE, Patience, type PatienceLimits } from './patience.ts';
import { isStopped, usedTicks } from './proc.ts';

export interface PartSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited, so that a part runs the same from every shell. */
  readonly env: Readonly<Record<string, string>>;
  /** Where it serves; '' when it does not. */
  readonly url: string;
  /** The same for each who has a login of his own, by name. */
  readonly urls?: Readonly<Record<string, string>>;
  /** Where it tells about itself, when that is another address. */
  readonly monitorUrl?: string;
  /** One probe, asked again and again until it is true; what it throws says what it waits for. */
  ready(signal: AbortSignal): Promise<boolean>;
}

export type PartState = 'starting' | 'ready' | 'dead' | 'stopped';

export interface PartChange {
  readonly part: Part;
  readonly state: PartState;
  /** How it ended, for dead and stopped parts: `exit code 1` or `SIGKILL`. */
  readonly ending?: string;
  /** Told each time that it is still not ready after a while: what its probe met last. */
  readonly awaits?: string;
}

export interface Part {
  readonly name: string;
  readonly url: string;
  readonly urls?: Readonly<Record<string, string>> | undefined;
  readonly monitorUrl?: string | undefined;
  readonly pid: number | undefined;
  readonly state: PartState;
  /** How it ended last; undefined before it has. */
  readonly ending?: string | undefined;
  /** When the state was reached, in milliseconds since the epoch. */
  readonly sinceMs: number;
  lastLines(count: number): readonly string[];
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Resolves when it stands still: whatever is sent afterwards finds nobody at work. */
  pause(): Promise<void>;
  resume(): void;
  restart(): Promise<void>;
}

/** Longer than any start on an idle machine: whoever waits more wants to know for what. */
const TELL_EVERY_MS = 15_000;
const PROBE_TIMEOUT_MS = 2_000;
const PROBE_PAUSE_MS = 20;
/** etcd and kube-apiserver end within a second of SIGTERM; whoever does not is killed. */
const STOP_GRACE_MS = 5_000;
const LINES_IN_MESSAGE = 8;

function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // Most parts start nothing: their group is gone with them.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

export class PartProcess implements Part {
  readonly #spec: PartSpec;
  readonly #mark: string;
  readonly #onChange: (change: PartChange) => void;
  readonly #limits: PatienceLimits;
  #child: ChildProcess | undefined;
  #gone: Promise<string> = Promise.resolve('not started');
  #ring = new LineRing();
  #state: PartState = 'stopped';
  #ending: string | undefined;
  #sinceMs = Date.now();
  #endAsked = false;

  /**
   * `mark` is put into the environment, so that leftovers can be told from other people's
   * processes.
   */
  constructor(
    spec: PartSpec,
    mark: string,
    onChange: (change: PartChange) => void,
    limits = PATIENCE,
  ) {
    this.#spec = spec;
    this.#mark = mark;
    this.#onChange = onChange;
    this.#limits = limits;
  }

  get name(): string {
    return this.#spec.name;
  }
  get url(): string {
    return this.#spec.url;
  }
  get urls(): Readonly<Record<string, string>> | undefined {
    return this.#spec.urls;
  }
  get monitorUrl(): string | undefined {
    return this.#spec.monitorUrl;
  }
  get pid(): number | undefined {
    return this.#child?.pid;
  }
  get state(): PartState {
    return this.#state;
  }
  get ending(): string | undefined {
    return this.#ending;
  }
  get sinceMs(): number {
    return this.#sinceMs;
  }

  lastLines(count: number): readonly string[] {
    return this.#ring.last(count);
  }

  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error(`${this.name} is already running`);
    this.#endAsked = false;
    this.#ring = new LineRing();
    this.#change('starting');
    this.#gone = this.#spawn();
    const ending = await this.#untilReadyOrGone();
    if (ending !== undefined) throw new Error(this.#explain(ending));
    this.#change('ready');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async pause(): Promise<void> {
    const { pid } = this;
    if (pid === undefined) throw new Error(`${this.name} is not running: it cannot be paused`);
    this.#child?.kill('SIGSTOP');
    // The signal stops one thread after the other; until the last one stands, it still answers.
    while (this.pid === pid && !(await isStopped(pid))) await sleep(PROBE_PAUSE_MS);
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  #spawn(): Promise<string> {
    const [name, ...value] = this.#mark.split('=');
    const child = spawn(this.#spec.command, this.#spec.args, {
      // A session of its own: the terminal's Ctrl-C reaches the starter alone, which ends the parts
      // in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...this.#spec.env, [name ?? '']: value.join('=') },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#ring.push(text));
    }
    return new Promise((resolve) => {
      const onGone = (ending: string): void => {
        this.#child = undefined;
        this.#ending = ending;
        const state = this.#endAsked ? 'stopped' : 'dead';
        this.#change(state, ending);
        resolve(ending);
      };
      child.once('error', (error) => {
        this.#ring.push(`${error.message}\n`);
        if (child.pid === undefined) onGone('could not be started');
      });
      // Whatever it started is in its group, and may still hold its output open.
      child.once('exit', () => endGroup(child.pid));
      // 'close' and not 'exit': its last words must have been read before anybody explains the
      // death.
      child.once('close', (code, signal) => onGone(signal ?? `exit code ${code}`));
    });
  }

  /** Undefined when ready; how it ended when it died, or patience with it did, first. */
  async #untilReadyOrGone(): Promise<string | undefined> {
    const abort = new AbortController();
    const gone = this.#gone.then((ending) => {
      abort.abort();
      return ending;
    });
    const why = await this.#probeUntil(abort.signal);
    if (why === undefined) return undefined;
    if (this.#child === undefined) return gone;
    // Nobody asked for this end: the part counts as dead.
    this.#child.kill('SIGKILL');
    await gone;
    return why;
  }

  /** Undefined when ready; else why nobody waits any longer. */
  async #probeUntil(signal: AbortSignal): Promise<string | undefined> {
    const patience = new Patience(this.#limits, Date.now());
    let tellAtMs = Date.now() + TELL_EVERY_MS;
    for (;;) {
      const awaits = await this.#probe(signal);
      if (awaits === undefined) return undefined;
      if (signal.aborted) return 'gone';
      const ticks = this.pid === undefined ? undefined : await usedTicks(this.pid);
      const why = patience.whyOver(`${ticks} ${awaits}`, Date.now());
      if (why !== undefined) return `${why}: ${awaits}`;
      if (Date.now() >= tellAtMs) {
        tellAtMs += TELL_EVERY_MS;
        this.#onChange({ part: this, state: 'starting', awaits });
      }
      await sleep(PROBE_PAUSE_MS);
    }
  }

  /** Undefined when it is ready; else what is awaited. */
  async #probe(signal: AbortSignal): Promise<string | undefined> {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    try {
      // It may have died while it answered.
      const isReady = (await this.#spec.ready(bound)) && this.pid !== undefined;
      return isReady ? undefined : 'it says that it is not ready';
    } catch (error) {
      // The ordinary answer of a part that is not up yet.
      if (bound.aborted) return `no answer within ${PROBE_TIMEOUT_MS / 1000} s`;
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#child === undefined) return;
    this.#endAsked = true;
    // A stopped process takes no SIGTERM until it runs again.
    if (signal === 'SIGTERM') this.#child.kill('SIGCONT');
    this.#child.kill(signal);
    const grace = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_GRACE_MS);
    await this.#gone;
    clearTimeout(grace);
  }

  #change(state: PartState, ending?: string): void {
    this.#state = state;
    this.#sinceMs = Date.now();
    this.#onChange({ part: this, state, ...(ending === undefined ? {} : { ending }) });
  }

  #explain(ending: string): string {
    const lines = this.lastLines(LINES_IN_MESSAGE);
    const said =
      lines.length === 0 ? 'It printed nothing.' : `Its last lines:\n${lines.join('\n')}`;
    return `${this.name} did not start (${ending}). ${said}`;
  }
}
