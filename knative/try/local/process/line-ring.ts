// The last lines a process printed, so that its death can be explained without a log file.

const LINES_KEPT = 200;
const LINE_LENGTH_MAX = 2_000;

export class LineRing {
  readonly #lines: string[] = [];
  #partial = '';

  push(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
    for (const line of lines) {
      if (line.trim() !== '') this.#lines.push(line.slice(0, LINE_LENGTH_MAX));
    }
    if (this.#lines.length > LINES_KEPT) this.#lines.splice(0, this.#lines.length - LINES_KEPT);
  }

  last(count: number): readonly string[] {
    const all = this.#partial.trim() === '' ? this.#lines : [...this.#lines, this.#partial];
    return all.slice(-count);
  }
}
