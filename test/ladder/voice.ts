// Says what a rung prints, so that it can be read though other rungs print beside it: each line
// under the rung's name, and what failed whole, at the end.

import { stripVTControlCharacters } from 'node:util';
import type { Rung } from './rungs.ts';

/** The last output of a failing tool matters; this keeps a runaway one out of memory. */
const HELD_CHARS_MAX = 200_000;

/** With this vitest begins to tell what failed, after the last file. */
const FAILURES_BEGIN = /^⎯+ (Failed (Suites|Tests) \d+|Unhandled (Errors?|Rejections?)) ⎯+$/;

export interface Speaks {
  /** Width of the names before each line; undefined where no other rung prints. */
  readonly prefixWidth: number | undefined;
  print(text: string): void;
}

export class Voice {
  readonly #rung: Pick<Rung, 'name' | 'shows'>;
  readonly #by: Speaks;
  /** For the end. */
  #held = '';
  /** A line that has not ended yet. */
  #begun = '';
  #holds: boolean;

  constructor(rung: Pick<Rung, 'name' | 'shows'>, by: Speaks) {
    this.#rung = rung;
    this.#by = by;
    this.#holds = rung.shows === 'on failure';
  }

  take(text: string): void {
    if (this.#holds) this.#hold(text);
    else if (this.#by.prefixWidth === undefined) this.#by.print(text);
    else this.#takeLines(text);
  }

  /** Output to be shown whole. */
  end(state: 'passed' | 'failed' | 'left out'): string {
    if (this.#begun !== '') this.take('\n');
    const isShown = this.#rung.shows === 'always' || state === 'failed';
    if (!isShown) return '';
    return this.#held === '' || this.#held.endsWith('\n') ? this.#held : `${this.#held}\n`;
  }

  #takeLines(text: string): void {
    const lines = (this.#begun + text).split('\n');
    this.#begun = lines.pop() ?? '';
    const first = lines.findIndex((line) =>
      FAILURES_BEGIN.test(stripVTControlCharacters(line).trim()),
    );
    const shown = first === -1 ? lines : lines.slice(0, first);
    const name = this.#rung.name.padEnd(this.#by.prefixWidth ?? 0);
    const full = shown.filter((line) => stripVTControlCharacters(line).trim() !== '');
    if (full.length > 0) this.#by.print(full.map((line) => `${name} | ${line}\n`).join(''));
    if (first === -1) return;
    this.#holds = true;
    this.#hold([...lines.slice(first), this.#begun].join('\n'));
    this.#begun = '';
  }

  #hold(text: string): void {
    this.#held = (this.#held + text).slice(-HELD_CHARS_MAX);
  }
}
