// As of when objects of each resource were last found to be gone. The end of an object of which
// nothing stood in the stream leaves nothing there: a tombstone for every name that somebody makes
// up would be a flood. So nothing in the stream would keep out an answer from before that end,
// which an API server that is behind the others may still give.
import { compareVersions } from './decide.ts';

export class Absences {
  #epoch = 0;
  /** By resource. */
  readonly #asOf = new Map<string, string>();

  /** Undefined when none was found in this epoch: versions of another one compare with nothing. */
  latest(epoch: number, resource: string): string | undefined {
    return epoch === this.#epoch ? this.#asOf.get(resource) : undefined;
  }

  note(epoch: number, resource: string, asOf: string): void {
    if (epoch !== this.#epoch) this.#asOf.clear();
    this.#epoch = epoch;
    const known = this.#asOf.get(resource);
    if (known === undefined || compareVersions(asOf, known) > 0) this.#asOf.set(resource, asOf);
  }
}
