// Helpers of a benchmark in processes of their own, so that what each costs can be told apart. A
// helper answers one question after the other; a question is a plain object, and so is an answer.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

export class Child<Question extends object, Reply> {
  readonly #process: ChildProcess;
  readonly #script: string;

  private constructor(script: string, args: readonly string[]) {
    this.#script = script;
    this.#process = fork(join(import.meta.dirname, script), [...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Numbers by the thousand pass between the two.
      serialization: 'advanced',
    });
  }

  static async start<Question extends object, Reply>(
    script: string,
    ...args: readonly string[]
  ): Promise<Child<Question, Reply>> {
    const child = new Child<Question, Reply>(script, args);
    // Its imports are loaded by now.
    await child.#answer();
    return child;
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error(`${this.#script} did not start`);
    return pid;
  }

  async ask(question: Question): Promise<Reply> {
    const answer = this.#answer();
    this.#process.send(question);
    return (await answer) as Reply;
  }

  async end(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  async #answer(): Promise<unknown> {
    const said = Promise.withResolvers<Answer>();
    const onExit = (): void => said.reject(new Error(`${this.#script} ended`));
    this.#process.once('exit', onExit).once('message', said.resolve);
    try {
      const { value, error } = await said.promise;
      if (error !== undefined) throw new Error(`${this.#script}: ${error}`);
      return value;
    } finally {
      this.#process.off('exit', onExit).off('message', said.resolve);
    }
  }
}

/** In the helper: answers what it is asked, for as long as it is there. */
export function answerWith(answer: (question: never) => Promise<unknown>): void {
  process.on('message', (question) => {
    void answer(question as never).then(
      (value) => process.send?.({ value }),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
  });
  // The parent is gone, and open connections would keep this process for ever.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.send?.({ value: 'ready' });
}
