// Remembers with which inputs rungs and test files passed on this machine, for
// `npm test -- --changed`.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Inputs, InputsReader } from './inputs.ts';
import type { testFiles } from './test-files.ts';
import type { Rung } from './rungs.ts';

/** Enough to go between branches. */
const KEPT_MAX = 10;

const ROOT = resolve(import.meta.dirname, '../..');
const PLACE = join('node_modules', '.cache', 'ballast', 'passed.json');

type TestFilesOf = typeof testFiles;
type Remembered = Readonly<Record<string, readonly string[]>>;

export class Passed {
  readonly #path: string;
  readonly #reader: InputsReader;

  /** `filesOf` for a repository that is not this one. */
  constructor(root = ROOT, filesOf?: TestFilesOf) {
    this.#path = join(root, PLACE);
    this.#reader = new InputsReader(root, filesOf);
  }

  async inputs(rung: Rung): Promise<Inputs> {
    return this.#reader.of(rung);
  }

  /** Names the files, or the rung, that passed with the same inputs. */
  unchanged(inputs: Inputs): readonly string[] {
    const all = this.#read();
    return [...inputs].flatMap(([name, hash]) =>
      all[name]?.includes(hash) === true ? [name] : [],
    );
  }

  /** After a failure these inputs count no more, also when it passed with them before. */
  async note(rung: Rung, ran: Inputs, passed: ReadonlySet<string>): Promise<void> {
    if (ran.size === 0) return;
    // A file that is edited meanwhile makes the result count for neither state.
    const now = await this.inputs(rung);
    const all = this.#read();
    const next = [...ran].map(([name, hash]) => {
      const others = (all[name] ?? []).filter((one) => one !== hash);
      const isSure = passed.has(name) && now.get(name) === hash;
      return [name, isSure ? [...others, hash].slice(-KEPT_MAX) : others] as const;
    });
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify({ ...all, ...Object.fromEntries(next) }));
  }

  /** Nothing is remembered when it cannot be read. */
  #read(): Remembered {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as Remembered;
    } catch {
      return {};
    }
  }
}
