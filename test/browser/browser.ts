// A browser for tests: a real headless Chromium, spoken to by its own protocol. It shows one page
// at a time, and tells what that page logged and threw.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromiumFiles } from './chromium-files.ts';

const FLAGS = [
  '--remote-debugging-port=0',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--window-size=1200,800',
];
const LISTENS = /DevTools listening on (ws:\S+)/;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

type Fields = Readonly<Record<string, unknown>>;

export class Browser {
  readonly #child: ChildProcess;
  readonly #socket: WebSocket;
  readonly #profile: string;
  readonly #waiting = new Map<number, PromiseWithResolvers<Fields>>();
  #session: string | undefined;
  #last = 0;
  /** Exceptions of the page, refusals of its policy, and what it logged. */
  readonly complaints: string[] = [];

  /** `hosts` are names that it takes for addresses, such as those of Services. */
  static async open(hosts: Readonly<Record<string, string>> = {}): Promise<Browser> {
    const { binary, libraries } = await chromiumFiles();
    const profile = await mkdtemp(join(tmpdir(), 'ballast-chromium-'));
    const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
    const own = [`--host-resolver-rules=${rules.join(',')}`, `--user-data-dir=${profile}`];
    const child = spawn(binary, [...FLAGS, ...own, 'about:blank'], {
      env: { ...process.env, LD_LIBRARY_PATH: libraries, HOME: profile },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const url = await addressIn(child);
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new Browser(child, socket, profile);
  }

  private constructor(child: ChildProcess, socket: WebSocket, profile: string) {
    this.#child = child;
    this.#socket = socket;
    this.#profile = profile;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data))));
  }

  /** Resolves once the page and its script are loaded. */
  async show(url: string): Promise<void> {
    if (this.#session === undefined) {
      const { targetId } = await this.#call('Target.createTarget', { url: 'about:blank' });
      const attached = await this.#call('Target.attachToTarget', { targetId, flatten: true });
      this.#session = String(attached['sessionId']);
      for (const domain of ['Page', 'Runtime', 'Log']) await this.#call(`${domain}.enable`);
      await this.#call('Performance.enable', { timeDomain: 'threadTicks' });
    }
    this.complaints.length = 0;
    const { errorText } = await this.#call('Page.navigate', { url });
    if (typeof errorText === 'string') throw new Error(`${url} was not shown: ${errorText}`);
    await this.run(
      "new Promise((done) => (document.readyState === 'complete' ? done() : " +
        "addEventListener('load', done)))",
    );
  }

  /** The value of an expression in the page; a promise is awaited. */
  async run(expression: string): Promise<unknown> {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#call('Runtime.evaluate', options);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value?: unknown }).value;
  }

  async text(selector: string): Promise<string> {
    const quoted = JSON.stringify(selector);
    return String(await this.run(`document.querySelector(${quoted})?.innerText ?? ''`));
  }

  /**
   * Processor time that the page's thread has spent on scripts, styles and layout. Unlike frames
   * in a second it says the same on a busy machine.
   */
  async cpuMs(): Promise<number> {
    const { metrics } = await this.#call('Performance.getMetrics');
    const all = metrics as readonly { readonly name: string; readonly value: number }[];
    const seconds = all.find(({ name }) => name === 'TaskDuration')?.value;
    if (seconds === undefined) throw new Error('Chromium does not tell what its tasks took.');
    return seconds * 1_000;
  }

  /** As a person presses it; a text is typed where the cursor is. */
  async press(key: string): Promise<void> {
    const text = key.length === 1 ? { text: key } : {};
    await this.#call('Input.dispatchKeyEvent', { type: 'keyDown', key, ...text });
    await this.#call('Input.dispatchKeyEvent', { type: 'keyUp', key });
  }

  async type(text: string): Promise<void> {
    await this.#call('Input.insertText', { text });
  }

  /** The page as it is seen, in WebP, where people like it dark or light. */
  async picture(scheme: 'dark' | 'light'): Promise<Buffer> {
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.#call('Emulation.setEmulatedMedia', { features });
    const { data } = await this.#call('Page.captureScreenshot', { format: 'webp', quality: 80 });
    return Buffer.from(String(data), 'base64');
  }

  /** It ends by itself: where it is killed, processes of its own write into the profile again. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#session = undefined;
    // It may be gone before it answers.
    void this.#call('Browser.close');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await ended;
    this.#socket.close();
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #call(method: string, params: Fields = {}): Promise<Fields> {
    this.#last += 1;
    const answer = Promise.withResolvers<Fields>();
    this.#waiting.set(this.#last, answer);
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    this.#socket.send(JSON.stringify({ id: this.#last, method, params, ...session }));
    return answer.promise;
  }

  #take({ id, method, params, result, error }: Message): void {
    if (id === undefined) {
      const isComplaint = ['Runtime.exceptionThrown', 'Runtime.consoleAPICalled', 'Log.entryAdded'];
      if (isComplaint.includes(method ?? '')) this.complaints.push(JSON.stringify(params));
      return;
    }
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) answer?.resolve(result ?? {});
    else answer?.reject(new Error(error.message));
  }
}

async function addressIn(child: ChildProcess): Promise<string> {
  const said: string[] = [];
  if (child.stderr === null) throw new Error('Chromium has no output.');
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    const url = LISTENS.exec(line)?.[1];
    if (url === undefined) continue;
    child.stderr.resume();
    return url;
  }
  throw new Error(`Chromium ended:\n${said.join('\n')}`);
}
