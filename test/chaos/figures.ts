// The sums over a run of many seeds.
import { MANGLINGS, type Relay } from './relay.ts';
import type { SeedResult } from './seed.ts';

export class Figures {
  readonly #without: readonly string[];
  #seeds = 0;
  #mutations = 0;
  #healed = 0;
  #longestMs = 0;
  #received = 0;
  #lost = 0;
  readonly #mangled = new Map<string, number>();
  readonly #faults = new Map<string, number>();
  readonly #wrong: SeedResult[] = [];

  /** Kinds of faults that were not to be chosen: they decide what a seed chooses. */
  constructor(without: readonly string[]) {
    this.#without = without;
  }

  get isClean(): boolean {
    return this.#wrong.length === 0;
  }

  add(result: SeedResult): void {
    this.#seeds += 1;
    this.#mutations += result.mutations;
    this.#healed += result.healed;
    this.#longestMs = Math.max(this.#longestMs, result.wholeAfterMs);
    for (const kind of result.faults) this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1);
    if (result.wrong.length > 0) this.#wrong.push(result);
  }

  line({ seed, faults, mutations, healed, wholeAfterMs, wrong }: SeedResult): string {
    const whole = `whole after ${(wholeAfterMs / 1_000).toFixed(1)} s`;
    const summary = `${mutations} changes, ${healed} healed, ${whole}; ${faults.join(', ')}`;
    if (wrong.length === 0) return `seed ${seed}: ${summary}\n`;
    return `seed ${seed}: WRONG: ${summary}\n${complaint(seed, wrong, this.#without)}\n`;
  }

  /** Adds the counts of a rig's relay. */
  addRelay({ mangled, received, lost }: Relay): void {
    this.#received += received;
    this.#lost += lost;
    for (const name of MANGLINGS) {
      this.#mangled.set(name, (this.#mangled.get(name) ?? 0) + mangled[name]);
    }
  }

  page(): string {
    const faults = [...this.#faults].toSorted(([, a], [, b]) => b - a);
    const mangled = [...this.#mangled].map(([name, count]) => `${name} ${count}`).join(', ');
    const seeds = this.#wrong.map(({ seed }) => seed);
    return `
seeds             ${this.#seeds}
changes           ${this.#mutations}
events            ${this.#received}; mangled: ${mangled}; taken by no instance: ${this.#lost}
healed by sweeps  ${this.#healed}
longest to whole  ${(this.#longestMs / 1_000).toFixed(1)} s
faults            ${faults.map(([kind, count]) => `${kind} ${count}`).join('\n                  ')}
differences       ${seeds.length}${seeds.length === 0 ? '' : `: seeds ${seeds.join(', ')}`}
`;
  }
}

const LINES_SHOWN = 12;

export function complaint(
  seed: string,
  wrong: readonly string[],
  without: readonly string[],
): string {
  const more = wrong.length > LINES_SHOWN ? [`and ${wrong.length - LINES_SHOWN} more`] : [];
  const lines = [...wrong.slice(0, LINES_SHOWN), ...more];
  const options = without.map((kind) => ` --without '${kind}'`).join('');
  return [...lines, `Again: npm run chaos:feed -- --seed ${seed}${options}`]
    .map((line) => `  ${line}`)
    .join('\n');
}
