// The first few of many names in the order of their bytes, whatever the order in which they come:
// two sources of the same values name the same examples.

export class FirstNames {
  readonly #max: number;
  readonly #names: string[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(name: string): void {
    const names = this.#names;
    const last = names[this.#max - 1];
    if (this.#max === 0 || (last !== undefined && name >= last)) return;
    let at = names.length;
    while (at > 0 && name < (names[at - 1] ?? '')) at -= 1;
    names.splice(at, 0, name);
    if (names.length > this.#max) names.pop();
  }

  list(): readonly string[] {
    return [...this.#names];
  }
}
