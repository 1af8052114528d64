// Errors about a damaged snapshot, with the byte: nothing is counted from a file that contradicts
// itself.
import { Failure } from '../../errors.ts';

/** The reader puts the name of the file before it. */
export class Damage extends Error {
  readonly offset: number;

  constructor(offset: number, problem: string) {
    super(problem);
    this.name = 'Damage';
    this.offset = offset;
  }
}

export function failureOf(thrown: unknown, name: string): unknown {
  if (!(thrown instanceof Damage)) return thrown;
  const message =
    `${name} is no whole database of etcd (at byte ${thrown.offset}: ${thrown.message}). ` +
    'Nothing was counted; take a new snapshot.';
  return new Failure('SNAPSHOT_DAMAGED', message, { object: name, cause: thrown });
}
