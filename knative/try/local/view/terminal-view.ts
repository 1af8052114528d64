// The live view on a terminal: what is said scrolls up as usual, and the newest snapshot is
// repainted below it.
import type { PartChange } from '../process/part.ts';
import { frame } from './frame.ts';
import type { Snapshot } from './snapshot.ts';
import { type LiveView, describeDeath, describeWait } from './view.ts';

export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

const DEFAULT_SIZE = { columns: 80, rows: 24 };
const CLEAR_SCREEN = '\u001B[2J\u001B[H';
/** From the cursor to the end of the screen. */
const CLEAR_BELOW = '\u001B[J';

const up = (lines: number): string => (lines === 0 ? '\r' : `\r\u001B[${lines}A`);

export class TerminalView implements LiveView {
  readonly #terminal: Terminal;
  #paintedLines = 0;
  #snapshot: Snapshot | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    terminal.on('resize', this.#onResize);
  }

  print(text: string): void {
    this.#terminal.write(`${up(this.#paintedLines)}${CLEAR_BELOW}${text}\n`);
    this.#paintedLines = 0;
    this.#paint();
  }

  partChanged(change: PartChange): void {
    const wait = describeWait(change);
    if (wait !== undefined) this.print(wait);
    if (change.state === 'dead') this.print(describeDeath(change));
  }

  show(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.#paint();
  }

  close(): void {
    this.#terminal.off('resize', this.#onResize);
    // Later text stands below the last frame, which stays.
    this.#snapshot = undefined;
    this.#paintedLines = 0;
  }

  /** Lines that were wrapped anew cannot be counted: start from an empty screen. */
  readonly #onResize = (): void => {
    this.#terminal.write(CLEAR_SCREEN);
    this.#paintedLines = 0;
    this.#paint();
  };

  #paint(): void {
    if (this.#snapshot === undefined) return;
    const { columns = DEFAULT_SIZE.columns, rows = DEFAULT_SIZE.rows } = this.#terminal;
    // One row less: the line end of the last row would scroll.
    const lines = frame(this.#snapshot, { columns, rows: rows - 1 });
    const painted = lines.map((line) => `${line}\n`).join('');
    this.#terminal.write(`${up(this.#paintedLines)}${CLEAR_BELOW}${painted}`);
    this.#paintedLines = lines.length;
  }
}
