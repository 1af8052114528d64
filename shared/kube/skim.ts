// Reads a few texts out of JSON of any size while it passes by, and keeps nothing else of it: who
// an object is that is too large to be read.

/** A token to continue a list with is the longest of them, with two names in base64. */
const TEXT_BYTES_MAX = 4_096;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

interface Level {
  readonly isObject: boolean;
  /** As `metadata.name`; the items of an array have the path of their array. */
  path: string;
  isKeyNext: boolean;
}

/**
 * The first text or number at each of these paths. JSON that is broken gives what was found until
 * then, and maybe nonsense: whoever uses it asks the API server about what it names.
 */
export class Skim {
  readonly #wanted: ReadonlySet<string>;
  readonly #depthMax: number;
  readonly found = new Map<string, string>();
  readonly #levels: Level[] = [];
  /** Levels below those that are followed. */
  #below = 0;
  #isInText = false;
  #isEscaped = false;
  #kept: number[] = [];
  #isNumber = false;

  constructor(wanted: readonly string[]) {
    this.#wanted = new Set(wanted);
    this.#depthMax = Math.max(...wanted.map((path) => path.split('.').length)) + 1;
  }

  feed(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#isInText) this.#inText(byte);
      else this.#between(byte);
    }
  }

  #inText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isInText = false;
      if (this.#below === 0) this.#takeText();
      return;
    }
    this.#keep(byte);
  }

  #between(byte: number): void {
    if (byte === QUOTE) {
      this.#isInText = true;
      this.#kept = [];
    } else if (byte === OBJECT || byte === ARRAY) this.#enter(byte === OBJECT);
    else if (byte === OBJECT_END || byte === ARRAY_END) this.#leave();
    else if (this.#below > 0) return;
    else if (byte === COMMA) this.#next();
    else if (byte === COLON) this.#kept = [];
    else if (byte > 0x20) {
      this.#isNumber = true;
      this.#keep(byte);
    }
  }

  #keep(byte: number): void {
    if (this.#below === 0 && this.#kept.length <= TEXT_BYTES_MAX) this.#kept.push(byte);
  }

  #enter(isObject: boolean): void {
    if (this.#below > 0 || this.#levels.length >= this.#depthMax) {
      this.#below += 1;
      return;
    }
    const path = this.#levels.at(-1)?.path ?? '';
    this.#levels.push({ isObject, path, isKeyNext: isObject });
    this.#kept = [];
  }

  #leave(): void {
    if (this.#below > 0) {
      this.#below -= 1;
      return;
    }
    this.#endNumber();
    this.#levels.pop();
  }

  #next(): void {
    this.#endNumber();
    const level = this.#levels.at(-1);
    if (level !== undefined) level.isKeyNext = level.isObject;
  }

  #takeText(): void {
    const level = this.#levels.at(-1);
    const text = textOf(this.#kept);
    this.#kept = [];
    if (level?.isKeyNext !== true) {
      this.#note(text);
      return;
    }
    level.isKeyNext = false;
    const parent = this.#levels.at(-2)?.path ?? '';
    // A key with a dot in it is not the two that it looks like.
    const key = text.replaceAll('.', '\u0000');
    level.path = parent === '' ? key : `${parent}.${key}`;
  }

  #endNumber(): void {
    if (this.#isNumber) this.#note(textOf(this.#kept));
    this.#isNumber = false;
    this.#kept = [];
  }

  #note(text: string): void {
    const path = this.#levels.at(-1)?.path ?? '';
    if (text.length > TEXT_BYTES_MAX || !this.#wanted.has(path) || this.found.has(path)) return;
    this.found.set(path, text);
  }
}

function textOf(bytes: readonly number[]): string {
  const raw = Buffer.from(bytes).toString('utf8');
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return '';
  }
}
