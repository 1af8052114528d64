// Compares a replica with the API server while both go on changing: an object agrees as soon as it
// was seen equal on both sides once, and what never was by the end of the time is a difference.
import type { Replica } from '../../../../shared/nats/replica/replica.ts';
import { type Picture, visible } from './expected.ts';

export interface Verdict {
  readonly objects: number;
  readonly version: number;
  /** A line for each object that differs. */
  readonly differences: readonly string[];
}

export interface VerifyOptions {
  readonly expected: (signal: AbortSignal) => Promise<Picture>;
  readonly withinMs: number;
  readonly pause: () => Promise<unknown>;
  /** Told how many still differ whenever that changes. */
  readonly progress: (different: number) => void;
}

export async function verify(
  replica: Replica,
  { expected, withinMs, pause, progress }: VerifyOptions,
  signal: AbortSignal,
): Promise<Verdict> {
  const endsMs = performance.now() + withinMs;
  const bound = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  await replica.whenCurrent({ signal: bound });
  let ought = await expected(signal);
  let open = differing(held(replica), ought);
  let told = -1;
  while (open.length > 0 && performance.now() < endsMs) {
    if (told !== open.length) progress(open.length);
    told = open.length;
    await pause();
    ought = await expected(signal);
    const again = new Set(differing(held(replica), ought));
    open = open.filter((subject) => again.has(subject));
  }
  const is = held(replica);
  return {
    objects: ought.size,
    version: replica.state.version,
    differences: open.map((subject) => describe(subject, is.get(subject), ought.get(subject))),
  };
}

function held(replica: Replica): Picture {
  const entries = [...replica.catalog.entries()];
  return new Map(entries.map(({ subject, object }) => [subject, visible(object)]));
}

function differing(is: Picture, ought: Picture): readonly string[] {
  const subjects = [...new Set([...is.keys(), ...ought.keys()])];
  return subjects.filter((subject) => is.get(subject) !== ought.get(subject)).toSorted();
}

function describe(subject: string, is: string | undefined, ought: string | undefined): string {
  if (is === undefined) return `${subject}: the API server has it, the replica lacks it`;
  if (ought === undefined) return `${subject}: the replica has it, the API server does not`;
  return `${subject}: the replica has ${is}, the API server ${ought}`;
}
