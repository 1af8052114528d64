// Reads one YAML object field by field and knows which fields nobody has read: what the embedded
// control plane does not carry is refused by file and field, and never ignored.

export interface Document {
  /** Relative to the root that was asked for. */
  readonly file: string;
  readonly value: unknown;
}

export class ManifestError extends Error {
  readonly file: string;
  readonly field: string;

  constructor(file: string, field: string, problem: string, options?: ErrorOptions) {
    super(`${file}: ${field} ${problem}`, options);
    this.name = 'ManifestError';
    this.file = file;
    this.field = field;
  }
}

export class Fields {
  readonly file: string;
  readonly #path: string;
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();

  constructor(file: string, path: string, value: unknown) {
    this.file = file;
    this.#path = path;
    if (!isObject(value)) {
      throw new ManifestError(file, path === '' ? 'the document' : path, 'must be an object');
    }
    this.#object = value;
  }

  has(name: string): boolean {
    return this.#object[name] !== undefined && this.#object[name] !== null;
  }

  names(): readonly string[] {
    return Object.keys(this.#object);
  }

  text(name: string): string {
    const value = this.#take(name);
    if (typeof value === 'string' && value !== '') return value;
    throw this.error(name, 'must be a text that is not empty');
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  /** Like `text`, where the empty text is a value of its own. */
  anyText(name: string): string {
    const value = this.#take(name);
    if (typeof value === 'string') return value;
    throw this.error(name, 'must be a text');
  }

  oneOf<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const value = this.#take(name);
    const choice = choices.find((candidate) => candidate === value);
    if (choice !== undefined) return choice;
    throw this.error(name, `must be one of: ${choices.join(', ')}`);
  }

  wholeNumber(name: string): number {
    const value = this.#take(name);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw this.error(name, 'must be a whole number that is not negative');
  }

  object(name: string): Fields {
    return new Fields(this.file, this.#pathOf(name), this.#take(name));
  }

  optionalObject(name: string): Fields | undefined {
    return this.has(name) ? this.object(name) : undefined;
  }

  /** An absent list is an empty one, as in the API. */
  objects(name: string): readonly Fields[] {
    return this.#list(name).map(
      (value, index) => new Fields(this.file, `${this.#pathOf(name)}[${index}]`, value),
    );
  }

  texts(name: string): readonly string[] {
    return this.#list(name).map((value, index) => {
      if (typeof value === 'string') return value;
      throw this.error(`${name}[${index}]`, 'must be a text');
    });
  }

  textMap(name: string): Readonly<Record<string, string>> {
    const fields = this.optionalObject(name);
    if (fields === undefined) return {};
    return Object.fromEntries(fields.names().map((key) => [key, fields.anyText(key)]));
  }

  /** Everything, read or not, as it stands in the file. */
  all(): Readonly<Record<string, unknown>> {
    return this.#object;
  }

  /** For what matters in a cluster and means nothing to a local process. */
  accept(...names: readonly string[]): this {
    for (const name of names) this.#read.add(name);
    return this;
  }

  /** Call it when all that is understood has been read. */
  end(): void {
    const unread = this.names().find((name) => this.has(name) && !this.#read.has(name));
    if (unread !== undefined) {
      throw this.error(
        unread,
        'is not carried by the embedded control plane; remove it, or teach it',
      );
    }
  }

  error(name: string, problem: string, cause?: unknown): ManifestError {
    const options = cause === undefined ? undefined : { cause };
    return new ManifestError(this.file, this.#pathOf(name), problem, options);
  }

  #list(name: string): readonly unknown[] {
    if (!this.has(name)) return [];
    const value = this.#take(name);
    if (Array.isArray(value)) return value;
    throw this.error(name, 'must be a list');
  }

  #take(name: string): unknown {
    this.#read.add(name);
    if (!this.has(name)) throw this.error(name, 'is missing');
    return this.#object[name];
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
