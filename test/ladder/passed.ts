// Remembers with which inputs rungs passed on this machine, for `npm test -- --changed`.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { inputsOf } from './inputs.ts';
import type { Rung } from './rungs.ts';

/** Enough to go between branches. */
const KEPT_MAX = 20;

const ROOT = resolve(import.meta.dirname, '../..');
const PLACE = join('node_modules', '.cache', 'ballast', 'passed.json');

type Remembered = Readonly<Record<string, readonly string[]>>;

export class Passed {
  readonly #root: string;
  readonly #path: string;

  constructor(root = ROOT) {
    this.#root = root;
    this.#path = join(root, PLACE);
  }

  /** Undefined for a rung that is always climbed. */
  async inputs(rung: Rung): Promise<string | undefined> {
    return inputsOf(rung, this.#root);
  }

  has(rung: Rung, inputs: string | undefined): boolean {
    return inputs !== undefined && (this.#read()[rung.name] ?? []).includes(inputs);
  }

  /** A rung that failed is forgotten, also when it passed with the same inputs before. */
  async note(rung: Rung, inputs: string | undefined, hasPassed: boolean): Promise<void> {
    if (inputs === undefined) return;
    // A file that is edited meanwhile makes the result count for neither state.
    const isSure = hasPassed && (await this.inputs(rung)) === inputs;
    const all = this.#read();
    const others = (all[rung.name] ?? []).filter((one) => one !== inputs);
    const kept = isSure ? [...others, inputs].slice(-KEPT_MAX) : others;
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify({ ...all, [rung.name]: kept }));
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
