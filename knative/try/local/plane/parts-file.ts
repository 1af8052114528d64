// `parts.json` in a plane's directory: which parts run under which pid, so that another command can
// find them by name.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part, PartState } from '../process/part.ts';

export interface PartRow {
  readonly name: string;
  readonly state: PartState;
  readonly url: string;
  readonly urls?: Readonly<Record<string, string>> | undefined;
  readonly pid: number | undefined;
}

const FILE = 'parts.json';

export class PartsFile {
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(dir: string) {
    this.#path = join(dir, FILE);
  }

  /** Writes one after the other and whole, so that a reader never meets half a file. */
  write(parts: readonly Part[]): void {
    const rows: readonly PartRow[] = parts.map(({ name, state, url, urls, pid }) => ({
      name,
      state,
      url,
      urls,
      pid,
    }));
    this.#writing = this.#writing.then(() => this.#writeWhole(rows));
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeWhole(rows: readonly PartRow[]): Promise<void> {
    try {
      // Logins are among what it says.
      await writeFile(`${this.#path}.new`, JSON.stringify(rows), { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
    } catch {
      // The file only helps to find parts by name. A full disk is told by the first part that dies
      // of it.
    }
  }
}

export async function readPartsFile(dir: string): Promise<readonly PartRow[]> {
  return JSON.parse(await readFile(join(dir, FILE), 'utf8'));
}
