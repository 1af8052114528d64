// Sums up how the objects of one CRD fared against its new schema, counted whole and named in
// part: memory does not grow with the objects.
import { cut } from '../../../shared/cut.ts';
import { FirstNames } from '../../../shared/stored/first-names.ts';
import type { Named } from '../../../shared/stored/tally.ts';
import { are, such } from '../../../shared/stored/verdict.ts';
import type { Reason } from './reason.ts';
import { migration } from './remedies.ts';

/** Different fields that are told; one more hides among the others. */
const FIELDS_MAX = 50;
/** For one field, and for one object with what was said of it. */
const SHOWN_BYTES_MAX = 600;

export class Held {
  checked = 0;
  readonly #examplesMax: number;
  readonly #refused: Counted;
  readonly #already: Counted;
  readonly #unconverted: Counted;
  readonly #unread: Counted;
  readonly #fields = new Map<string, Counted>();
  #moreFields = 0;

  constructor(examplesMax: number) {
    this.#examplesMax = examplesMax;
    this.#refused = new Counted(examplesMax);
    this.#already = new Counted(examplesMax);
    this.#unconverted = new Counted(examplesMax);
    this.#unread = new Counted(examplesMax);
  }

  /** The new schema refuses it, in the API server's words. */
  refused(name: string, sentence: string): void {
    this.#refused.add(`${name}: ${sentence}`);
  }

  /** So does the existing one. */
  refusedAlready(name: string): void {
    this.#already.add(name);
  }

  lost(name: string, fields: readonly string[]): void {
    for (const field of fields) {
      const shown = cut(field, SHOWN_BYTES_MAX);
      const known = this.#fields.get(shown);
      if (known === undefined && this.#fields.size >= FIELDS_MAX) {
        this.#moreFields += 1;
        continue;
      }
      const counted = known ?? new Counted(this.#examplesMax);
      this.#fields.set(shown, counted);
      counted.add(name);
    }
  }

  /** Only the webhook could tell what becomes of it. */
  unconverted(name: string): void {
    this.#unconverted.add(name);
  }

  unread(name: string, why: string): void {
    this.#unread.add(`${name}: ${why}`);
  }

  reasons(crdName: string, target: string): readonly Reason[] {
    return [
      ...this.#refusals(),
      ...this.#prunings(),
      ...this.#conversions(crdName, target),
      ...this.#rest(),
    ];
  }

  #refusals(): readonly Reason[] {
    const objects = this.#refused.named();
    if (objects.count === 0) return [];
    const says =
      `The new schema refuses ${objects.count} of ${this.checked} objects that exist now. They ` +
      'can still be read and deleted; whoever writes what is refused, or creates them again, ' +
      'is refused.';
    return [{ what: 'objects-refused', weight: 'unsafe-objects', says, commands: [], objects }];
  }

  #prunings(): readonly Reason[] {
    const fields = [...this.#fields].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const reasons = fields.map(([field, counted]): Reason => {
      const objects = counted.named();
      const of = objects.count === 1 ? '1 object that has it' : `${objects.count} that have it`;
      const unknown = `The new schema does not know ${field}`;
      const says = `${unknown}: it is dropped from ${of}${such(objects)}.`;
      const what = 'fields-pruned';
      return { what, weight: 'unsafe-objects', says, commands: [], objects, field };
    });
    if (this.#moreFields === 0) return reasons;
    const says = `Further fields would be dropped, ${this.#moreFields} times; they are not named.`;
    return [...reasons, { what: 'fields-pruned', weight: 'unsafe-objects', says, commands: [] }];
  }

  #conversions(crdName: string, target: string): readonly Reason[] {
    const objects = this.#unconverted.named();
    if (objects.count === 0) return [];
    const says =
      `${are(objects)} stored in another version than ${target}${such(objects)}: what the ` +
      `webhook makes of them was not held against ${target}. Migrate first, or ask with --kube, ` +
      'where the existing webhook converts.';
    const commands = migration(crdName);
    return [{ what: 'not-checked', weight: 'unknown', says, commands, objects }];
  }

  #rest(): readonly Reason[] {
    const reasons: Reason[] = [];
    const already = this.#already.named();
    if (already.count > 0) {
      const says =
        `${already.count} objects are refused by the existing schema as they are, for the same ` +
        `reasons${such(already)}: the upgrade changes nothing about them.`;
      const note = { what: 'refused-already', weight: 'note' } as const;
      reasons.push({ ...note, says, commands: [], objects: already });
    }
    const objects = this.#unread.named();
    if (objects.count > 0) {
      const says = `${are(objects)} not held against the new schema${such(objects)}.`;
      reasons.push({ what: 'not-checked', weight: 'unknown', says, commands: [], objects });
    }
    return reasons;
  }
}

class Counted {
  readonly #names: FirstNames;
  #count = 0;

  constructor(max: number) {
    this.#names = new FirstNames(max);
  }

  add(name: string): void {
    this.#count += 1;
    this.#names.add(cut(name, SHOWN_BYTES_MAX));
  }

  named(): Named {
    return { count: this.#count, examples: this.#names.list() };
  }
}
